# shellcheck shell=bash
# The disk takes a trial's files and then cannot make them durable, which a worker learns while it trains the next trial: the
# run stops, names the file, blames no candidate, and goes on to the same bits on a disk that works.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
regression_recipe >table.ini
tutti run table.ini --out whole --quiet --workers 2
expect_code 0
for file in trials/000003/weights.safetensors trials/000000/validation.npy trials/000004/; do
  rm -rf run
  LD_PRELOAD=$TUTTI_TEST_BUILDDIR/tests/faults/.libs/poor_disk.so TUTTI_DISK_UNSYNCABLE=/$file \
    "$TUTTI_PROGRAM" run table.ini --out run --quiet --workers 2 >out 2>err </dev/null
  code=$?
  what="tutti run, where $file cannot be synced"
  expect_code 1
  expect_err "/${file%/*}" "cannot make durable: Input/output error" "--resume"
  expect_absent run/summary.json
  tutti status run --json
  expect_json 0 trials failed
  tutti run table.ini --out run --quiet --resume --workers 2
  expect_code 0
  for made in summary.json ensemble.json "${file%/*}"/{weights.safetensors,test.npy}; do
    checks=$((checks + 1))
    cmp -s "whole/$made" "run/$made" || complain "expected the bits of an undisturbed run in $made"
  done
done
finish
