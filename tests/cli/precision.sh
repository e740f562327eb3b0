#!/bin/bash
# Numbers of 16 bits, precision = bfloat16 and storage = half: models and predictions have the same bits for one worker and
# for two, and in a run that was killed; and they have other bits than float32's, so that this says something.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
make_stripes
regression_recipe | sed 's/^budget = .*/budget = 8/; s/^plugin = mlp/&\nmin_depth = 2\nwidths = 24 48/; s/^epochs = .*/epochs = 600/' >table.ini
stripes_recipe | sed '/^shift\|^ood/d; s/^budget = .*/budget = 8/; s/^plugin = mlp/plugin = darts\ncells = 2\nchannels = 16/
  s/^epochs = .*/epochs = 1\nbatch_size = 10/; s/^size = .*/&\n[backend]\nplugin = cpu/' >images.ini

# hash RUN: the hashes of the weights and predictions of all trials, and of what was chosen, go to RUN.sum.
hash() {
  (cd "$1" && find trials -name '*.safetensors' -o -name '*.npy' | sort | xargs sha256sum ensemble.json) >"$1.sum"
  checks=$((checks + 1))
  [ "$(grep -c safetensors "$1.sum")" -eq 8 ] || complain "expected 8 models in $1"
}

expect_same_bits() {
  checks=$((checks + 1))
  cmp -s "$1.sum" "$2.sum" || complain "$2: other bits than $1: $(diff "$1.sum" "$2.sum" | head -n 1)"
}

# killed RUN RECIPE SETTING...: begin a run, kill it between its trials, and go on.
killed() {
  local run=$1 recipe=$2 manager tries
  shift 2
  "$TUTTI_PROGRAM" run "$recipe" "$@" --workers 1 --quiet --out "$run" >out 2>err </dev/null &
  manager=$!
  for ((tries = 0; tries < 1000; tries++)); do
    kill -STOP $manager # it must not end while it is looked at
    "$TUTTI_PROGRAM" status "$run" 2>kill-err | grep -qE '[2-6] of 8 done' && break
    kill -CONT $manager
    sleep 0.02
  done
  kill -KILL $manager
  wait $manager 2>kill-err
  what="$run, killed"
  expect_absent "$run/summary.json"
  tutti run "$recipe" "$@" --workers 2 --quiet --out "$run" --resume
  expect_code 0
  hash "$run"
}

# check NAME RECIPE SETTING...
check() {
  local name=$1 recipe=$2 settings=() setting
  shift 2
  for setting; do settings+=(--set "$setting"); done
  for workers in 1 2; do
    tutti run "$recipe" "${settings[@]}" --workers $workers --quiet --out "$name-$workers"
    expect_code 0
    hash "$name-$workers"
  done
  expect_same_bits "$name-1" "$name-2"
  killed "$name-killed" "$recipe" "${settings[@]}"
  expect_same_bits "$name-1" "$name-killed"
}

for data in table images; do
  tutti run $data.ini --workers 2 --quiet --out $data-floats
  expect_code 0
  hash $data-floats
done
check table-short table.ini backend.precision=bfloat16
check images-short images.ini backend.precision=bfloat16
check images-half images.ini backend.storage=half
check images-both images.ini backend.precision=bfloat16 backend.storage=half
# No model is that of another way to keep or to multiply numbers.
checks=$((checks + 1))
same=$(cat table-floats.sum table-short-1.sum images-floats.sum images-short-1.sum images-half-1.sum images-both-1.sum |
  grep safetensors | cut -d' ' -f1 | sort | uniq -d | wc -l)
[ "$same" -eq 0 ] || complain "$same models have the bits of float32, or of each other"

# Where the processor has no units for bfloat16, what trains warns once that it is slower, and what does not train is silent.
if [ -z "${TUTTI_TEST_SANITIZED:-}" ]; then
  elsewhere() { LD_PRELOAD=$TUTTI_TEST_BUILDDIR/tests/faults/.libs/other_processor.so tutti "$@"; }
  warning='backend.precision = bfloat16: this processor has no units for it (vectors: baseline), so that training is slower'
  elsewhere run table.ini --set backend.precision=bfloat16 --workers 2 --quiet --out elsewhere
  expect_code 0
  expect_err "$warning"
  checks=$((checks + 1))
  [ "$(grep -c "$warning" err)" -eq 1 ] || complain "expected one warning, found $(grep -c "$warning" err)"
  elsewhere validate table.ini --set backend.precision=bfloat16
  expect_code 0
  expect_err "$warning"
  elsewhere evaluate elsewhere
  expect_code 0
  expect_not_in err bfloat16
  elsewhere validate table.ini
  expect_code 0
  expect_not_in err bfloat16
fi
if grep -q 'amx_bf16\|avx512_bf16' /proc/cpuinfo; then
  tutti validate table.ini --set backend.precision=bfloat16
  expect_code 0
  expect_not_in err bfloat16
fi
finish
