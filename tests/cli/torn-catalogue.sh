#!/bin/bash
# A catalogue that is not whole: every command that opens the run says what was expected, what was found, where, and what
# to do; and what it says to do helps.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
regression_recipe >small.ini
for name in whole other; do
  tutti run small.ini --out $name --quiet
  expect_code 0
done
bytes=$(stat -c %s whole/catalogue.sqlite)

# torn EDIT TEXT...: with the catalogue changed so, each command fails with these texts, or leaves the run out so, and changes nothing.
torn() {
  rm -rf torn
  cp -r whole torn
  (cd torn && eval "$1")
  shift
  local command
  for command in "status torn" "evaluate torn" "curve torn" "report torn --to page.html" "run small.ini --out torn --resume" "select torn" \
    "select torn other --out both" "export torn --to model.onnx" "predict torn table.csv" "cancel torn 3"; do
    # shellcheck disable=SC2086
    tutti $command
    expect_code 1
    expect_empty out
    expect_err "$@"
    expect_not_in err "resume with" # that would not help
    diff -r -x 'catalogue.sqlite*' -x lock torn whole >out || complain "other files than before"
  done
  tutti compare torn other # the others are compared; what has no catalogue is no run
  if [ -e torn/catalogue.sqlite ]; then
    expect_code 0
    expect_out "1 run: 1 variant" "Left out" "$@"
  else
    expect_code 1
    expect_err "$@"
  fi
  diff -r -x 'catalogue.sqlite*' -x lock torn whole >out || complain "other files than before"
  expect_absent page.html
  expect_absent model.onnx
  expect_absent both
}
what_to_do=("$PWD/torn/catalogue.sqlite: expected a whole catalogue" "put back a copy of it" "train again from $PWD/torn/recipe.ini with another --out"
  "The files of its trials are not touched by this; they stay in $PWD/torn/trials")
torn "truncate -s $((bytes / 2)) catalogue.sqlite" "of $bytes bytes by its first page, found $((bytes / 2)): it was cut short" "${what_to_do[@]}"
torn 'truncate -s 100 catalogue.sqlite' "of $bytes bytes by its first page, found 100: it was cut short" "${what_to_do[@]}"
torn 'truncate -s 50 catalogue.sqlite' "found 50 bytes in which" "${what_to_do[@]}"
torn 'truncate -s 0 catalogue.sqlite' "found an empty file" "${what_to_do[@]}"
torn "dd if=/dev/zero of=catalogue.sqlite bs=1 seek=$((bytes / 4)) count=$((bytes / 2)) conv=notrunc status=none" \
  "found $bytes bytes in which database disk image is malformed" "${what_to_do[@]}"
torn 'echo "this is no database" >catalogue.sqlite' "found 20 bytes in which file is not a database" "${what_to_do[@]}"
torn 'rm catalogue.sqlite' "torn has the trials of a run, but catalogue.sqlite is gone; put it back, or train again from recipe.ini with another --out"

# Both ways out.
tutti run torn/recipe.ini --out again --quiet
expect_code 0
checks=$((checks + 1))
diff -r -x catalogue.sqlite -x lock -x worker.log -x recipe.ini whole again >out || complain "expected the same files"
cp whole/catalogue.sqlite torn
tutti predict torn table.csv
expect_code 0

# Without tables, trials and a result, it is a run that has only just begun, which can be begun anew.
cp -r whole begun
rm -r begun/trials begun/ensemble.json begun/summary.json
: >begun/catalogue.sqlite
tutti status begun
expect_code 1
expect_err "it has no tables yet: the run has only just begun"
tutti run small.ini --out begun --resume --quiet
expect_code 0
finish
