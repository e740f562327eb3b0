#!/bin/bash
# tutti cancel: trainings end, whoever trains them and wherever they wait; the run goes on, with the same bits for any number
# of workers and after a kill; what cannot be cancelled.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
# Those that sleep for 500 s are cancelled: a third of them.
function_recipe cancel 0 12 | sed 's/^seconds = .*/seconds = choice 0.01 0.02 500/; s/^\[run\]/&\nwindow = 4/' >sleep.ini
same() { # RUN RUN
  same_trials "$1" "$2"
  same_file "$1/summary.json" "$2/summary.json"
}
sleepers() { sql "$1" "SELECT number FROM trials WHERE state IS NULL AND candidate LIKE '%\"500\"%'" 2>/dev/null | xargs; }
# cancel_all DIRECTORY PID: whatever of the run sleeps for long, until the process ends.
cancel_all() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    kill -0 "$2" 2>/dev/null || break
    # shellcheck disable=SC2046
    [ -z "$(sleepers "$1")" ] || "$TUTTI_PROGRAM" cancel "$1" $(sleepers "$1") >>cancelled 2>&1 </dev/null
    sleep 0.1
  done
  wait "$2"
  code=$?
}
begin() { # DIRECTORY WORKERS ARGUMENTS...
  what="a run in $1 with $2 workers, cancelled"
  "$TUTTI_PROGRAM" run sleep.ini --out "$1" --workers "$2" "${@:3}" >out 2>err </dev/null &
  job=$!
}

# One worker: most of them are cancelled before they begin. Three: they are killed.
for workers in 1 3; do
  begin "by-$workers" $workers --verbose
  cancel_all "by-$workers" $job
  expect_code 0
  expect_out '12 done, ' 'cancelled (tutti cancel)'
  expect_err 'is cancelled'
  expect_absent "by-$workers/cancel"
  checks=$((checks + 1))
  ! pgrep -f " worker by-$workers\$" >/dev/null || complain 'expected no workers'
done
same by-1 by-3
expect_in cancelled 'is being cancelled.'
checks=$((checks + 1))
cancelled=$(sql by-1 "SELECT count(*) FROM trials WHERE failure = 'cancelled (tutti cancel)' AND state = 'failed' AND report = '{}'")
sleep_long=$(sql by-1 "SELECT count(*) FROM trials WHERE candidate LIKE '%\"500\"%'")
if [ "$cancelled" -le 1 ] || [ "$cancelled" -ne "$sleep_long" ]; then
  complain "expected that those which sleep are cancelled, found $cancelled"
fi
tutti status by-1
expect_out "$cancelled failed" "cancelled (tutti cancel)"
# Nobody trains them again.
tutti run sleep.ini --out by-1 --resume --quiet
expect_code 0
same by-1 by-3

# The manager is killed when some are cancelled. Others are cancelled while none is at work, and when the run goes on, they do not begin.
begin killed 2 --quiet
for ((tries = 0; tries < 300; tries++)); do
  [ -n "$(sleepers killed)" ] && break
  sleep 0.1
done
first=$(sleepers killed)
# shellcheck disable=SC2086
tutti cancel killed $first
expect_code 0
kill -KILL $job
wait $job 2>/dev/null
cp -r killed asleep
left=$(sleepers asleep)
if [ -n "$left" ]; then
  # shellcheck disable=SC2086
  tutti cancel asleep $left
  expect_code 0
  expect_out "is cancelled when the run goes on (--resume): it is not at work now."
fi
for name in killed asleep; do
  "$TUTTI_PROGRAM" run sleep.ini --out $name --workers 2 --resume --quiet >out 2>err </dev/null &
  cancel_all $name $!
  expect_code 0
  same by-1 $name
done

