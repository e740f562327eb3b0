#!/bin/bash
# A run does not take data from a pipe, which it could not read again; what reads data once does. An interrupt ends
# whoever waits: for a pipe's writer, for plugins, for the rows of a prediction.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
regression_recipe >small.ini
mkfifo pipe.csv
tutti run small.ini --set "data.path=$PWD/pipe.csv" --out none
expect_usage_error "data.path: $PWD/pipe.csv is a pipe, and a run reads its data more than once; put them into a file"
expect_absent none
tutti validate small.ini --set "data.path=$PWD/pipe.csv"
expect_usage_error "data.path: $PWD/pipe.csv is a pipe, and a run reads its data more than once; put them into a file"
tutti run small.ini --quiet
expect_code 0
cat table.csv >pipe.csv &
tutti predict runs/small pipe.csv --out by-pipe.csv
expect_code 0
wait
tutti predict runs/small table.csv --out by-file.csv
checks=$((checks + 1))
cmp -s by-pipe.csv by-file.csv || complain "expected the same predictions"

# interrupted WORD...: a command that takes longer is ended by one signal.
interrupted() {
  what="tutti $*, interrupted"
  "$TUTTI_PROGRAM" "$@" >out 2>err </dev/null &
  local child=$!
  sleep "$delay"
  kill -TERM "$child"
  wait "$child"
  code=$?
  expect_code 130
  expect_empty out
}
delay=0.7
interrupted predict runs/small pipe.csv
mkdir plugins
cp "$TUTTI_TEST_BUILDDIR/tests/faults/.libs/broken.so" plugins/selector-hangs.so
export TUTTI_PLUGIN_PATH=$PWD/plugins
interrupted list
interrupted doctor
finish
