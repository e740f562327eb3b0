#!/bin/bash
# What predictions take is measured once and recorded: whatever is done with a run later chooses by the same numbers, also after
# a kill, and of trials that are trained again. Runs that have none say what to do, and --resume measures them.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
find_numpy
make_table
# times RUN: the trials that are done, each with its microseconds.
times() { sql "$1" "SELECT number, printf('%!.17g', json_extract(report, '\$.microseconds')) FROM trials WHERE state IS NOT NULL ORDER BY number"; }
# results RUN: all but times.
results() {
  sql "$1" "SELECT number, candidate, parent, origin, asked_after, state, loss, told, json_remove(report, '\$.microseconds') FROM trials"
}
same() { # FILE FILE WHAT
  checks=$((checks + 1))
  cmp -s "$1" "$2" || complain "expected the same $3"
}
regression_recipe | sed 's/^plugin = forward/plugin = within-cost\nchosen_by = forward/; s/^size = .*//; s/^budget = .*/budget = 12/' >small.ini
cat >>small.ini <<'INI'
cost = microseconds
max_cost = 1e6
[chosen_by]
size = 3
INI

# --- a selector that chooses by times has them measured; it is the same search ---
tutti run small.ini --quiet --out timed
expect_code 0
times timed >timed.times
checks=$((checks + 1))
[ "$(awk -F'|' '$2 > 0' timed.times | wc -l)" = 12 ] || complain "expected 12 times above 0"
tutti run small.ini --quiet --out plain --set selector.max_cost=0
expect_code 0
results timed >timed.results
results plain >plain.results
same timed.results plain.results "trials with times and without"
checks=$((checks + 1))
[ -z "$(times plain | awk -F'|' '$2 > 0')" ] || complain "expected no times where nobody asks for them"
"$python" -c 'import json; print(json.load(open("timed/ensemble.json"))["members"])' >timed.members
"$python" -c 'import json; print(json.load(open("plain/ensemble.json"))["members"])' >plain.members
same timed.members plain.members "members where the limit leaves out none"

# The catalogue decides, and nothing else: with other numbers there, other members are left out.
least=$(awk -F'|' '{print $2}' timed.times | sort -g | head -1)
tutti select timed --json --set selector.max_cost="$least"
expect_code 0
checks=$((checks + 1))
[ "$("$python" -c 'import json; print(*[m["trial"] for m in json.load(open("out"))["members"]])')" = \
  "$(awk -F'|' -v least="$least" '$2 == least {print $1}' timed.times)" ] || complain "expected the fastest model alone"

# They are of one row: twenty times as many rows to predict take no longer each.
{ head -1 table.csv && for i in {1..20}; do tail -n +2 table.csv; done; } >large.csv
tutti run small.ini --quiet --out large --set data.path=large.csv
expect_code 0
middle_of() { times "$1" | awk -F'|' '{print $2}' | sort -g | sed -n 6p; }
checks=$((checks + 1))
awk -v large="$(middle_of large)" -v small="$(middle_of timed)" 'BEGIN { exit !(large < 3 * small) }' ||
  complain "expected times of one row, not of all: $(middle_of large) of 480 rows, $(middle_of timed) of 24"
# The clock that is read is a fine one also where processor time is limited.
what="tutti run, with a limit on processor time"
(ulimit -S -t 60 && exec "$TUTTI_PROGRAM" run small.ini --quiet --out limited >out 2>err)
code=$?
expect_code 0
checks=$((checks + 1))
[ "$(times limited | awk -F'|' '$2 > 0' | wc -l)" = 12 ] || complain "expected 12 times above 0 with a limit on processor time"

# --- of folds, the models together; of trials whose weights are not kept, too ---
tutti run small.ini --quiet --out folds --set data.folds=4 --set run.budget=3 --set run.keep_weights=no
expect_code 0
checks=$((checks + 1))
[ "$(times folds | awk -F'|' '$2 > 0' | wc -l)" = 3 ] || complain "expected 3 times"

# --- killed while it searches, it keeps the times that were recorded, and measures the others ---
sed 's/^epochs = .*/epochs = 4000/' small.ini >slow.ini
"$TUTTI_PROGRAM" run slow.ini --quiet --out killed --workers 1 >/dev/null 2>&1 &
manager=$!
for ((i = 0; i < 600; i++)); do
  [ "$(times killed 2>/dev/null | wc -l)" -lt 3 ] || break
  sleep 0.05
