#!/bin/bash
# Backend cuda on the device of this machine: its tests, the tools that check kernels, and the times of docs/backend-cuda.md.
#
#   cuda-device.sh BUILD DATA [STEP...]      PYTHON=python3, OUT=cuda-device in the environment
#
# BUILD is a build folder, after `make check-programs bench` in it; DATA holds uci/concrete and uci/protein. Steps, all of them in
# this order if none is named: doctor, tests, conform, memcheck, racecheck, runs, tables, images. PyTorch and JAX are used if PYTHON
# has them. OUT/STEP.log has what each step printed; at the end there is a line for each.
set -uo pipefail
[ $# -ge 2 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
build=$(realpath "$1") data=$(realpath "$2")
shift 2
[ $# -gt 0 ] || set -- doctor tests conform memcheck racecheck runs tables images
here=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3} out=${OUT:-cuda-device}
mkdir -p "$out"
export TUTTI_TEST_CUDA=device TUTTI_TEST_SRCDIR=$here TUTTI_TEST_BUILDDIR=$build TUTTI_PROGRAM=$build/tutti OPENBLAS_NUM_THREADS=1
export TUTTI_PLUGIN_FOLDER=$build/modules TUTTI_PLUGIN_PATH=$build/modules TUTTI_RECIPE_FOLDER=$here/ini
bench=$build/tests/bench/train-pool concrete=$data/uci/concrete/data.csv protein=$data/uci/protein/data.csv
[ -f "$protein" ] || protein=$protein.gz

doctor() { "$build/tutti" doctor; }

tests() {
  local failed=0
  for test in test_cuda test_cuda_golden test_cuda_pool test_cuda_stream test_cuda_precision; do
    timeout 300 "$build/tests/unit/$test" || failed=1
  done
  return $failed
}

# It passes over a backend that does not work here.
conform() { timeout 120 "$build/tutti-conform" backend/cuda | tee /dev/stderr | grep -q '^[1-9][0-9]* passed, 0 failed'; }

# A few networks of tables, of which some have no room in shared memory, by a tool of the toolkit.
sanitize() { timeout 300 compute-sanitizer --tool "$1" --error-exitcode 3 "$bench" --networks 8 --epochs 1 --count 200; }
memcheck() { sanitize memcheck; }
racecheck() { sanitize racecheck; }

runs() {
  local failed=0
  for test in cuda.sh cuda-images.sh; do
    timeout 600 bash "$here/tests/cli/$test" || failed=1
  done
  return $failed
}

tables() {
  local failed=0
  "$python" "$here/tests/bench/train_pool_torch.py" "$bench" --data "$concrete" --data "$protein" --peer-steps 20 --only mixed || failed=1
  "$python" "$here/tests/bench/train_pool_torch.py" "$bench" --data "$concrete" --data "$protein" --peer-steps 20 --only alike || failed=1
  "$python" "$here/tests/bench/train_pool_jax.py" "$bench" --data "$concrete" --data "$protein" || failed=1
  "$python" "$here/tests/bench/train_pool_jax.py" "$bench" --data "$concrete" --data "$protein" --set precision=tf32 || failed=1
  return $failed
}

images() {
  "$python" "$here/tests/bench/train_pool_torch.py" "$bench" --data "$concrete" --peer-steps 20 --only images --image-set precision=bfloat16
}

for step in "$@"; do
  begin=$SECONDS
  "$step" >"$out/$step.log" 2>&1
  printf '%-10s exit %3d  %4d s  %s\n' "$step" $? $((SECONDS - begin)) "$(tail -n 1 "$out/$step.log")"
done
