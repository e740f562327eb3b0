#!/bin/bash
# Looking at a run that is at work: what its workers are at, and an ensemble of what is there already.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
# Short trainings first (the builder proposes them from its seed), then ones that would take for ever.
regression_recipe >live.ini
"$TUTTI_PROGRAM" run live.ini --out live --workers 2 --quiet --set run.seed=7 --set run.budget=40 --set selector.size=2 \
  --set "hyperparameters.epochs=choice 3 4 1000000" --set hyperparameters.early_stopping=0 >run.out 2>run.err </dev/null &
manager=$!

# Wait until both workers have such a training.
field() { "$json_value" status.json "$@" 2>/dev/null; }
for ((i = 0; i < 100; i++)); do
  "$TUTTI_PROGRAM" status live --json >status.json 2>/dev/null
  [ "$(field live training 1 epochs)" = 1000000 ] && [ "$(field live training 0 epochs)" = 1000000 ] &&
    [ "$(field live training 1 epoch)" -gt 0 ] && [ "$(field live training 0 epoch)" -gt 0 ] && break
  sleep 0.1
done
what="status of a run at work"
cp status.json out
expect_json true running
expect_json 2 live workers
expect_json 1000000 live training 0 epochs
tutti status live
expect_code 0
expect_out "running" "workers     2 of 2 at work" "trials/s" "worker 0" "worker 1" "of 1000000" "validation loss" "(standardised)"

# Anytime: an ensemble of what has ended, and its predictions.
tutti select live --json
expect_code 0
cp out chosen.json
tutti predict live table.csv --ensemble chosen.json
expect_code 0
expect_out "mean" "epistemic"
tutti predict live table.csv
expect_code 2
expect_err "live has no ensemble yet: it is at work" "tutti select live --json > now.json" "--ensemble now.json"

# Piped, --watch is plain text, one picture after the other, until the run stops.
"$TUTTI_PROGRAM" status live --watch >watched.txt 2>watched.err </dev/null &
watcher=$!
for ((i = 0; i < 100; i++)); do
  [ "$(grep -c "at work" watched.txt)" -ge 2 ] && break
  sleep 0.1
done
kill -9 $manager
wait $manager 2>/dev/null
wait $watcher
code=$?
what="tutti status live --watch"
expect_code 0
expect_in watched.txt "of 40 done" "best        trial" "workers     2 of 2 at work"
expect_not_in watched.txt $'\033'
checks=$((checks + 1))
tail -n 12 watched.txt | grep -q "best " || complain "expected a last picture after the run"
in_terminal "'$TUTTI_PROGRAM' status live --watch"
expect_in out $'\033[H' "of 40 done"

# What a killed manager left is not taken for news.
checks=$((checks + 1))
[ -e live/live.json ] || complain "expected the killed manager's live.json"
tutti status live --json
expect_json false running
expect_not_in out '"utilisation"'
echo '{"workers": ' >live/live.json
tutti status live
expect_code 0
expect_out "not running" "of them have no result; to go on: tutti run live/recipe.ini --out live --resume" " finished "
expect_not_in out "asked   "
tutti predict live table.csv
expect_code 2
expect_err "live has no ensemble yet: finish the run with --resume"

finish
