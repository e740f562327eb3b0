#!/bin/bash
# A run that has a time (run.time): it ends in it with an ensemble, whatever its sessions were; what a clock says that is set
# does not matter.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
cat >time.ini <<'INI'
[run]
time = 0.05m
window = 4
[data]
plugin = toy-sine
[space]
plugin = mlp
[hyperparameters]
epochs = 20
[calibrator]
plugin = by-task
INI
cat >sleep.ini <<'INI'
[run]
time = 2
[hyperparameters]
x0 = uniform -5 5
x1 = uniform 0 15
[backend]
plugin = function
seconds = 0.2
[builder]
plugin = nes-rs
INI

field() { # RUN KEY...
  "$TUTTI_PROGRAM" status "$1" --json >status.json
  "$json_value" status.json "${@:2}"
}
fact() { "$TUTTI_TEST_BUILDDIR/tests/cli/sql" "$1/catalogue.sqlite" "SELECT value FROM facts WHERE key = '$2'"; }
true_that() { # EXPRESSION OF AWK, WHAT
  checks=$((checks + 1))
  awk "BEGIN { exit !($1) }" || complain "expected $2: $1"
}

tutti run time.ini --out timed --dry-run
expect_code 0
expect_out "trials      as many as 3 s allow"
# The time alone ends it. Nothing that is recorded came later than a twentieth after it, but for the machine's own delays.
tutti run time.ini --out timed --workers 1
expect_code 0
expect_out "Ensemble of"
checks=$((checks + 1)) # half of the time is over when the end is tried out, which says nothing
[ "$(grep -c ' calibrator ' err)" -eq 1 ] || complain "expected one line about the calibrator"
checks=$((checks + 1))
grep -q '^budget = 0 ' timed/recipe.ini || complain "expected no budget in recipe.ini"
grep -q '^time = 3 ' timed/recipe.ini || complain "expected 0.05m to be 3 s"
asked=$(field timed asked)
true_that "$asked >= 2" "trials"
last=0
for ((trial = 0; trial < asked; trial++)); do
  at=$("$json_value" status.json all_trials "$trial" at)
  [ "$at" = null ] && continue
  true_that "$at > $last" "ascending times"
  last=$at
done
true_that "$last <= 3.15 + 0.5" "the last result in time"
true_that "$(fact timed worked) >= $last" "the time that was worked"

# It may be given more, and not less than it had.
tutti run time.ini --out timed --workers 1 --resume --set run.time=1
expect_code 2
expect_err "run.time: timed has worked for" "and 1 s are asked for"
tutti run time.ini --out timed --workers 1 --resume --quiet --set run.time=4
expect_code 0
true_that "$(field timed asked) > $asked" "more trials"
# Or a budget in its place.
more=$(($(field timed asked) + 3))
tutti run time.ini --out timed --resume --quiet --set run.budget=$more --set run.time=inf --json
expect_code 0
expect_json "$more" trials 'done'

# Sleeping trainings: two workers do about 2 x 2 / .2, and what they did is told by the log of each.
tutti run sleep.ini --out slept --workers 2 --quiet
expect_code 0
true_that "$(field slept asked) >= 10 && $(field slept asked) <= 21" "as many as there is time for"
# The time of a manager that was killed counts: five seconds that nobody recorded as results.
"$TUTTI_PROGRAM" run sleep.ini --out killed --workers 1 --quiet --set run.time=60 --set backend.seconds=30 >out 2>err &
manager=$!
for ((i = 0; i < 400; i++)); do
  worked=$(fact killed worked 2>/dev/null)
  [ -n "$worked" ] && awk "BEGIN { exit !($worked > 1) }" && break
  sleep 0.05
done
kill -9 $manager 2>/dev/null
wait $manager 2>/dev/null
tutti run sleep.ini --out killed --resume --set run.time=1 --set backend.seconds=30
expect_code 2
expect_err "run.time: killed has worked for"

# A deadline shorter than one training; with more time the same one is trained.
tutti run sleep.ini --out short --workers 1 --set run.time=1.5 --set backend.seconds=3
expect_code 2
expect_err "run.time: 1.5 s were over before one training had ended: the longest had taken" "what came before it (data, workers to start)" "--resume --set run.time="
tutti run sleep.ini --out short --workers 1 --resume --quiet --set run.time=inf --set run.budget=1 --set backend.seconds=3 --json
expect_code 0
expect_json 1 trials 'done'