done
kill -9 $manager
wait $manager 2>/dev/null
times killed >before
checks=$((checks + 1))
if [ "$(wc -l <before)" -lt 3 ] || [ "$(wc -l <before)" -ge 12 ]; then complain "expected a kill between trial 3 and the end"; fi
tutti run slow.ini --quiet --out killed --resume
expect_code 0
times killed >after
head -n "$(wc -l <before)" after >kept
same before kept "times as before the kill"
checks=$((checks + 1))
[ "$(awk -F'|' '$2 > 0' after | wc -l)" = 12 ] || complain "expected 12 times after the end"

# --- whatever is done again gives the same ensemble ---
middle=$(awk -F'|' '{print $2}' timed.times | sort -g | sed -n 8p)
tutti select timed --keep --set selector.max_cost="$middle"
expect_code 0
for file in ensemble.json summary.json; do cp timed/$file kept-$file; done
tutti select timed --keep --set selector.max_cost="$middle"
expect_code 0
for file in ensemble.json summary.json; do same timed/$file kept-$file "$file"; done
# A trial that is trained again, since its files are torn, keeps its time.
tutti run small.ini --quiet --out timed --resume
expect_code 0
cp timed/ensemble.json whole.json
for trial in 000000 000003 000007; do truncate -s 100 timed/trials/$trial/weights.safetensors; done
tutti run small.ini --out timed --resume
expect_code 0
expect_err "trial 3 is trained again"
times timed >again.times
same timed.times again.times "times of trials that were trained again"
same timed/ensemble.json whole.json "ensemble"
tutti run small.ini --quiet --out timed --resume --set run.time_predictions=yes
times timed >again.times
same timed.times again.times "times: none is measured twice"

# --- a run that has none ---
limit=(--set selector.plugin=within-cost --set selector.cost=microseconds --set selector.max_cost=1e6)
tutti select plain "${limit[@]}"
expect_code 2
expect_err "none of the 12 models is known in microseconds" "--resume --set run.time_predictions=yes"
tutti curve plain --costs microseconds
expect_code 2
expect_err "--resume --set run.time_predictions=yes"
rm plain/trials/000004/weights.safetensors
tutti run small.ini --out plain --resume --set run.time_predictions=yes --set selector.max_cost=0
expect_code 0
results plain >plain.results
same timed.results plain.results "trials after measuring"
checks=$((checks + 1))
[ "$(times plain | awk -F'|' '$2 > 0' | wc -l)" = 12 ] || complain "expected 12 times after --resume"
tutti select plain "${limit[@]}"
expect_code 0
tutti curve plain --costs microseconds
expect_code 0
# Some without: they are left out, and a warning says so.
tutti run small.ini --quiet --out some --set run.budget=4 --set run.keep_weights=no --set selector.max_cost=0
tutti run small.ini --quiet --out some --resume --set run.budget=6 --set run.keep_weights=no --set selector.max_cost=0 \
  --set run.time_predictions=yes
expect_code 0
tutti select some "${limit[@]}"
expect_code 0
unknown="models are left out, since their cost is not known in microseconds"
expect_err "4 of 6 $unknown" "--resume --set run.time_predictions=yes"
# A curve says so, too, and once, whatever limit its selector has.
for most in 0 1e6; do
  tutti curve some --costs microseconds --set selector.max_cost=$most
  expect_code 0
  expect_err "4 of 6 $unknown" "--resume --set run.time_predictions=yes"
  checks=$((checks + 1))
  [ "$(grep -c "not known" err)" = 1 ] || complain "expected one warning"
done
tutti curve some --costs flops
expect_code 0
expect_not_in err "not known"
tutti run small.ini --quiet --out most --set run.budget=5 --set selector.max_cost=0 --set run.time_predictions=yes
tutti run small.ini --quiet --out most --resume --set run.budget=6 --set selector.max_cost=0
expect_code 0
tutti curve most --costs microseconds
expect_code 0
expect_err "1 of 6 models is left out, since its cost is not known in microseconds"
tutti run small.ini --out most --resume --set run.budget=6 --set selector.max_cost=0 --set run.time_predictions=yes --verbose
expect_code 0
expect_err "was measured of 1 trial that had been trained"
finish
