# pages.sh - sourced: looks into the pages of tutti report, and compares.
# shellcheck shell=bash
# shellcheck disable=SC2034 # of the harness

# expect_page PAGE: the page is in order; its CSV files are in the folder PAGE.csv.
expect_page() {
  what="report.py $1"
  rm -rf "$1.csv"
  python3 "$TUTTI_TEST_SRCDIR/tests/cli/report.py" "$1" "$1.csv" >out 2>err
  code=$?
  expect_code 0
  expect_out "page:"
}
# expect_equal WHAT A B
expect_equal() {
  what="$1"
  checks=$((checks + 1))
  [ "$2" = "$3" ] || complain "expected $2, found $3"
}
# column FILE NAME: the numbers of a column, one a line
column() {
  python3 -c '
import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    print(row[sys.argv[2]])' "$1" "$2"
}
# of_json FILE EXPRESSION: what a Python expression of the parsed file j gives, one a line
of_json() {
  python3 -c '
import json, sys
j = json.load(open(sys.argv[1]))
for value in eval(sys.argv[2]):
    print("" if value is None else value)' "$1" "$2"
}
