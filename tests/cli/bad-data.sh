#!/bin/bash
# Wrong data get exit code 2 and a message with file, row and column; nothing is written. Diverging training is a failed
# trial.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
cp table.csv good.csv
regression_recipe >small.ini
classification_recipe >classes.ini

# refuse RECIPE AWK TEXT...: the table, changed by the program, is refused with these texts.
refuse() {
  local recipe=$1
  awk -F, -v OFS=, "$2" good.csv >table.csv
  shift 2
  tutti validate "$recipe"
  expect_usage_error "$@"
}

refuse small.ini 'NR == 7 { print $0, 1; next } 1' table.csv 7
refuse small.ini 'NR == 7 { $1 = "" } 1' table.csv x1 7
refuse small.ini 'NR == 7 { $4 = "nan" } 1' table.csv y 7
refuse small.ini 'NR == 7 { $4 = "inf" } 1' table.csv y 7
refuse small.ini 'NR == 7 { $4 = "high" } 1' table.csv y
refuse small.ini 'NR == 1' rows
refuse small.ini '0'
refuse small.ini 'NR == 1 { print "x1,x1,group,y,kind"; next } 1' table.csv x1
refuse small.ini 'NR <= 3' 'no test rows'
refuse classes.ini 'NR > 1 { $5 = "up" } 1' kind

# Files that are no tables of text: what they are, and what to do; and where a text is not UTF-8.
# foreign BYTES TEXT...: a file of these bytes (of printf) is refused with these texts.
foreign() {
  # shellcheck disable=SC2059
  printf "$1" >table.csv
  shift
  tutti validate small.ini
  expect_usage_error table.csv "expected a table of text" "$@"
}
foreign 'PK\003\004abc' "a spreadsheet" "as CSV"
foreign '\320\317\021\340\241\261\032\341' ".xls"
foreign 'PAR1\025\004' "Parquet" "read_parquet"
foreign 'ARROW1\000\000' "Arrow"
foreign '\377\376x\0001\000,\000y\000\n\000' "UTF-16" "iconv"
foreign 'SQLite format 3\000' "SQLite"
foreign '\223NUMPY\001' "data.plugin = npy"
foreign '\n<!DOCTYPE html>\n<p>a, b</p>\n' "page of the web"
foreign 'BZh91AY&SY' "gzip is"
refuse classes.ini 'NR == 7 { $5 = "u\374p" } 1' "table.csv:7: row 5, column 'kind'" "byte 0xFC" "iconv -f WINDOWS-1252"
# A target without a value in any row, as behind a delimiter at the end of each line; one that has one value.
awk '{ print $0 "," }' good.csv >table.csv
tutti validate small.ini --set data.target=-1 --set data.missing_target=drop
expect_usage_error "the target 'x5' has no value in any of the 120 rows" "-2"
refuse small.ini 'NR > 1 { $4 = 7 } 1' "the target 'y' is 7 in all 120 rows"
# Lines above the table: found out where they are one cell, and left out where the recipe says so.
sed '1i # made by a lab\n# in 2024' good.csv >table.csv
tutti validate small.ini
expect_usage_error "table.csv:3" "set data.skip_lines = 2"
tutti validate small.ini --set data.skip_lines=2
expect_code 0
tutti validate small.ini --set data.skip_lines=200
expect_usage_error "data.skip_lines" "found only 123 lines"
sed '9s/^[^,]*/high/' table.csv >high.csv
tutti validate small.ini --set data.skip_lines=2 --set data.path=high.csv
expect_usage_error "high.csv:9: row 5, column 'x1'" "found 'high'"
tutti run small.ini --set data.skip_lines=2 --out skipped --quiet
expect_code 0
tutti predict skipped table.csv
expect_code 0
expect_err "nll"
# New rows without the header that the data had.
{ echo; echo; sed 1d good.csv; } >headless.csv
tutti predict skipped headless.csv
expect_usage_error "found numbers in place of names: put the header above the first line, or name the columns"
head -n 3 headless.csv >lonely.csv # one of them
tutti predict skipped lonely.csv
expect_usage_error "expected a header and rows, found numbers in the first line, and no other line" "put the header above it"

: >table.csv
tutti run small.ini
expect_usage_error table.csv

# A class that no training row has.
awk -F, -v OFS=, 'NR == 120 { $5 = "rare" } 1' good.csv >table.csv
printf '%s\n' $(seq 0 79) >train.rows
printf '%s\n' $(seq 80 99) >validation.rows
printf '%s\n' $(seq 100 119) >test.rows
sed 's/^split = .*/train_rows = train.rows\nvalidation_rows = validation.rows\ntest_rows = test.rows/' classes.ini >files.ini
tutti validate files.ini
expect_usage_error rare

# Nothing to compare trials on; a loss that the task does not have.
tutti run small.ini --set "data.split=0.8 0 0.2"
expect_usage_error "--set data.split" "validation rows"
tutti run small.ini --set run.loss=error
expect_usage_error "--set run.loss" "'nll' here"
sed 's/^split = .*/split = 1 0 0/' small.ini >none.ini
tutti run none.ini
expect_usage_error "none.ini:10: data.split" "validation rows"
sed 's/^path = .*/path = nosuch.csv/' small.ini >gone.ini
tutti run gone.ini
expect_usage_error "gone.ini:7: data.path" nosuch.csv

# Diverging training is a failed trial, and a run of nothing else has no ensemble.
cp good.csv table.csv
sed 's/^learning_rate = .*/learning_rate = 1e30/; s/^\[backend\]/[backend]\noptimiser = sgd/' small.ini >diverging.ini
tutti run diverging.ini
expect_code 1
expect_err "none of 6 trials finished"
tutti status runs/small
expect_code 0
expect_out failed
for selector in greedy forward-replace quick-greedy stacking; do
  tutti select runs/small --set selector.plugin=$selector
  expect_code 1
  expect_err "none of 6 trials finished" "trials: diverged"
done

# A run without data has trials, and nothing to select, evaluate or predict.
function_recipe values 0 4 >values.ini
tutti run values.ini --out values --quiet
expect_code 0
for command in select evaluate "predict values"; do
  # shellcheck disable=SC2086
  tutti $command values
  expect_code 2
  expect_err function
done
finish
