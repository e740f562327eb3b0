# executor mpi: ranks of an MPI job on this machine. The same bits as local workers, whatever is killed.
# shellcheck shell=bash
# shellcheck source=tests/cli/harness.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
# shellcheck source=tests/cli/recipes.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"

make_table
regression_recipe >networks.ini
function_recipe function 0.2 60 | sed 's/^\[run\]/[run]\nwindow = 12\nretries = 5/' >function.ini

# Without mpirun it says how it is started, and nothing is written.
env -u OMPI_COMM_WORLD_SIZE -u PMIX_RANK -u PMI_RANK -u PMI_SIZE \
  "$TUTTI_PROGRAM" run function.ini --out alone --set executor.plugin=mpi >out 2>err </dev/null
code=$?
what='executor mpi without mpirun'
expect_error
expect_err 'this process was not started by MPI' 'mpirun -n RANKS'
expect_absent alone

# Nor does it begin where MPI cannot be loaded: the module that links with it is not there, say.
mkdir bare
ln -s "$TUTTI_TEST_BUILDDIR/modules/executor-mpi.so" bare/
OMPI_COMM_WORLD_SIZE=2 TUTTI_PLUGIN_PATH=$PWD/bare:$TUTTI_PLUGIN_PATH \
  "$TUTTI_PROGRAM" run function.ini --out alone --set executor.plugin=mpi >out 2>err </dev/null
code=$?
what='executor mpi without MPI'
expect_error
expect_err 'it needs MPI, and that cannot be loaded' 'mpilink.so' 'install Open MPI' 'executor.plugin = local'
expect_absent alone

# The launcher of the MPI that Tutti was built with, and the variable that tells a process its rank.
link=$TUTTI_TEST_BUILDDIR/modules/mpilink.so
if [ -e "$link" ] && ldd "$link" | grep -q libmpich; then
  mpi='MPICH' version='HYDRA' rank_variable=PMI_RANK launchers='mpirun.mpich mpirun' launch='-bind-to none'
else
  mpi='Open MPI v' version='Open MPI' rank_variable=OMPI_COMM_WORLD_RANK launchers='mpirun.openmpi mpirun' launch='--oversubscribe --bind-to none'
fi
launcher=''
for name in $launchers; do
  [ -n "$launcher" ] || ! "$name" --version 2>/dev/null | grep -q "$version" || launcher=$name
done
if [ -z "$launcher" ] || [ ! -e "$link" ]; then
  echo "no mpirun here, or Tutti was built without MPI"
  [ $failures -eq 0 ] && exit 77
  finish
