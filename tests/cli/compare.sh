#!/bin/bash
# tutti compare: how runs are grouped, the figures, what is left out, wrong usage.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
regression_recipe >small.ini

run() { # NAME OPTION...
  tutti run small.ini --quiet --out "runs/$1" "${@:2}"
  expect_code 0
}
for seed in 1 2 3; do
  run "forward-$seed" --set run.seed=$seed
  run "top-$seed" --set run.seed=$seed --set selector.plugin=top-m
done

# Variants differ in what is swapped, and nothing else is shown; a folder stands for the runs in it.
tutti compare runs
expect_code 0
expect_empty err
expect_out "6 runs: 2 variants, 1 data set, 3 blocks" "selector.plugin" "forward" "top-m" "nll (lower is better)" "rmse"
expect_not_in out "selector.size"
expect_not_in out "run.seed"
expect_not_in out "Left out"
cp out folder
tutti compare runs/forward-1 runs/forward-2 runs/forward-3/ runs/top-1 runs/top-2 runs/top-3 runs/forward-1/../forward-2
expect_code 0
checks=$((checks + 1))
cmp -s out folder || complain "expected the same from the runs one by one"

# The figures, recomputed.
tutti compare runs --json
expect_code 0
expect_json forward variants 0 settings selector.plugin
expect_json 3 variants 1 runs
cp out json
value_of() { "$json_value" "$1" "${@:2}"; } # FILE KEY...
test_nll() { # RUN
  local i
  for i in 0 1; do
    [ "$(value_of "runs/$1/summary.json" evaluation "$i" split)" = test ] &&
      value_of "runs/$1/summary.json" evaluation "$i" metrics 0 value
  done
}
[ "$(value_of json metrics 0 name)" = nll ] || complain "expected nll to be the first metric"
for seed in 1 2 3; do
  echo "$(test_nll forward-$seed) $(test_nll top-$seed)"
done >pairs
while read -r key column found; do
  checks=$((checks + 1))
  awk -v column="$column" -v key="$key" -v found="$found" '
    { n++; s += $column; q += $column * $column; if ($1 < $2) w++; if ($1 == $2) t++ }
    END {
      if (key == "mean") e = s / n
      if (key == "error") e = sqrt((q - s * s / n) / (n - 1) / n)
      if (key == "frequency") e = (w + t / 2) / n
      if (key == "rank") e = column == 1 ? 1 + (n - w - t / 2) / n : 1 + (w + t / 2) / n
      exit !(found - e < 1e-9 && e - found < 1e-9)
    }' pairs || complain "$key of column $column: found $found"
done <<END
mean 1 $(value_of json metrics 0 placings 0 mean)
mean 2 $(value_of json metrics 0 data_sets 0 1 mean)
error 1 $(value_of json metrics 0 placings 0 error)
error 2 $(value_of json metrics 0 placings 1 error)
rank 1 $(value_of json metrics 0 placings 0 rank)
rank 2 $(value_of json metrics 0 placings 1 rank)
frequency 0 $(value_of json metrics 0 duels 0 frequency)
END

# Metrics after a calibrator stand behind those before; a run without one predicts as it is, so that both are the same. What
# a calibrator does not change is not shown.
for seed in 1 2; do
  run "scaled/$seed" --set run.seed=$seed --set calibrator.plugin=variance-scaling --set calibrator.least_rows=5 \
    --set evaluation.folds=0
  mkdir -p plain && cp -r "runs/forward-$seed" plain/
done
tutti compare runs/scaled plain
expect_code 0
expect_out "calibrated-nll (lower is better)"
expect_not_in out "calibrated-rmse"
tutti compare runs/scaled plain --json
expect_code 0
cp out json
calibrated_nll() { # RUN: what its summary has after the calibrator, or if it has none, before
  local i found
  for i in 0 1; do
    [ "$(value_of "$1/summary.json" evaluation "$i" split)" = test ] || continue
    found=$(value_of "$1/summary.json" evaluation "$i" calibrated 0 value 2>/dev/null) &&
      [ "$(value_of "$1/summary.json" evaluation "$i" calibrated 0 name)" = nll ] ||
      found=$(value_of "$1/summary.json" evaluation "$i" metrics 0 value)
    echo "$found"
  done
}
for i in 0 1 2 3; do
  checks=$((checks + 1))
  [ "$(value_of json runs $i metrics calibrated-nll)" = "$(calibrated_nll "$(value_of json runs $i run)")" ] ||
    complain "run $i: expected its likelihood after the calibrator"
  [ "$(value_of json runs $i metrics rmse)" = "$(value_of json runs $i metrics calibrated-rmse)" ] ||
    complain "run $i: expected the same means"
