#!/bin/bash
# Ctrl-C ends a run cleanly, and the command that it names goes on with it; a directory has one manager.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
# Whoever started this test may ignore signals (nohup, or `&` in a script), which a program inherits.
afresh=(env "--default-signal=INT,HUP,TERM")
function_recipe slow 0.5 30 >slow.ini
function_recipe quick 0 30 >quick.ini

# wait_for_trials N: until the run in the background has recorded so many.
wait_for_trials() {
  local i
  for ((i = 0; i < 200; i++)); do
    "$TUTTI_PROGRAM" status runs/slow --json >status 2>/dev/null &&
      [ "$("$json_value" status trials 'done')" -ge "$1" ] && return
    sleep 0.1
  done
}

# wait_for_worker: until the manager in the background trains, however busy the machine is.
wait_for_worker() {
  local i
  for ((i = 0; i < 300; i++)); do
    pgrep -P "$manager" -f ' worker ' >/dev/null && return
    sleep 0.1
  done
}

what="tutti run slow.ini, interrupted"
"${afresh[@]}" "$TUTTI_PROGRAM" run slow.ini --workers 2 >out 2>err &
manager=$!
wait_for_trials 4
cp out before; cp err before.err
tutti run slow.ini --resume
expect_code 2
expect_err "in use by another"
tutti status runs/slow
expect_code 0
expect_out "running"
kill -INT "$manager"
wait "$manager"
code=$?
cp before out; cp before.err err
what="tutti run slow.ini, interrupted"
expect_code 130

# Interrupted once more, now from its own message.
"${afresh[@]}" "$TUTTI_PROGRAM" run slow.ini --resume --workers 1 >out 2>err &
manager=$!
wait_for_worker
kill -INT "$manager"
wait "$manager"
code=$?
what="tutti run slow.ini --resume, interrupted"
expect_code 130
expect_empty out
expect_err "resume with: tutti run runs/slow/recipe.ini --out runs/slow --resume"
tutti run runs/slow/recipe.ini --out runs/slow --resume --workers 8 --json
expect_code 0
expect_json 30 trials 'done'

# SIGTERM and SIGHUP end it as cleanly, unless SIGHUP is ignored, as nohup does.
for signal in TERM HUP; do
  "${afresh[@]}" "$TUTTI_PROGRAM" run slow.ini --out "by-$signal" --workers 1 >out 2>err &
  manager=$!
  wait_for_worker
  kill -$signal "$manager"
  wait "$manager"
  code=$?
  what="tutti run slow.ini, SIG$signal"
  expect_code 130
  expect_err "resume with: tutti run by-$signal/recipe.ini"
done
(trap '' HUP; exec "$TUTTI_PROGRAM" run slow.ini --out ignored --workers 8 >out 2>err) &
manager=$!
wait_for_worker
kill -HUP "$manager"
wait "$manager"
code=$?
what="tutti run slow.ini, with SIGHUP ignored"
expect_code 0

# Commands that only read end as well, and leave nothing behind.
seq 1 2000000 | awk 'BEGIN { print "x1,x2,group,y" } { print $1 % 7 "," $1 % 5 ",a,1" }' >large.csv
make_table
regression_recipe >small.ini
tutti run small.ini --quiet
"$TUTTI_PROGRAM" predict runs/small large.csv --out large.out >out 2>err &
reader=$!
for ((i = 0; i < 300; i++)); do
  find "/proc/$reader/fd" -lname '*/large.csv' 2>/dev/null | grep -q . && break
  sleep 0.1
done
kill -TERM "$reader"
wait "$reader"
code=$?
what="tutti predict, SIGTERM"
expect_code 130
checks=$((checks + 1))
compgen -G "large.out*" >/dev/null && complain "expected no file large.out*"

# The same trials as a run that was left alone.
tutti run slow.ini --out alone --set hyperparameters.seconds=0 --quiet --json
expect_code 0
"$json_value" out best loss >alone.loss
"$json_value" runs/slow/summary.json best loss >slow.loss
checks=$((checks + 1))
cmp -s alone.loss slow.loss || complain "expected the same best loss"
finish
