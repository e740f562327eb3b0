# executor simulated: the results of local workers, in no time, with durations of one's own.
# shellcheck shell=bash
# shellcheck source=tests/cli/harness.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
# shellcheck source=tests/cli/recipes.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
sql=$TUTTI_TEST_BUILDDIR/tests/cli/sql

function_recipe function 0 120 | sed 's/^\[run\]/[run]\nwindow = 30/' >function.ini
tutti run function.ini --out local --workers 2 --quiet
expect_code 0

# Whatever it simulates, the results are those of real workers.
for workers in 1 25; do
  tutti run function.ini --out "s$workers" --workers $workers --quiet -v --set executor.plugin=simulated \
    --set executor.mean=1e4 --set executor.deviation=2e3
  expect_code 0
  expect_err 'info: manager: 120 asks in' 'info: executor simulated: {"trainings": 120, "workers": '"$workers"','
  what="the results of $workers simulated workers"
  checks=$((checks + 1))
  diff local/summary.json "s$workers/summary.json" >>err ||
    complain 'expected the summary of local workers'
done

# Without a window to wait for, one worker is busy all the time; each training takes as long as the file says.
printf '20\r\n\r\n40\n' >durations
tutti run function.ini --out file --workers 1 --quiet -v --set executor.plugin=simulated --set executor.durations=durations
expect_code 0
checks=$((checks + 1))
grep -qE '"utilisation_until_last_request": (1\.0|0\.99)' err || complain 'expected that the worker is always busy'
"$sql" file/catalogue.sqlite 'SELECT DISTINCT seconds FROM trials ORDER BY seconds' >out 2>err
what='durations of a file'
checks=$((checks + 1))
[ "$(tr '\n' ' ' <out)" = '20.0 40.0 ' ] || complain 'expected trainings of 20 and of 40 s'

# Or as long as those of a run did that have a result.
cp -r file cut
"$sql" cut/catalogue.sqlite 'UPDATE trials SET state = NULL, seconds = 7 WHERE number % 2 = 0' >out 2>err
tutti run function.ini --out recorded --workers 1 --quiet --set executor.plugin=simulated --set executor.durations=cut
expect_code 0
"$sql" recorded/catalogue.sqlite 'SELECT DISTINCT seconds FROM trials ORDER BY seconds' >out 2>err
what='durations of a run'
checks=$((checks + 1))
[ "$(tr '\n' ' ' <out)" = '20.0 40.0 ' ] || complain 'expected trainings of 20 and of 40 s'

# A training that would take too long is one that timed out; a time is one of the simulated clock.
tutti run function.ini --out late --quiet --set executor.plugin=simulated --set executor.durations=durations \
  --set run.trial_timeout=30 --workers 4
expect_code 0
tutti status late --json
expect_out 'took longer than run.trial_timeout = 30 s'
tutti run function.ini --out hour --quiet --set executor.plugin=simulated --set executor.mean=60 --set executor.shape=constant \
  --workers 1 --set run.time=1h --set run.budget=0
expect_code 0
tutti status hour --json
done=$("$json_value" out trials done 2>&1)
checks=$((checks + 1))
{ [ "$done" -ge 50 ] && [ "$done" -le 63 ]; } || complain "expected about 60 trainings of a minute in an hour, found $done"

tutti run function.ini --out bad --set executor.plugin=simulated --set executor.deviation=5
expect_code 2
expect_err 'deviation = 5: expected a mean above 0 beside it'
echo 20 minutes >durations
tutti run function.ini --out bad --set executor.plugin=simulated --set executor.durations=durations
expect_code 2
expect_err 'durations, line 1: expected one number of seconds, at least 0'
: >durations
tutti run function.ini --out bad --set executor.plugin=simulated --set executor.durations=durations
expect_code 2
expect_err 'durations has none'
tutti run function.ini --out bad --set executor.plugin=simulated --set executor.durations=nowhere
expect_code 2
expect_err 'cannot read'
mkdir empty
tutti run function.ini --out bad --set executor.plugin=simulated --set executor.durations=empty
expect_code 2
expect_err 'empty/catalogue.sqlite of a run: unable to open'
expect_absent bad
finish