done
tutti compare runs/scaled plain --metric calibrated-nll,calibrated-width
expect_code 0
expect_out "calibrated-width"
expect_not_in out "nll-moments"
tutti compare runs --metric calibrated-nll
expect_code 2
expect_err "there is no metric 'calibrated-nll'"
rm -rf runs/scaled

# A run whose predictions are gone is left out of what is compared row by row, and nothing else.
mv runs/top-1/trials kept
tutti compare runs
expect_code 0
expect_err "warning" "runs/top-1 is left out of the Poisson-binomial test" "test.npy"
expect_out "Poisson-binomial test" "6 runs"
mv kept runs/top-1/trials

# After fewer trials: of one pool the best trials tie, and after all trials everything is as it is without.
tutti compare runs --over-time 4 --json
expect_code 0
expect_json 4 over_time trials 0
expect_json 6 over_time trials 1
expect_json best-trial over_time metrics 0 name
expect_json 2.0 over_time metrics 0 placings 0 1 expected_rank
cp out course
for seed in 1 2 3; do
  tutti status "runs/top-$seed" --json
  for trial in 0 1 2 3; do
    value_of out all_trials $trial loss
  done | sort -g | head -n 1
done >least
checks=$((checks + 1))
awk -v found="$(value_of course over_time metrics 0 placings 0 0 mean)" '
  { s += $1 } END { exit !(found - s / NR < 1e-12 && s / NR - found < 1e-12) }' least ||
  complain "expected the mean of the best of 4 trials"
tutti compare runs --over-time 3 --reselect --json
expect_code 0
cp out course
while read -r name at; do
  checks=$((checks + 1))
  [ "$(value_of course over_time metrics "$at" name)" = "$name" ] || complain "expected $name at $at"
  for variant in 0 1; do
    for figure in mean error rank expected_rank; do
      checks=$((checks + 1))
      [ "$(value_of course over_time metrics "$at" placings 1 $variant $figure)" = \
        "$(value_of course metrics "$((at - 1))" placings $variant $figure)" ] || complain "$name: expected the same $figure"
    done
  done
done <<END
nll 1
nll-moments 2
rmse 3
END
tutti compare runs --over-time 3 --reselect --metric rmse
expect_code 0
expect_out "best-trial (lower is better): expected rank after so many trials" "rmse (lower is better): expected rank after"
expect_not_in out "nll (lower"
# Rows at every step: at the end they say what the kept ensembles' rows say.
checks=$((checks + 1))
[ "$(value_of course over_time rows 1 0 better)" = "$(value_of course rows 0 better)" ] || complain "expected the same test at the end"
tutti compare runs --over-time 3 --reselect --metric rmse
expect_out "Poisson-binomial test on rows: probability after so many trials" "A > B" "B > A"

