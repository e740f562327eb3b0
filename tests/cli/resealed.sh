#!/bin/bash
# Files of a run that were changed with their checksums: what no run can hold is refused all the same, with the file's name.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
sql=$TUTTI_TEST_BUILDDIR/tests/cli/sql
make_table
regression_recipe >small.ini
classification_recipe >classes.ini
mkdir whole
for run in small classes; do
  tutti run $run.ini --out whole/$run --quiet
  expect_code 0
done
tutti run small.ini --out whole/nomu --set head.kind=nomu --quiet
expect_code 0
tutti run small.ini --out whole/pair --set data.target="y x2" --quiet
expect_code 0
awk -F, -v OFS=, 'NR == 1 { print $0, "patient"; next } { print $0, "p" NR % 24 }' table.csv >grouped.csv
tutti run small.ini --out whole/grouped --set data.path=grouped.csv --set data.groups=patient --quiet
expect_code 0
member=$("$json_value" whole/small/ensemble.json members 0 trial)
member=trials/$(printf %06d "$member")

sum_of() { gzip -c "$1" | tail -c 8 | od -An -N4 -tu4 | tr -d ' '; }
record_of() { echo "\"bytes\":$(stat -c %s "$1"),\"crc32\":$(sum_of "$1")"; }
# reseal RUN FILE EDIT...: a copy of the run with this file changed, and its record in the catalogue to fit.
reseal() {
  local file=run/$2 before
  rm -rf run
  cp -r "whole/$1" run
  before=$(record_of "$file")
  "${@:3}" "$file"
  "$sql" run/catalogue.sqlite "DROP TABLE sums; DROP TABLE fact_sums;
    UPDATE trials SET report = replace(report, '$before', '$(record_of "$file")');
    UPDATE facts SET value = replace(value, '$before', '$(record_of "$file")')" || complain "expected to reseal $2"
}
# put PLACE BYTES FILE: behind the header of an array, 128 bytes.
# shellcheck disable=SC2059 # bytes
put() { printf "$2" | dd of="$3" bs=1 seek=$((128 + $1)) conv=notrunc status=none; }
# refuses COMMAND TEXT...: the copy is refused with these texts, and there is no result.
refuses() {
  tutti "$1" run
  expect_code 1
  expect_empty out
  expect_err "${@:2}"
}

# Nothing was changed: it is only the reseal that makes a run of it.
reseal small data.json true
tutti evaluate run
expect_code 0

# Predictions: mean and variance of each row, float32.
for split in test validation; do
  command=$([ $split = test ] && echo evaluate || echo select)
  reseal small "$member/$split.npy" put 4 '\000\000\200\277'
  refuses "$command" "in $split.npy" "negative variance" "no model made them"
  reseal small "$member/$split.npy" put 8 '\000\000\200\177'
  refuses "$command" "in $split.npy" "not finite" "no model made them"
done

# The part of the variance that is the model's own: no number, negative, more than the whole.
own=$("$json_value" whole/nomu/ensemble.json members 0 trial)
own=trials/$(printf %06d "$own")
for bytes in '\000\000\300\177' '\000\000\200\277' '\000\000\200\177'; do
  reseal nomu "$own/test-epistemic.npy" put 0 "$bytes"
  refuses evaluate "in test-epistemic.npy" "not between 0 and the whole" "no model made them"
  reseal nomu "$own/validation-epistemic.npy" put 0 "$bytes"
  refuses select "in validation-epistemic.npy" "no model made them"
done

# Rows, targets and classes of the splits.
reseal small splits/test-targets.npy put 0 '\000\000\000\000\000\000\360\177'
refuses evaluate "run/splits/test-targets.npy: split test: expected finite targets; row 0 has inf"
expect_not_in err data.json
reseal small splits/test-rows.npy put 4 '\377\377\377\377'
refuses evaluate "run/splits/test-rows.npy: split test: row 1 has the number -1"
for bytes in '\377\377\377\377' '\002\000\000\000'; do
  reseal classes splits/test-labels.npy put 0 "$bytes"
  refuses evaluate "run/splits/test-labels.npy: split test: expected classes from 0 to 1; row 0 has"
done
for bytes in '\001\000\000\000' '\377\377\377\377'; do # the first row, in the group of a later one, of none
  reseal grouped splits/train-groups.npy put 0 "$bytes"
  refuses evaluate "run/splits/train-groups.npy: split train: expected the first row of each group; row 0 has"
done
reseal grouped splits/train-groups.npy cp whole/grouped/splits/test-groups.npy
refuses evaluate "run/splits/train-groups.npy: split train: expected the groups of"
reseal small splits/test-targets.npy cp whole/small/splits/train-targets.npy
refuses evaluate "run/splits/test-targets.npy: split test: expected the targets of" "another type or shape"
# As many numbers, but rows and columns are exchanged.
checks=$((checks + 1))
head -c 128 whole/pair/splits/test-targets.npy | grep -aq '(24, 2)' || complain "expected 24 rows of two targets"
reseal pair splits/test-targets.npy sed -i '1s/(24, 2)/(2, 24)/'
refuses evaluate "run/splits/test-targets.npy: split test: expected the targets of 24 rows, 2 numbers each" "another type or shape"

# The description of the data.
reseal small data.json sed -i '0,/"name": "test"/s//"name": "..\/x"/'
refuses evaluate "run/data.json: " "expected names of splits, each once"
reseal small data.json sed -i '0,/"name": "test"/s//"name": "train"/'
refuses evaluate "run/data.json: " "expected names of splits, each once"
reseal small data.json sed -i 's/"version": 3/"version": 5/'
refuses evaluate "run/data.json: " "has version 5, and this Tutti reads versions 3 and 4"
reseal small data.json sed -i 's/"target_scale": \[/&-/'
refuses evaluate "run/data.json: " "torn at 'target_scale'"
reseal small data.json sed -i '0,/"position": 1/s//"position": 0/'
refuses evaluate "run/data.json: " "are both at 0"
reseal small data.json sed -i '0,/"position": 1/s//"position": 77/'
refuses evaluate "run/data.json: " "torn at 'position'"
reseal classes data.json sed -i 's/"down", "up"/"up", "down"/'
refuses evaluate "run/data.json: " "torn at 'categories'"
finish
