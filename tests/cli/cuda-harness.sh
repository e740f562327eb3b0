# cuda-harness.sh - sourced by the tests of backend cuda on an emulated GPU: runs that are killed, that lose their device,
# and that stand beside backend cpu's. With TUTTI_TEST_CUDA=device they use the backend of this build, and the device of this
# machine; what only an emulated one does is left out.
# shellcheck shell=bash
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
emulated=$TUTTI_TEST_BUILDDIR/tests/cuda/.libs
torn_epochs=1000 # of run_torn on a device
on_device() { [ "${TUTTI_TEST_CUDA-}" = device ]; }
if ! on_device; then
  [ -e "$emulated/backend-cuda.so" ] || { echo "skipped: no C++ compiler to emulate a GPU with"; exit 77; }
  export TUTTI_PLUGIN_PATH=$emulated:$TUTTI_PLUGIN_PATH
fi

# wait_for_trial FOLDER: until a first network of the run in the folder is trained, or 20 seconds.
wait_for_trial() {
  local i
  for ((i = 0; i < 1000; i++)); do
    ! compgen -G "$1/trials/*/validation.npy" >/dev/null || break
    sleep 0.02
  done
}

# run_whole COUNT ARGUMENT...: a run with backend cuda in the folder whole, and its number of networks.
run_whole() {
  local count=$1
  shift
  rm -rf whole
  tutti run "$@" --set backend.plugin=cuda --workers 1 --out whole
  expect_code 0
  checks=$((checks + 1))
  [ "$(compgen -G "whole/trials/*/validation.npy" | wc -l)" = "$count" ] || complain "expected $count trials"
}

# expect_same FOLDER WHY: its networks, what they predict, and the ensemble are those of the folder whole, to the bit.
expect_same() {
  local file
  for file in whole/ensemble.json whole/trials/*/{validation,test}.npy whole/trials/*/weights.safetensors; do
    checks=$((checks + 1))
    cmp -s "$file" "$1/${file#whole/}" || complain "$file is another one $2"
  done
}

# run_torn ARGUMENT...: the same run by two workers, of which each trains several networks at once, killed once it has
# some, and resumed. A device has done it before it can be killed: there both runs train for torn_epochs.
run_torn() {
  local manager
  if on_device; then
    set -- "$@" --set "hyperparameters.epochs=$torn_epochs"
    run_whole "$(compgen -G "whole/trials/*/validation.npy" | wc -l)" "$@"
  fi
  what="tutti run, killed"
  rm -rf torn
  "$TUTTI_PROGRAM" run "$@" --set backend.plugin=cuda --workers 2 --out torn >/dev/null 2>&1 &
  manager=$!
  wait_for_trial torn
  kill -9 $manager
  wait $manager 2>/dev/null
  checks=$((checks + 1))
  [ "$(compgen -G "torn/trials/*/validation.npy" | wc -l)" -lt "$(compgen -G "whole/trials/*/validation.npy" | wc -l)" ] ||
    complain "it was over before it was killed"
  tutti run "$@" --set backend.plugin=cuda --out torn --resume
  expect_code 0
  expect_same torn "in the run that was killed"
}

# strike ARGUMENT...: a kernel fails in the middle of a run. Its trials fail with what the runtime says, the worker, whose
# device is lost, is replaced, and the run goes on.
strike() {
  local manager
  what="tutti run, a kernel failing"
  export TUTTI_EMULATED_FAULT=$PWD/fault
  rm -rf struck
  "$TUTTI_PROGRAM" run "$@" --set backend.plugin=cuda --workers 1 --out struck >out 2>err &
  manager=$!
  wait_for_trial struck
  touch fault
  wait $manager
  code=$?
  unset TUTTI_EMULATED_FAULT
  expect_code 0
  expect_out "CUDA: " "unspecified launch failure (error 719" # told by the call that finds it first
  checks=$((checks + 1))
  [ ! -e fault ] || complain "no kernel failed"
}

# run_beside TOLERANCE ARGUMENT...: backend cpu has the same candidates, and predictions that agree.
run_beside() {
  local tolerance=$1
  shift
  rm -rf beside
  tutti run "$@" --workers 1 --out beside
  expect_code 0
  what='predictions of cuda and cpu'
  cat >close.py <<'PYTHON'
import glob, numpy, sys
for path in glob.glob("whole/trials/*/validation.npy"):
    one, other = numpy.load(path), numpy.load(path.replace("whole", "beside"))
    if not numpy.allclose(one, other, rtol=1e-3, atol=float(sys.argv[1])):
        sys.exit(f"{path}: {abs(one - other).max()}")
PYTHON
  find_numpy
  "$python" close.py "$tolerance" >out 2>err
  code=$?
  expect_code 0
}