# Means over the last numbers of trials, of what there is after each of them.
tutti compare runs --over-time 1 --reselect --last 3 --json
expect_code 0
cp out course
mean_of_last() { # KEY... with @ in place of the step: what the last three steps have there on the mean
  local step
  for step in 3 4 5; do value_of course "${@//@/$step}"; done | awk '{ s += $1 } END { printf "%.10f", s / NR }'
}
[ "$(value_of course last trials 0) $(value_of course last trials 2)" = "4 6" ] || complain "expected trials 4 to 6"
[ "$(value_of course over_time metrics 1 name) $(value_of course last metrics 1 name)" = "nll nll" ] || complain "expected nll"
while read -r key expected; do
  checks=$((checks + 1))
  # shellcheck disable=SC2086 # a list of keys
  [ "$(printf %.10f "$(value_of course last ${key//,/ })")" = "$expected" ] || complain "last $key: expected $expected"
done <<END
metrics,1,placings,1,expected_rank $(mean_of_last over_time metrics 1 placings @ 1 expected_rank)
metrics,1,placings,0,mean $(mean_of_last over_time metrics 1 placings @ 0 mean)
metrics,1,duels,0,frequency $(mean_of_last over_time metrics 1 duels @ 0 frequency)
metrics,1,duels,0,p_one $(mean_of_last over_time metrics 1 duels @ 0 p_one)
rows,0,better $(mean_of_last over_time rows @ 0 better)
END
tutti compare runs --last 3 --metric rmse
expect_code 0
expect_out "rmse (lower is better), means after 4 to 6 trials" "won: share of blocks"
expect_not_in out "best-trial (lower is better), means"
tutti compare runs --last 1 --metric rmse
expect_out "rmse (lower is better), means after 6 trials"
tutti compare runs --last 0
expect_code 2
expect_err "last"
tutti compare runs --reselect
expect_code 2
expect_err "--reselect goes with --over-time"
tutti compare runs --over-time 0
expect_code 2
expect_err "over-time"

# Metrics, splits, keys that are chosen; one row a run.
tutti compare runs --metric crps,coverage --split validation --csv runs.csv
expect_code 0
expect_out "validation rows" "crps (lower is better)" "coverage"
expect_not_in out "coverage (" # it has a goal of its own: no ranks
expect_not_in out "nll"
expect_in runs.csv "run,data_set,seed,selector.plugin,nll," "runs/top-3,table,3,top-m,"
checks=$((checks + 1))
[ "$(wc -l <runs.csv)" -eq 7 ] || complain "expected a heading and six rows"
tutti compare runs --csv runs.csv
expect_code 0
echo mine >notes.csv
tutti compare runs --csv notes.csv
expect_code 2
expect_empty out
expect_err "notes.csv: a file is there, and it is not a table of runs by tutti: it is left as it is"
expect_in notes.csv mine
tutti compare runs --by run.budget
expect_code 0
expect_out "6 runs: 1 variant," "run.budget"
expect_not_in out "rank"
tutti compare runs --metric nll,rmsee
expect_usage_error_here() { expect_code 2 && expect_empty out && expect_err "$@"; }
expect_usage_error_here "no metric 'rmsee'; did you mean 'rmse'?"
tutti compare runs --split tests
expect_usage_error_here "no run has rows of split 'tests'; did you mean 'test'?"
tutti compare runs --by selector.plugn
expect_usage_error_here "did you mean 'selector.plugin'?"
tutti compare runs --csv absent/file.csv
expect_code 1
expect_err "absent/file.csv: cannot be written"

# A run that is to go on is left out, since its recipe is not what its ensemble comes from.
cp -r runs going
timeout -s INT 1 "$TUTTI_PROGRAM" run going/top-3/recipe.ini --out going/top-3 --resume --set run.budget=100000 --quiet >out 2>err
expect_in going/top-3/recipe.ini "budget = 100000"
tutti compare going
expect_code 0
expect_out "going/top-3: not finished: its search goes on, or has since its ensemble was chosen"
# So is one whose catalogue was cut short; the others are compared.
cp -r runs cut
truncate -s 20000 cut/top-3/catalogue.sqlite
tutti compare cut
expect_code 0
expect_out "5 runs: 2 variants" "Left out" "cut/top-3/catalogue.sqlite: expected a whole catalogue"
# What has no result is left out, with the reason.
rm runs/top-3/summary.json
tutti compare runs
expect_code 0
expect_out "5 runs: 2 variants" "Left out" "runs/top-3: not finished: its search has not ended; tutti run --resume ends it" "mean rank over 2 blocks"
# A summary that is not as it was written is none, whatever it says.
for torn in '{' '[]' '{}' '{"evaluation": 7, "best": 3, "loss": []}' '{"evaluation": [{"split": 3}]}' '{"evaluation": [{"split": "test", "metrics": [{"name": 1}]}]}' \
  '{"evaluation": [{"split": "test", "metrics": [7]}]}' '{"evaluation": [0]}'; do
  echo "$torn" >runs/top-3/summary.json
  tutti compare runs
  expect_code 0
  expect_out "5 runs: 2 variants" "runs/top-3/summary.json: expected a summary with its checksum"
done
echo '{' >runs/top-3/summary.json
tutti compare runs/top-3
expect_usage_error_here "nothing to compare" "runs/top-3"
tutti compare absent
expect_usage_error_here "absent: expected a run directory"
tutti compare table.csv
expect_usage_error_here "table.csv: expected a run directory"
mkdir empty
tutti compare empty
expect_usage_error_here "empty: expected a run directory"
mkdir torn
echo '{"cells": [{"name": 1}]}' >torn/ablation.json
tutti compare torn
expect_code 1
expect_err "torn/ablation.json: cell 0: expected a name and a recipe"

# Pairs on other rows are no pairs. Data sets are told apart by file, or by what else differs.
rm -r runs/top-3
run other --set run.seed=1 --set selector.plugin=top-m --set data.split="0.5 0.2 0.3"
tutti compare runs/forward-1 runs/other
expect_code 0
expect_err "warning" "runs/other" "other rows or targets" "data.split is 0.6 0.2 0.2 of runs/forward-1, and 0.5 0.2 0.3 of runs/other"
run kind --set run.seed=1 --set data.target=x1 --set data.ignore=kind,y
tutti compare runs/forward-1 runs/kind
expect_code 0
expect_empty err
expect_out "1 variant, 2 data sets" "  table (target y)" "  table (target x1)"

# Runs of which no two are a pair: why, what to run, and no tables of dashes.
expect_out "No two of these runs are a pair" "data.target is y of runs/forward-1, and x1 of runs/kind." "--set data.target=y."
tutti compare runs/forward-1 runs/forward-2
expect_code 0
expect_out "These runs differ in nothing but the seed, so that there is one variant" "Means over seeds"
tutti compare runs/forward-1 runs/top-2
expect_code 0
expect_out "No two of these runs are a pair" "run.seed is 1 of runs/forward-1, and 2 of runs/top-2." "--set run.seed=1." "Means over seeds"
expect_not_in out "mean rank"
expect_not_in out "for instance"
tutti compare runs/forward-1 runs/top-2 --json
expect_code 0
expect_in out '"unpaired": "No two of these runs are a pair'
cp table.csv copy.csv
run copied --set run.seed=1 --set selector.plugin=top-m --set data.path=copy.csv
tutti compare runs/forward-1 runs/copied
expect_code 0
expect_out "data.path is $PWD/table.csv of runs/forward-1, and $PWD/copy.csv of runs/copied." "--set data.path=$PWD/table.csv (the rows and targets of split test are the same"
tutti compare runs/forward-1 runs/forward-2 runs/copied
expect_out "On each data set, these runs differ in nothing but the seed"
tutti compare runs/forward-1 runs/kind runs/copied
expect_out "for instance, data."
tutti compare runs/forward-1 runs/top-1 runs/forward-2
expect_out "mean rank"
expect_not_in out "No two of"
tutti compare runs/forward-1
expect_not_in out "These runs"
# The same recipe on a file that has changed.
sed '$d' table.csv >shorter.csv
mv table.csv longer.csv
mv shorter.csv table.csv
run later --set run.seed=1 --set selector.plugin=top-m
mv longer.csv table.csv
tutti compare runs/forward-1 runs/later
expect_code 0
expect_err "warning" "no pair; their recipes split alike, so that the file has changed between them"

# A run without a variance has no nll, but counts; a mean of fewer runs than n says of how many.
run linear-2 --set run.seed=2 --set head.kind=linear
tutti compare runs/forward-2 runs/linear-2
expect_code 0
checks=$((checks + 1))
grep -q '^ *[AB]  linear  *1  *-  *[0-9.]*$' out || complain "expected n 1, no nll and an rmse"
tutti compare runs/forward-1 runs/linear-2 --by selector.plugin
expect_code 0
checks=$((checks + 1))
grep -q '^ *A  forward  *2  *[0-9.]*, n 1  *[0-9.]* ([0-9.e-]*)$' out || complain "expected n 2, and an nll of one run"

# Runs without data: the best value of each.
for seed in 1 2; do
  for budget in 3 9; do
    function_recipe f 0 $budget >f.ini
    tutti run f.ini --set run.seed=$seed --out "values/$budget-$seed" --quiet
    expect_code 0
  done
done
tutti compare values
expect_code 0
expect_out "4 runs: 2 variants" "run.budget" "best-trial (lower is better): mean rank over 2 blocks"
finish