# So short that nothing begins; with more time it does. A smaller time than was worked is refused, and nothing else is said.
for way in leave stop; do
  tutti run time.ini --out brief-$way --workers 1 --set run.time=0.001 --set run.unfinished=$way
  expect_code 2
  expect_err "run.time: 0.001 s were over before one training had begun" "--resume --set run.time="
  tutti run time.ini --out brief-$way --workers 1 --resume --quiet --set run.time=3 --set run.unfinished=$way
  expect_code 0
done
tutti run time.ini --out brief-leave --workers 1 --resume --set run.time=0.5
expect_code 2
expect_err "run.time: brief-leave has worked for" "and 0.5 s are asked for"
expect_not_in err "used up"

# Or what is in training stops with its epoch, and may be a member. It goes on nowhere, and is as it was when its torn files
# are made again.
sed 's/^time = .*/time = 6\nunfinished = stop/; s/^epochs = .*/epochs = 1000000\nbatch_size = 1/' time.ini >stop.ini
tutti run stop.ini --out stopped --workers 1 --verbose
expect_code 0
expect_err "run.time: 6 s are over; trainings under way are told to stop with their epoch: 1"
expect_not_in err "left out"
expect_out "1 done, 0 failed, 1 pruned" "Ensemble of 1"
# So it is with other times, whenever epochs end: each has two seconds to stop.
for seconds in 1 2 4; do
  tutti run stop.ini --out "stopped-$seconds" --workers 2 --set "run.time=$seconds" --set hyperparameters.batch_size=64
  expect_code 0
  expect_out "Ensemble of"
done
stops() { "$TUTTI_TEST_BUILDDIR/tests/cli/sql" "$1/catalogue.sqlite" "SELECT number, state, loss, report FROM trials"; }
stops stopped >before.txt
expect_in before.txt '"stopped":{"epoch":' '"why":"run.time is over","keep":true}'
cp -r stopped again
rm again/trials/000000/weights.safetensors
echo torn >again/trials/000000/validation.npy
tutti run stop.ini --out again --workers 2 --resume --set run.time=600 --set run.budget=1
expect_code 0
expect_err "trial 0 is trained again"
expect_not_in err "another machine or build"
stops again >after.txt
checks=$((checks + 3))
cmp -s before.txt after.txt || complain "expected the same trials"
cmp -s stopped/trials/000000/weights.safetensors again/trials/000000/weights.safetensors || complain "expected the same weights"
cmp -s stopped/trials/000000/validation.npy again/trials/000000/validation.npy || complain "expected the same predictions"
# With folds nothing could be a member before the last one: that is said before anything is trained.
for words in "validate stop.ini" "run stop.ini --out stopped-fold"; do
  # shellcheck disable=SC2086
  tutti $words --set data.folds=3
  expect_usage_error "run.unfinished: a training that stops before its last fold" "expected leave"
done
expect_absent stopped-fold
tutti validate stop.ini --set data.folds=3 --set run.unfinished=leave
expect_code 0
# Trainings of a backend that reports no epochs end by themselves, or are left out.
tutti run sleep.ini --out deaf --workers 2 --set run.unfinished=stop --set run.time=1
expect_code 0
tutti validate time.ini --set run.unfinished=keep
expect_usage_error "run.unfinished" "leave" "stop"

# A clock that is set while it runs.
[ -z "${TUTTI_TEST_SANITIZED:-}" ] && [ -e "$TUTTI_TEST_BUILDDIR/tests/faults/.libs/jumping_clock.so" ] && {
  LD_PRELOAD=$TUTTI_TEST_BUILDDIR/tests/faults/.libs/jumping_clock.so tutti run sleep.ini --out jumped --workers 2 --quiet
  expect_code 0
  true_that "$(field jumped asked) >= 10 && $(field jumped asked) <= 21" "as many as there is time for"
  true_that "$(fact jumped worked) > 1 && $(fact jumped worked) < 4" "the time that it took"
}

# Neither of them, or no time.
tutti validate time.ini --set run.time=inf --set run.budget=0
expect_usage_error "a run without an end" "time = 2h"
for wrong in 0 -3 2w h "1 2" 1e; do
  tutti validate time.ini --set "run.time=$wrong"
  expect_usage_error "run.time" "with a unit: s, m, h or d"
done
for right in 90 90s 1.5m "2 h" 1d inf; do
  tutti validate time.ini --set "run.time=$right" --set run.budget=5
  expect_code 0
done

finish
