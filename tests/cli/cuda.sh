#!/bin/bash
# Backend cuda on an emulated GPU, as a run uses it: a pool by several workers, killed and resumed, the same bits; beside
# backend cpu; and what is said where there is no device.
. "$TUTTI_TEST_SRCDIR/tests/cli/cuda-harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
recipe=$TUTTI_TEST_SRCDIR/ini/quickstart.ini
small=(--set run.budget=9 --set data.rows=60 --set hyperparameters.epochs=12 --set "space.widths=8 12" --quiet)

torn_epochs=20000

run_whole 9 "$recipe" "${small[@]}"
run_beside 1e-4 "$recipe" "${small[@]}"
run_torn "$recipe" "${small[@]}"

what="tutti-conform backend/cuda"
"$TUTTI_TEST_BUILDDIR/tutti-conform" backend/cuda >out 2>err </dev/null
code=$?
expect_code 0
expect_out "ok   backend/cuda: gradients against finite differences" "artificial points are drawn in the job's box" " 0 failed"
expect_not_in out "FAIL"

# In other precisions, which finite differences are too fine for.
for precision in tf32 bfloat16; do
  what="tutti-conform backend/cuda, $precision"
  "$TUTTI_TEST_BUILDDIR/tutti-conform" --rough --set backend/cuda.precision=$precision backend/cuda >out 2>err </dev/null
  code=$?
  expect_code 0
  expect_out "skip backend/cuda: gradients against finite differences" "ok   backend/cuda: an open predictor gives what a split gives" " 0 failed"
done
run_whole 9 "$recipe" "${small[@]}" --set backend.precision=tf32
run_torn "$recipe" "${small[@]}" --set backend.precision=tf32
tutti validate "$recipe" --set backend.plugin=cuda --set backend.precision=bfloat16
expect_error
expect_err "backend.precision = bfloat16: backend cuda has it for networks of images alone"
if ! on_device; then
  TUTTI_EMULATED_MAJOR=7 tutti validate "$recipe" --set backend.plugin=cuda --set backend.precision=tf32
  expect_error
  expect_err "compute capability 7.x, and 8.0 or later is needed"
fi
run_whole 9 "$recipe" "${small[@]}"

if ! on_device; then
  # Two devices: each worker has one of them, and the manager begins with none.
  export TUTTI_EMULATED_DEVICES=3 TUTTI_EMULATED_LOG=$PWD/devices
  tutti run "$recipe" "${small[@]}" --set backend.plugin=cuda --workers 2 --set executor.devices=2,0 --out shared
  expect_code 0
  unset TUTTI_EMULATED_DEVICES TUTTI_EMULATED_LOG
  checks=$((checks + 1))
  [ "$(cut -d' ' -f1 devices | sort | tr '\n' ' ')" = "0 2 " ] || complain "expected devices 0 and 2, found $(cat devices)"
  expect_same shared "on two devices"

  strike "$recipe" "${small[@]}" --set hyperparameters.epochs=300
  expect_out "9 of 9 done"
fi

# Cross-validation: the folds of several trials train side by side, and give what backend cpu, which takes one after the
# other, gives; where the first fold is pruned, so is the trial.
folds=("${small[@]}" --set data.folds=3 --set run.window=3)
run_whole 9 "$recipe" "${folds[@]}"
run_beside 1e-4 "$recipe" "${folds[@]}"
run_torn "$recipe" "${folds[@]}"
pruned=("${folds[@]}" --set pruner.plugin=median --set pruner.warmup=2 --set run.order=trial)
tutti run "$recipe" "${pruned[@]}" --set backend.plugin=cuda --workers 1 --out whole-pruned
expect_code 0
tutti run "$recipe" "${pruned[@]}" --workers 1 --out beside-pruned
expect_code 0
for run in whole beside; do
  what="tutti status $run-pruned"
  "$TUTTI_PROGRAM" status $run-pruned --json | python3 -c '
import json, sys
for trial in json.load(sys.stdin)["all_trials"]:
    print(trial["trial"], trial["state"], round(trial["loss"], 4))' >$run.states
done
checks=$((checks + 2))
grep -q pruned whole.states || complain "no trial was pruned"
cmp -s whole.states beside.states || complain "backend cpu prunes others: $(diff whole.states beside.states)"

# AutoDEUQ's toy example, whose networks differ in width, depth, optimiser, batch size and learning rate, by AgEBO:
# fewer, and a shorter training.
toy=("$TUTTI_TEST_SRCDIR/ini/autodeuq/toy.ini" --set run.budget=12 --set run.window=6 --set selector.size=3
  --set hyperparameters.epochs=4 --set data.rows=40 --quiet)
run_whole 12 "${toy[@]}"
run_torn "${toy[@]}"

# Networks that leave out what data.bins adds are, to the bit, those of a table without bins.
make_table
regression_recipe >table.ini
run_whole 6 table.ini --set data.bins=0 --quiet
rm -rf bins
tutti run table.ini --set backend.plugin=cuda --set data.bins=4 --set backend.encodings=no --out bins --quiet
expect_code 0
for file in whole/trials/*/{validation,test}.npy; do
  checks=$((checks + 1))
  cmp -s "$file" "bins/${file#whole/}" || complain "$file is another one with bins that are left out"
done
counted="SELECT json_extract(report, '$.parameters'), json_extract(report, '$.flops') FROM trials ORDER BY number"
checks=$((checks + 1))
[ "$(sql whole "$counted")" = "$(sql bins "$counted")" ] || complain "what is left out is counted"

if ! on_device; then
  # No device: the recipe is refused with the reason before anything is trained.
  for devices in 0 -1; do
    TUTTI_EMULATED_DEVICES=$devices tutti run "$recipe" "${small[@]}" --set backend.plugin=cuda --out none
    expect_error
    expect_err "no CUDA d"
  done
  tutti run "$recipe" "${small[@]}" --set backend.plugin=cuda --set executor.devices=0,7 --workers 2 --out none
  expect_error
  expect_err 'no CUDA device: CUDA_VISIBLE_DEVICES, which executor.devices sets, is "7"'
  TUTTI_EMULATED_MAJOR=7 tutti run "$recipe" "${small[@]}" --set backend.plugin=cuda --out none
  expect_error
  expect_err "compute capability 7.x, and 8.0 or later is needed"
  CUDA_LAUNCH_BLOCKING=1 tutti run "$recipe" "${small[@]}" --set backend.plugin=cuda --out none
  expect_error
  expect_err "CUDA_LAUNCH_BLOCKING is set"
  # A network that the memory has just room for, with its rows, trains; with a little less it is refused before that.
  for memory in 16 15; do
    TUTTI_EMULATED_MEMORY=$memory tutti run "$recipe" --set backend.plugin=cuda --set run.budget=1 --set selector.size=1 \
      --set space.min_depth=3 --set space.widths=600 --set hyperparameters.epochs=2 --workers 1 --quiet --out room-$memory
    if [ $memory -eq 16 ]; then expect_code 0; else expect_error; fi
  done
  expect_err "and the device has 15 MiB"
  TUTTI_EMULATED_DEVICES=0 tutti doctor
  expect_code 0
  expect_out "backend-cuda.so lacks something here: " "no CUDA device" "0 of them broken, 1 without something that they need"
fi

# Ops that it lacks are named.
tutti validate "$recipe" --set backend.plugin=cuda --set hyperparameters.optimiser=lbfgs
expect_error
expect_err "backend cuda does not have it"
finish