fi
# Nothing of a job that this test may be part of.
while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(OMPI|PMIX|PMI|SLURM)_')
ranks() { # RANKS ARGUMENTS...
  local count=$1
  shift
  what="mpirun -n $count tutti $*"
  # shellcheck disable=SC2086 # several options
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$launcher" -n "$count" $launch \
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
# The ranks say how many workers there are, whatever is asked for, and that is what the window is measured by.
ranks 3 run networks.ini --out asked --quiet --set run.window=3 --workers 7
expect_code 0
expect_err 'run.window = 3 trials may be outstanding at once, so 1 of the 4 that 4 workers can train' \
  '7 workers are asked for, and executor mpi has 4'
rm -rf asked
checks=$((checks + 1))
[ "$(grep -c 'Everything is in' out)" -eq 1 ] || complain 'expected that the manager alone prints the result'
same one four

# Warm starts: the weights of parents are found where files are shared, and sent where they are not.
sed 's/^plugin = nes-rs/plugin = ea\nwarm_start = yes\ninitial = 4/; s/^budget = .*/budget = 14/; s/^plugin = mlp/plugin = dense-skip\nnodes = 2/' networks.ini >warm.ini
tutti run warm.ini --out warm --workers 2 --quiet
expect_code 0
checks=$((checks + 1))
[ "$("$TUTTI_TEST_BUILDDIR/tests/cli/sql" warm/catalogue.sqlite "SELECT count(*) FROM trials WHERE report LIKE '%layers-from-parent%'")" -gt 4 ] ||
  complain 'expected layers that came from parents'
ranks 3 run warm.ini --out warm-shared --quiet --set executor.shared=yes
expect_code 0
same warm warm-shared
ranks 3 run warm.ini --out warm-apart --quiet --set executor.shared=no --set executor.scratch="$PWD"
expect_code 0
same warm warm-apart
checks=$((checks + 1))
[ -z "$(find warm-apart warm-shared -name 'initial.*')" ] || complain 'expected that weights which were sent stay nowhere'

# Trainings of agents stop with their epoch when the time is over.
ranks 2 run networks.ini --out stopped --verbose --set hyperparameters.epochs=1000000 --set run.budget=0 --set hyperparameters.batch_size=1 \
  --set run.time=8 --set run.unfinished=stop --set executor.shared=no --set executor.scratch="$PWD"
expect_code 0
expect_err 'told to stop with their epoch: '
expect_out ' done, 0 failed, ' ' pruned' 'Ensemble of'

# Without shared files: folders of the agents' own, which are gone at the end, and the same bits. One that an agent has
# left behind is removed, and one in use stays.
host=$(uname -n)
mkdir -p "scratch/tutti-agent-$host-stale1/trials" "scratch/tutti-agent-$host-busy12"
touch "scratch/tutti-agent-$host-stale1/lock" "scratch/tutti-agent-$host-busy12/lock"
exec 9>"scratch/tutti-agent-$host-busy12/lock"
flock -n 9
ranks 4 run networks.ini --out apart --quiet --set executor.shared=no --set executor.scratch="$PWD/scratch"
expect_code 0
same one apart
checks=$((checks + 2))
[ "$(ls scratch)" = "tutti-agent-$host-busy12" ] || complain "expected no folder of an agent, found $(ls scratch)"
[ -z "$(find apart -name '*.tmp')" ] || complain 'expected that all files have their names'
exec 9>&-
rm -r scratch/*
# An agent that does not see the directory finds out by itself; here each sees it.
ranks 3 run networks.ini --out seen --verbose --set executor.shared=yes
expect_code 0
same one seen
expect_not_in err 'a folder of its own'
checks=$((checks + 1))
[ -z "$(find seen -name '.shared*')" ] || complain 'expected that the file which agents looked for is gone'
ranks 3 run networks.ini --out nowhere --quiet --set executor.shared=no --set executor.scratch=/does/not/exist
expect_error
expect_err 'rank ' '/does/not/exist/tutti-agent-' 'executor.scratch chooses the folder'

# A file that comes torn costs one more training, or the trial if it may not be tried again; in data that are sent, it
# ends the run. A disk that is full ends it, on either side, and what was recorded goes on. `spoil RANK ENVIRONMENT...`:
# for one rank alone, set in the environment of the next ranks.
spoil() {
  local rank=$1
  shift
  printf '#!/bin/bash\n[ "$%s" != %s ] || export %s\nexec "%s" "$@"\n' \
    "$rank_variable" "$rank" "$*" "$TUTTI_PROGRAM" >spoiled
  chmod +x spoiled
}
spoiled_ranks() { # RANKS ARGUMENTS...
  local whole=$TUTTI_PROGRAM
  TUTTI_PROGRAM=$PWD/spoiled
  ranks "$@" --set executor.shared=no --set executor.scratch="$PWD/scratch"
  TUTTI_PROGRAM=$whole
}
piece=$(awk '/WIRE_HELLO = 1/ { n = 1 } n && /WIRE_[A-Z]+/ { if ($1 ~ /^WIRE_PIECE/) { print n; exit } n++ }' \
  "$TUTTI_TEST_SRCDIR/plugins/executor/mpi/wire.h")
tear="LD_PRELOAD=$TUTTI_TEST_BUILDDIR/tests/faults/.libs/torn_message.so TUTTI_TEAR_TAG=$piece"
spoil 1 "$tear" TUTTI_TEAR=3
spoiled_ranks 2 run networks.ini --out again
expect_code 0
expect_err 'came torn' 'it is tried again'
same one again
spoiled_ranks 2 run networks.ini --out failed --set run.retries=0
expect_code 0
expect_out '1 failed' 'its files did not come whole from rank 1 on '
spoil 0 "$tear" TUTTI_TEAR=1
spoiled_ranks 2 run networks.ini --out tornata --quiet
expect_error
expect_err 'rank 1 on ' 'came torn'
# A node that stores its data slowly is not one that is gone, as long as they come.
poor="LD_PRELOAD=$TUTTI_TEST_BUILDDIR/tests/faults/.libs/poor_disk.so"
awk 'BEGIN { pad = "p"; for (i = 0; i < 18; i++) pad = pad pad } { print $0 "," (NR > 1 ? pad : "pad") }' table.csv >padded.csv
sed 's/^path = .*/path = padded.csv/; s/^ignore = .*/ignore = kind pad/' networks.ini >padded.ini
spoil 1 "$poor" TUTTI_DISK_PAUSE=120
OMPI_MCA_btl=tcp,self spoiled_ranks 2 run padded.ini --out slow --quiet --set executor.lost_after=1
expect_code 0
# A file that is gone from the node before it is sent is one that the reply tells of.
spoil 1 "$poor" TUTTI_DISK_LOSES=weights.safetensors
spoiled_ranks 2 run networks.ini --out lossy
expect_code 0
expect_err 'its files are not those that it wrote on rank 1 on ' 'weights.safetensors' 'it is tried again'
same one lossy
spoiled_ranks 2 run networks.ini --out less --set run.retries=0
expect_code 0
expect_out '1 failed' 'weights.safetensors'
checks=$((checks + 1))
[ "$(find less/trials -name test.npy | wc -l)" -eq 5 ] || complain 'expected no files of a trial that failed'
disk="LD_PRELOAD=$TUTTI_TEST_BUILDDIR/tests/faults/.libs/full_disk.so"
for rank in 0 1; do
  spoil $rank "$disk" TUTTI_DISK_ROOM=$((rank ? 300 : 150000))
  spoiled_ranks 2 run networks.ini --out full$rank --quiet
  expect_error
  expect_err 'No space left on device'
  expect_absent full$rank/summary.json
  tutti run networks.ini --out full$rank --resume --quiet --workers 2
  expect_code 0
  same one full$rank
done
# The disk of a node that fills while a worker writes: it is said where.
spoil 1 "$disk" TUTTI_DISK_ROOM=40000 # more than it is sent
spoiled_ranks 2 run networks.ini --out full2 --quiet --set run.budget=20
expect_error
expect_err 'at rank 1 on ' 'No space left on device'
checks=$((checks + 1))
[ -z "$(ls scratch)" ] || complain "expected no folder of an agent, found $(ls scratch)"

# Another build of Tutti, or of a plugin, on one of the nodes: it is said which, and where.
spoil 2 "LD_PRELOAD=$TUTTI_TEST_BUILDDIR/tests/faults/.libs/other_build.so"
spoiled_ranks 3 run networks.ini --out mixed --quiet
expect_error
expect_err 'rank 2 on ' 'runs another tutti, another build, and the manager is ' 'install the same build on all nodes'
expect_absent mixed
# A node with another processor, where this one has vector instructions to lack.
if ! "$TUTTI_PROGRAM" doctor | grep -q "vectors: baseline"; then
  spoil 2 "LD_PRELOAD=$TUTTI_TEST_BUILDDIR/tests/faults/.libs/other_processor.so"
  spoiled_ranks 3 run networks.ini --out mixed --quiet
  expect_error
  expect_err 'the processor of rank 2 on ' 'has the vector instructions baseline, and the manager' 'executor.processors = any'
  expect_absent mixed
  spoiled_ranks 3 run networks.ini --out any --quiet --set executor.processors=any
  expect_code 0
fi
mkdir other
{ cat "$TUTTI_TEST_BUILDDIR/modules/backend-cpu.so" && echo other; } >other/backend-cpu.so
for shared in yes no; do
  spoil 2 "TUTTI_PLUGIN_PATH=$PWD/other:$TUTTI_PLUGIN_PATH"
  spoiled_ranks 3 run networks.ini --out odd-$shared --quiet --set executor.shared=$shared
  expect_error
  expect_err 'at rank 2 on ' 'plugin backend/cpu is another build here' "than the manager's" 'on all nodes'
  expect_absent odd-$shared/summary.json
  ranks 3 run networks.ini --out odd-$shared --quiet --resume
  expect_code 0
  same one odd-$shared
done

ranks 1 run networks.ini --out lonely
expect_error
expect_err 'expected two ranks at least' "the mpirun is that of another MPI: Tutti was built with $mpi"
expect_absent lonely

# What breaks a worker's data breaks no rank: the message says where, and why.
mv table.csv away.csv
ranks 3 run networks.ini --out nodata --quiet
expect_error
expect_err 'table.csv'
mv away.csv table.csv

tutti run function.ini --out plain --workers 3 --quiet
expect_code 0

# pid_of RANK DIRECTORY: the process of a rank; worker_of DIRECTORY: one of the workers.
pid_of() {
  local pid
  for pid in $(pgrep -f " run function.ini --out $2 "); do
    tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "$rank_variable=$1" && echo "$pid"
  done | head -n 1
}
worker_of() { pgrep -f " worker $1\$" | head -n 1; }
# strike WHAT DIRECTORY: begin a run, and kill a part of it when some trials are done, or tell all to end.
strike() {
  local victim='' done=0 tries=0 signal=KILL
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
    all) victim="$(pid_of 0 "$2") $(pid_of 1 "$2") $(pid_of 2 "$2")" signal=TERM ;;
  esac
  what="kill the $1"
  checks=$((checks + 1))
  [ "$("$json_value" status live workers 2>/dev/null)" = 4 ] || complain "expected four workers in status"
  checks=$((checks + 1))
  # shellcheck disable=SC2086 # several
  if [ -n "$victim" ]; then kill -$signal $victim; else complain "expected to find the $1"; fi
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
# As SLURM does it before the time is over.
strike all t
expect_err 'resume with the same launcher (mpirun, srun): tutti run t/recipe.ini --out t --resume'
ranks 3 run t/recipe.ini --out t --resume --quiet
expect_code 0
same plain/summary.json t/summary.json
checks=$((checks + 1))
for name in w a m t; do
  ! pgrep -f " worker $name\$" >/dev/null || complain "expected that no worker of $name is left"
done
finish
