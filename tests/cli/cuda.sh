#!/bin/bash
# Backend cuda on an emulated GPU, as a run uses it: a pool by several workers, killed and resumed, the same bits; beside
# backend cpu; and what is said where there is no device.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
emulated=$TUTTI_TEST_BUILDDIR/tests/cuda/.libs
[ -e "$emulated/backend-cuda.so" ] || { echo "skipped: no C++ compiler to emulate a GPU with"; exit 77; }
export TUTTI_PLUGIN_PATH=$emulated:$TUTTI_PLUGIN_PATH
recipe=$TUTTI_TEST_SRCDIR/ini/quickstart.ini
small=(--set run.budget=9 --set data.rows=60 --set hyperparameters.epochs=12 --set "space.widths=8 12" --quiet)

tutti run "$recipe" "${small[@]}" --set backend.plugin=cuda --workers 1 --out whole
expect_code 0
checks=$((checks + 1))
[ "$(compgen -G "whole/trials/*/validation.npy" | wc -l)" = 9 ] || complain "expected 9 trials"

# The same bits by two workers, of which each trains several networks at once, killed in the middle.
what="tutti run, killed"
"$TUTTI_PROGRAM" run "$recipe" "${small[@]}" --set backend.plugin=cuda --workers 2 --out torn >/dev/null 2>&1 &
manager=$!
for ((i = 0; i < 200; i++)); do
  ! compgen -G "torn/trials/*/validation.npy" >/dev/null || break
  sleep 0.05
done
kill -9 $manager
wait $manager 2>/dev/null
tutti run "$recipe" "${small[@]}" --set backend.plugin=cuda --out torn --resume
expect_code 0
for file in whole/trials/*/validation.npy whole/trials/*/weights.safetensors; do
  checks=$((checks + 1))
  cmp -s "$file" "torn/${file#whole/}" || complain "$file is another one in the run that was killed"
done

what="tutti-conform backend/cuda"
"$TUTTI_TEST_BUILDDIR/tutti-conform" backend/cuda >out 2>err </dev/null
code=$?
expect_code 0
expect_out "ok   backend/cuda: gradients against finite differences" "artificial points are drawn in the job's box" " 0 failed"
expect_not_in out "FAIL"

# Beside backend cpu: the same candidates, and predictions that agree.
tutti run "$recipe" "${small[@]}" --workers 1 --out beside
expect_code 0
what='predictions of cuda and cpu'
cat >close.py <<'EOF'
import glob, numpy, sys
for path in glob.glob("whole/trials/*/validation.npy"):
    one, other = numpy.load(path), numpy.load(path.replace("whole", "beside"))
    if not numpy.allclose(one, other, rtol=1e-3, atol=1e-4):
        sys.exit(f"{path}: {abs(one - other).max()}")
EOF
find_numpy
"$python" close.py >out 2>err
code=$?
expect_code 0

# Two devices: each worker has one of them, and the manager begins with none.
export TUTTI_EMULATED_DEVICES=3 TUTTI_EMULATED_LOG=$PWD/devices
tutti run "$recipe" "${small[@]}" --set backend.plugin=cuda --workers 2 --set executor.devices=2,0 --out shared
expect_code 0
unset TUTTI_EMULATED_DEVICES TUTTI_EMULATED_LOG
checks=$((checks + 1))
[ "$(cut -d' ' -f1 devices | sort | tr '\n' ' ')" = "0 2 " ] || complain "expected devices 0 and 2, found $(cat devices)"
for file in whole/trials/*/validation.npy; do
  checks=$((checks + 1))
  cmp -s "$file" "shared/${file#whole/}" || complain "$file is another one on two devices"
done

# A kernel that fails in the middle: its trials fail with what the runtime says, the worker, whose device is lost, is
# replaced, and the run goes on.
what="tutti run, a kernel failing"
export TUTTI_EMULATED_FAULT=$PWD/fault
"$TUTTI_PROGRAM" run "$recipe" "${small[@]}" --set backend.plugin=cuda --set hyperparameters.epochs=300 \
  --workers 1 --out struck >out 2>err &
manager=$!
for ((i = 0; i < 400; i++)); do
  ! compgen -G "struck/trials/*/validation.npy" >/dev/null || break
  sleep 0.02
done
touch fault
wait $manager
code=$?
unset TUTTI_EMULATED_FAULT
expect_code 0
expect_out "CUDA: the training kernel failed: unspecified launch failure (error 719)" "9 of 9 done"
checks=$((checks + 1))
[ ! -e fault ] || complain "no kernel failed"

# No device: the recipe is refused with the reason before anything is trained.
for devices in 0 -1; do
  TUTTI_EMULATED_DEVICES=$devices tutti run "$recipe" "${small[@]}" --set backend.plugin=cuda --out none
  checks=$((checks + 1))
  [ $code -ne 0 ] || complain "expected a refusal"
  expect_err "no CUDA d"
done
TUTTI_EMULATED_MAJOR=7 tutti run "$recipe" "${small[@]}" --set backend.plugin=cuda --out none
expect_err "compute capability 7.x, and 8.0 or later is needed"
TUTTI_EMULATED_DEVICES=0 tutti doctor
expect_code 0
expect_out "backend-cuda.so lacks something here: " "no CUDA device" "0 of them do not work"

# Ops that it lacks are named.
tutti validate "$recipe" --set backend.plugin=cuda --set hyperparameters.optimiser=lbfgs
checks=$((checks + 1))
[ $code -ne 0 ] || complain "expected a refusal"
expect_err "backend cuda does not have it"
finish
