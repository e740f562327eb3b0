#!/bin/bash
# tutti select --keep replaces two files at one instant: killed before any of its changes of a file, it leaves the old result or
# the new one, and no command sees a mixture.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
[ "${TUTTI_TEST_WATCHED:-}" != sanitizers ] || { echo "skipped: a sanitizer wants to be loaded first"; exit 77; }
make_table
regression_recipe >small.ini
tutti run small.ini --out old --quiet
expect_code 0
keep=(--keep --set selector.plugin=top-m --set selector.size=2)
cp -r old new
tutti select new "${keep[@]}"
expect_code 0
for state in old new; do
  for look in evaluate status predict; do
    mv "$state" run
    [ $look = predict ] && words=table.csv || words=--json
    tutti $look run "$words"
    expect_code 0
    cp out "$look-$state"
    mv run "$state"
  done
done
checks=$((checks + 1))
! cmp -s evaluate-old evaluate-new || complain "expected two different ensembles"

seen=''
for ((stop = 1; stop < 100; stop++)); do
  rm -rf run
  cp -r old run
  what="tutti select --keep, killed before change $stop"
  (LD_PRELOAD=$TUTTI_TEST_BUILDDIR/tests/faults/.libs/stops.so TUTTI_TEST_ROOT=$PWD/run TUTTI_TEST_STOP=$stop \
    exec "$TUTTI_PROGRAM" select "$PWD/run" "${keep[@]}") >out 2>err </dev/null
  code=$?
  [ $code -ne 0 ] || break
  expect_code 137
  # The summary says which it is, and all commands agree.
  cmp -s run/summary.json new/summary.json && state=new || state=old
  seen="$seen $state"
  checks=$((checks + 1))
  cmp -s run/summary.json "$state/summary.json" || complain "expected a whole summary"
  for look in evaluate status predict; do
    [ $look = predict ] && words=table.csv || words=--json
    tutti $look run "$words"
    what="tutti $look, after a kill before change $stop"
    expect_code 0
    checks=$((checks + 1))
    cmp -s out "$look-$state" || complain "expected what the $state result gives"
  done
  tutti compare run --json
  expect_code 0
  # Whoever keeps it again, or goes on with the run, has both files whole.
  tutti select run "${keep[@]}"
  expect_code 0
  for file in ensemble.json summary.json; do
    checks=$((checks + 1))
    cmp -s run/$file new/$file || complain "expected the new $file"
  done
  expect_absent run/ensemble.json.new
done
checks=$((checks + 1))
case $seen in
*old*new*) ;;
*) complain "expected kills before and after the new result counts; found$seen" ;;
esac
checks=$((checks + 1))
if [ "$stop" -le 8 ] || [ "$stop" -ge 100 ]; then complain "expected that some 12 changes of files are made, found $((stop - 1))"; fi

# A changed file is no such thing.
rm -rf run
cp -r new run
sed -i '0,/"weight": 0\.5/s//"weight": 0.4/' run/ensemble.json
cp old/ensemble.json run/ensemble.json.new
tutti evaluate run
expect_code 1
expect_err ensemble.json "not the ensemble of the summary"
finish