# Who reports epochs is asked to stop, and keeps its worker; nothing of it stays. So it is with folds, whose later models
# report none: there the worker ends.
regression_recipe | sed 's/^epochs = .*/epochs = 1000000\nbatch_size = 1/; s/^budget = .*/budget = 2/; s/^size = .*/size = 2/; s/^\[run\]/&\nwindow = 2/' >epochs.ini
make_table
for folds in 0 3; do
  what="a run with $folds folds, cancelled"
  "$TUTTI_PROGRAM" run epochs.ini --out "epochs-$folds" --workers 1 --verbose --set data.folds=$folds >out 2>err </dev/null &
  job=$!
  for ((tries = 0; tries < 300; tries++)); do
    grep -q '"epoch":[1-9]' "epochs-$folds/live.json" 2>/dev/null && break
    sleep 0.1
  done
  pid=$(pgrep -f " worker epochs-$folds\$" | head -n 1)
  "$TUTTI_PROGRAM" cancel "epochs-$folds" 0 >>cancelled 2>&1 </dev/null
  for ((tries = 0; tries < 100; tries++)); do
    [ "$(sql "epochs-$folds" "SELECT state FROM trials WHERE number = 0" 2>/dev/null)" = failed ] && break
    sleep 0.1
  done
  checks=$((checks + 2))
  [ "$(sql "epochs-$folds" "SELECT failure FROM trials WHERE number = 0")" = 'cancelled (tutti cancel)' ] ||
    complain 'expected that trial 0 is cancelled'
  [ "$(pgrep -f " worker epochs-$folds\$" | head -n 1)" = "$pid" ] || complain 'expected that its worker goes on'
  expect_absent "epochs-$folds/trials/000000"
  "$TUTTI_PROGRAM" cancel "epochs-$folds" 1 >>cancelled 2>&1 </dev/null
  wait $job
  code=$?
  expect_code 1
  expect_err 'none of 2 trials finished' '2 trials: cancelled (tutti cancel)'
done

# What cannot be cancelled. That one has ended in the meantime does not keep the others from being cancelled.
tutti cancel by-1 0
expect_code 2
expect_err 'trial 0 of by-1 has its result'
begin partly 3 --quiet
for ((tries = 0; tries < 300; tries++)); do
  [ -n "$(sleepers partly)" ] && [ "$(sql partly "SELECT count(*) FROM trials WHERE state IS NOT NULL" 2>/dev/null)" -gt 0 ] && break
  sleep 0.1
done
kill -KILL $job
wait $job 2>/dev/null
done=$(sql partly "SELECT min(number) FROM trials WHERE state IS NOT NULL") left=$(sleepers partly)
tutti cancel partly "$done" "${left%% *}"
expect_code 2
expect_err "trial $done of partly has its result"
expect_out "Trial ${left%% *} is cancelled when the run goes on"
checks=$((checks + 1))
[ -e "$(printf 'partly/cancel/%06d' "${left%% *}")" ] || complain "expected that trial ${left%% *} is cancelled"
rm -r partly
tutti cancel by-1 12
expect_code 2
expect_err 'by-1 has no trial 12 yet: 12 are there, numbered from 0'
for wrong in -- x 1x '' 99999999999999999999; do
  tutti cancel by-1 "$wrong"
  expect_code 2
  expect_err 'tutti cancel: expected a run directory, and numbers of its trials'
done
tutti cancel nowhere 1
expect_code 2
expect_err 'nowhere: expected a run directory'
expect_absent by-1/cancel
# What others leave in the folder harms nothing.
cp -r killed odd
"$TUTTI_TEST_BUILDDIR/tests/cli/sql" odd/catalogue.sqlite "SELECT 1" >/dev/null
mkdir odd/cancel
: >odd/cancel/000003
: >odd/cancel/3
: >odd/cancel/999999
tutti run sleep.ini --out odd --resume --quiet
expect_code 0
same by-1 odd
checks=$((checks + 1))
[ "$(ls odd/cancel)" = 3 ] || complain 'expected that a file of another name stays'
rm -r odd/cancel
ln -s /tmp odd/cancel
tutti run sleep.ini --out odd --resume --quiet
expect_error
expect_err 'odd/cancel: expected a folder of the run directory, found a link'
finish
