# executor mpi: ranks of an MPI job on this machine. The same bits as local workers, whatever is killed.
# shellcheck shell=bash
# shellcheck source=tests/cli/harness.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
# shellcheck source=tests/cli/recipes.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"

make_table
regression_recipe >networks.ini
function_recipe function 0.05 60 | sed 's/^\[run\]/[run]\nwindow = 12\nretries = 5/' >function.ini

# Without mpirun it says how it is started, and nothing is written.
env -u OMPI_COMM_WORLD_SIZE -u PMIX_RANK -u PMI_RANK -u PMI_SIZE \
  "$TUTTI_PROGRAM" run function.ini --out alone --set executor.plugin=mpi >out 2>err </dev/null
code=$?
what='executor mpi without mpirun'
checks=$((checks + 1))
[ $code -ne 0 ] || complain 'expected an error'
expect_err 'this process was not started by MPI' 'mpirun -n RANKS'
expect_absent alone

if ! mpirun --version 2>/dev/null | grep -q 'Open MPI' || [ ! -e "$TUTTI_TEST_BUILDDIR/modules/mpilink.so" ]; then
  echo "no Open MPI here, or Tutti was built without it"
  [ $failures -eq 0 ] && exit 77
  finish
fi
# Nothing of a job that this test may be part of.
while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(OMPI|PMIX|PMI|SLURM)_')
ranks() { # RANKS ARGUMENTS...
  local count=$1
  shift
  what="mpirun -n $count tutti $*"
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -n "$count" --oversubscribe --bind-to none \
    "$TUTTI_PROGRAM" "$@" --set executor.plugin=mpi --set executor.workers_per_rank=2 >out 2>err </dev/null
  code=$?
}
same() { # A B
  checks=$((checks + 1))
  diff -r -x catalogue.sqlite -x recipe.ini -x lock -x worker.log "$1" "$2" >>err 2>&1 || complain "expected that $2 is as $1"
}

tutti run networks.ini --out one --workers 1 --quiet
expect_code 0
tutti run networks.ini --out three --workers 3 --quiet
expect_code 0
same one three
ranks 4 run networks.ini --out four --quiet
expect_code 0
expect_out 'Everything is in four'
checks=$((checks + 1))
[ "$(grep -c 'Everything is in' out)" -eq 1 ] || complain 'expected that the manager alone prints the result'
same one four
ranks 1 run networks.ini --out lonely
checks=$((checks + 1))
[ $code -ne 0 ] || complain 'expected an error'
expect_err 'expected two ranks at least'
expect_absent lonely

# What breaks a worker's data breaks no rank: the message says where, and why.
mv table.csv away.csv
ranks 3 run networks.ini --out nodata --quiet
checks=$((checks + 1))
[ $code -ne 0 ] || complain 'expected an error'
expect_err 'table.csv'
mv away.csv table.csv

tutti run function.ini --out plain --workers 3 --quiet
expect_code 0

# pid_of RANK DIRECTORY: the process of a rank; worker_of DIRECTORY: one of the workers.
pid_of() {
  local pid
  for pid in $(pgrep -f " run function.ini --out $2 "); do
    tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$1" && echo "$pid"
  done | head -n 1
}
worker_of() { pgrep -f " worker $1\$" | head -n 1; }
# strike WHAT DIRECTORY: begin a run, and kill a part of it when some trials are done.
strike() {
  local victim='' done=0 tries=0
  ranks 3 run function.ini --out "$2" --quiet &
  local job=$!
  while [ "${done:-0}" -lt 8 ] && [ $((tries += 1)) -lt 300 ]; do
    sleep 0.1
    "$TUTTI_PROGRAM" status "$2" --json >status 2>/dev/null </dev/null
    done=$("$json_value" status trials done 2>/dev/null)
  done
  case $1 in
    worker) victim=$(worker_of "$2") ;;
    agent) victim=$(pid_of 2 "$2") ;;
    manager) victim=$(pid_of 0 "$2") ;;
  esac
  what="kill the $1"
  checks=$((checks + 1))
  if [ -n "$victim" ]; then kill -KILL "$victim"; else complain "expected to find the $1"; fi
  wait $job
}

strike worker w
same plain/summary.json w/summary.json
strike agent a
expect_absent a/summary.json
ranks 2 run function.ini --out a --resume --quiet
expect_code 0
same plain/summary.json a/summary.json
strike manager m
expect_absent m/summary.json
tutti run function.ini --out m --resume --quiet --workers 2
expect_code 0
same plain/summary.json m/summary.json
checks=$((checks + 1))
for name in w a m; do
  ! pgrep -f " worker $name\$" >/dev/null || complain "expected that no worker of $name is left"
done
finish
