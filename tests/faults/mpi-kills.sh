# Kills at random of a worker, an agent or the manager of runs of executor mpi, with shared files and without in turn; then
# --resume, by another number of ranks: the result has the bits of an undisturbed run, and no agent's folder is left.
#
#   mpi-kills.sh [KILLS] [SEED]
# shellcheck shell=bash
# shellcheck source=tests/cli/harness.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
# shellcheck source=tests/cli/recipes.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
kills=${1:-12}
RANDOM=${2:-1}
if ! mpirun --version 2>/dev/null | grep -q 'Open MPI' || [ ! -e "$TUTTI_TEST_BUILDDIR/modules/mpilink.so" ]; then
  echo "no Open MPI here, or Tutti was built without it"
  exit 77
fi
while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(OMPI|PMIX|PMI|SLURM)_')
make_table
regression_recipe | sed 's/^budget = .*/budget = 24\nretries = 1000/' >small.ini
cp "$TUTTI_TEST_SRCDIR"/tests/faults/methods/{random,nes-rs,agebo}.ini .
recipes=(small random nes-rs agebo)
mkdir scratch
for recipe in "${recipes[@]}"; do
  tutti run "$recipe.ini" --out "whole-$recipe" --workers 2 --quiet
  expect_code 0
done

begin() { # RECIPE DIRECTORY SHARED: the job is $job
  local count=$((2 + RANDOM % 3)) resume=''
  [ ! -e "$2/catalogue.sqlite" ] || resume=--resume
  what="mpirun -n $count tutti run $1.ini --out $2 $resume --set executor.shared=$3"
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -n $count --oversubscribe --bind-to none \
    "$TUTTI_PROGRAM" run "$1.ini" --out "$2" $resume --quiet --set executor.plugin=mpi \
    --set executor.workers_per_rank=2 --set executor.shared="$3" --set executor.scratch="$PWD/scratch" \
    >out 2>err </dev/null &
  job=$!
}
# Wait for the job. mpirun 4.1 was once seen to hang after its ranks had ended.
settle() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    kill -0 "$job" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$job" 2>/dev/null
  wait "$job"
  code=$?
}
# victim WHAT: the process of one of them, of the job.
victim() {
  local ranks rank others=()
  mapfile -t ranks < <(pgrep -P "$job" -f ' run ')
  for rank in "${ranks[@]}"; do
    if { tr '\0' '\n' <"/proc/$rank/environ"; } 2>/dev/null | grep -qx 'OMPI_COMM_WORLD_RANK=0'; then
      [ "$1" != manager ] || echo "$rank"
    elif [ "$1" = agent ]; then
      others+=("$rank")
    elif [ "$1" = worker ]; then
      mapfile -t -O ${#others[@]} others < <(pgrep -P "$rank" -f ' worker ')
    fi
  done
  [ ${#others[@]} -eq 0 ] || echo "${others[RANDOM % ${#others[@]}]}"
}

# The new ensemble gets its name after summary.json is written: a run that was killed between the two is not whole.
is_whole() { [ -e run/summary.json ] && [ ! -e run/ensemble.json.new ]; }

declare -A struck=([worker]=0 [agent]=0 [manager]=0)
shared=yes
for ((killed = 0, round = 0; killed < kills && failures == 0; round++)); do
  recipe=${recipes[round % ${#recipes[@]}]}
  rm -rf run
  for ((blow = 0; blow < 4 && killed < kills; blow++)); do
    begin "$recipe" run $shared
    sleep "$((RANDOM % 2)).$((RANDOM % 9 + 1))"
    kinds=(worker agent manager)
    kind=${kinds[RANDOM % 3]}
    pid=$(victim "$kind")
    if [ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null; then
      struck[$kind]=$((struck[$kind] + 1))
      killed=$((killed + 1))
    fi
    settle
    ! is_whole || break
  done
  if ! is_whole; then
    begin "$recipe" run $shared
    settle
    expect_code 0
  fi
  checks=$((checks + 1))
  diff -r -x 'catalogue.sqlite*' -x recipe.ini -x lock -x worker.log -x live.json "whole-$recipe" run >>err 2>&1 ||
    complain "expected the bits of the undisturbed run, after kill $killed"
  [ $shared = yes ] && shared=no || shared=yes
done
begin small last no
wait $job
code=$?
expect_code 0
checks=$((checks + 1))
[ -z "$(ls scratch)" ] || complain "expected no folder of an agent, found $(ls scratch)"
echo "$killed kills of ${struck[worker]} workers, ${struck[agent]} agents and ${struck[manager]} managers in $round runs"
finish
