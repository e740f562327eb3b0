#!/bin/bash
# run.map_inputs: workers map the inputs that the manager has read, and need the data no more. The bits are those of
# workers that read the data; the files are there while the run is at work, and mended when it goes on. Where there is
# no room for them, workers read the data after all; what is no such file ends the run.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
regression_recipe >small.ini
classification_recipe >classes.ini

# expect_same_run A B
expect_same_run() {
  what="$1 and $2"
  checks=$((checks + 1))
  diff -r -x 'catalogue.sqlite*' -x recipe.ini -x lock -x worker.log -x live.json "$1" "$2" >out 2>err ||
    complain 'expected the same bits'
}

for recipe in small classes; do
  for least in 1e9 0; do
    tutti run $recipe.ini --out $recipe-$least --workers 2 --quiet --set run.map_inputs=$least
    expect_code 0
    expect_empty err
    expect_absent $recipe-$least/inputs
  done
  expect_same_run $recipe-1e9 $recipe-0
done

# No room: inputs of 480 KiB to train on, where a file has 400 at most. Nothing else is as large.
awk 'BEGIN {
  for (i = 0; i < 4096; i++) {
    for (j = 0; j < 50; j++) printf "%.4f,", sin(i * 12.9898 + j * j)
    print i % 2
  }
}' >wide.csv
sed 's/^path = .*/path = wide.csv\nheader = no/; s/^target = .*/target = x50/; /^ignore/d' small.ini >wide.ini
tutti run wide.ini --out wide-1e9 --workers 1 --quiet --set run.map_inputs=1e9
expect_code 0
(ulimit -f 400 && tutti run wide.ini --out wide-0 --workers 1 --quiet --set run.map_inputs=0; exit $code)
code=$?
expect_code 0
expect_err 'wide-0: no room for 0.8 MiB of inputs that workers would map; each worker reads the data itself'
expect_not_in err 'make room' # the run goes on without
expect_absent wide-0/inputs
expect_same_run wide-1e9 wide-0

# The same in longer, which is disturbed.
sed -i 's/^epochs = .*/epochs = 3000/' small.ini
tutti run small.ini --out whole --workers 1 --quiet --set run.map_inputs=1e9
expect_code 0

# start DIRECTORY LEAST: a run of one worker, until it has a trial.
start() {
  what="a run in $1"
  "$TUTTI_PROGRAM" run small.ini --out "$1" --workers 1 --quiet --set "run.map_inputs=$2" >out 2>err </dev/null &
  job=$!
  for ((tries = 0; tries < 600; tries++)); do
    [ -e "$1/trials/000000/validation.npy" ] && break
    sleep 0.1
  done
}

# begin DIRECTORY: one that maps.
begin() {
  start "$1" 0
  expect_in "$1/inputs/inputs.json" fingerprint
  checks=$((checks + 1))
  [ "$(stat -c %s "$1/inputs/train.npy")" -gt $((72 * 5 * 4)) ] || complain 'expected the inputs of 72 rows'
}

start few 16
expect_absent few/inputs
kill -KILL $job
wait $job 2>/dev/null

begin gone
mv table.csv away.csv
pkill -KILL -P $job -f ' worker gone$'
wait $job
code=$?
expect_code 0
expect_absent gone/inputs
expect_in gone/worker.log 'the worker was killed by signal 9' 'the trial is tried again' # it cannot say so itself
mv away.csv table.csv
expect_same_run whole gone

# refused DIRECTORY CODE TEXT...: a worker is killed, and what the next one would find is refused, with these texts: by the
# manager, which looks whether the files are whole, or else by the worker.
refused() {
  pkill -KILL -P $job -f " worker $1\$"
  wait $job
  code=$?
  expect_code "$2"
  expect_err "${@:3}"
  expect_absent "$1/inputs"
}

begin torn
truncate -s 100 torn/inputs/train.npy
refused torn 1 'torn/inputs/train.npy'
tutti run small.ini --out torn --workers 1 --quiet --resume --set run.map_inputs=0
expect_code 0
expect_same_run whole torn

# Workers that map a file which becomes shorter are killed. That is no trial's fault: the run ends, also where another worker
# is alive, which has mapped it, too.
sed 's/^epochs = .*/epochs = 4000/' small.ini >long.ini
tutti run long.ini --out long --workers 2 --quiet --set run.map_inputs=1e9
expect_code 0
"$TUTTI_PROGRAM" run long.ini --out shorter --workers 2 --quiet --set run.map_inputs=0 --set run.retries=0 >out 2>err </dev/null &
job=$!
what='a run whose inputs become shorter'
for ((tries = 0; tries < 600; tries++)); do
  [ -e shorter/trials/000000/validation.npy ] && break
  sleep 0.1
done
truncate -s 0 shorter/inputs/train.npy
wait $job
code=$?
expect_code 1
expect_err 'killed by signal 7 (Bus error), and a file that workers map was changed: ' 'shorter/inputs/train.npy' 'go on with --resume'
expect_absent shorter/inputs
"$TUTTI_PROGRAM" status shorter --json >out 2>err
expect_out '"state": '
expect_not_in out '"state": "failed"'
tutti run long.ini --out shorter --workers 2 --quiet --resume --set run.map_inputs=0
expect_code 0
expect_same_run long shorter

begin fewer
cp fewer/inputs/test.npy fewer/inputs/train.npy.tmp
mv fewer/inputs/train.npy.tmp fewer/inputs/train.npy
refused fewer 2 'split train: expected the inputs of 72 rows, 5 float32 each'

begin elsewhere
mv elsewhere/inputs/train.npy train.npy
ln -s ../../train.npy elsewhere/inputs/train.npy
refused elsewhere 1 'elsewhere/inputs/train.npy: expected a regular file of the run directory, found a link'

begin killed
kill -KILL $job
wait $job 2>/dev/null
what='a run whose manager was killed'
echo '{"fingerprint": "1", "rows": "2"}' >killed/inputs/inputs.json
tutti run small.ini --out killed --workers 1 --quiet --resume --set run.map_inputs=1e9
expect_code 0
expect_absent killed/inputs
expect_same_run whole killed
finish
