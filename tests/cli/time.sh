#!/bin/bash
# A run ends after a time (run.time), in whatever sessions it was worked off, and says when each result came.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
cat >time.ini <<'INI'
[run]
budget = 100000
window = 2
time = 1.5
[data]
plugin = toy-sine
[space]
plugin = mlp
[hyperparameters]
epochs = 2
INI

field() { # RUN KEY...
  "$TUTTI_PROGRAM" status "$1" --json >status.json
  "$json_value" status.json "${@:2}"
}

tutti run time.ini --out timed --workers 1
expect_code 0
asked=$(field timed asked)
checks=$((checks + 1))
if [ "$asked" -lt 2 ] || [ "$asked" -ge 100000 ]; then complain "expected the run to end early: $asked of 100000 trials"; fi
last=0
for ((trial = 0; trial < asked; trial++)); do
  at=$("$json_value" status.json all_trials "$trial" at)
  checks=$((checks + 1))
  awk -v at="$at" -v last="$last" 'BEGIN { exit !(at > last) }' || complain "trial $trial: $at seconds, after $last"
  last=$at
done
checks=$((checks + 1)) # those in training when the time was over are finished
awk -v at="$last" 'BEGIN { exit !(at >= 1.5) }' || complain "the last result came after $last seconds, before the time"

# No more is begun in another session.
tutti run time.ini --out timed --workers 1 --resume
expect_code 0
checks=$((checks + 1))
[ "$(field timed asked)" = "$asked" ] || complain "expected $asked trials still, found $(field timed asked)"

finish
