#!/bin/bash
# No row is used for what it is not meant for. Other test rows change no bit of a search, of its networks and of its choice,
# whatever the method; other validation rows change no network that trains for a fixed time; and losses, curves, choices and
# predictions can be recomputed from the rows that they are said to be of.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
find_numpy
make_table
seq 0 71 >train.rows
seq 72 95 >validation.rows
seq 96 119 >test.rows
# change FROM TO: the table with other numbers, targets and classes in these rows.
change() {
  awk -F, -v OFS=, -v from="$1" -v to="$2" '
    NR > 1 && NR - 2 >= from && NR - 2 <= to { $1 = $2 + 0.5; $2 = -$2; $4 = 3 - $4; $5 = $5 == "up" ? "down" : "up" } 1' table.csv
}
change 96 119 >other-test.csv
change 72 95 >other-validation.csv
expect_lines() {
  checks=$((checks + 1))
  [ "$(diff table.csv "$1" | grep -c '^<')" = 24 ] || complain "expected 24 changed rows in $1"
}
expect_lines other-test.csv
expect_lines other-validation.csv
for recipe in regression classification; do
  "${recipe}_recipe" | sed 's/^split = .*/train_rows = train.rows\nvalidation_rows = validation.rows\ntest_rows = test.rows/
    s/^epochs = .*/epochs = 12\nearly_stopping = 3/' >$recipe.ini
done
# The same with two targets, which are of other units.
awk -F, -v OFS=, 'NR == 1 { print $0, "z"; next } { print $0, 100 + 20 * $1 * $2 }' table.csv >two.csv
sed 's/path = .*/path = two.csv/; s/^target = .*/target = y z/' regression.ini >two.ini

# Of the two targets' recipe, the epistemic variance is not the default's.
printf '[evaluation]\nepistemic = population\n' >>two.ini

recompute() {
  what="leaks.py $*"
  "$python" "$TUTTI_TEST_SRCDIR/tests/cli/leaks.py" "$@" >out 2>err
  code=$?
  expect_code 0
}

# --- losses, curves, choices and predictions ---

for recipe in regression classification two; do
  table=table.csv
  [ $recipe != two ] || table=two.csv
  { head -n 1 $table; tail -n 24 $table; } >"$recipe-test.csv"
  tutti run $recipe.ini --quiet --out "$recipe" --set run.budget=8 --set run.seed=5
  expect_code 0
  tutti select "$recipe" --set selector.plugin=top-m --set selector.size=4 --json
  expect_code 0
  cp out top.json
  tutti predict "$recipe" "$recipe-test.csv"
  expect_code 0
  cp out predicted.csv
  tutti predict "$recipe" "$recipe-test.csv" --json
  expect_code 0
  cp out predicted.json
  tutti predict "$recipe" "$recipe-test.csv" --out predicted.npy
  expect_code 0
  recompute recompute "$recipe" top.json predicted.csv predicted.json predicted.npy
  expect_out "8 trials, 24 rows recomputed, 0 faults"
done

# --- other test rows, for every method ---

# with_other ROWS NAME RECIPE SETTING...: the run with the table, and the run with the other one, in NAME and NAME-ROWS.
with_other() {
  local rows=$1 name=$2 recipe=$3 settings=() setting
  shift 3
  for setting; do settings+=(--set "$setting"); done
  [ -d "$name" ] || { tutti run "$recipe.ini" --quiet --out "$name" "${settings[@]}"; expect_code 0; }
  tutti run "$recipe.ini" --quiet --out "$name-$rows" --set "data.path=other-$rows.csv" "${settings[@]}"
  expect_code 0
}
# method NAME SETTING...
method() {
  local name=$1
  shift
  with_other test "$name" regression "$@"
  recompute unaffected "$name" "$name-test"
  expect_out "0 faults"
}
# search NAME SETTING...: a method whose proposals depend on results: one after the other, so that they are known to it.
search() {
  local name=$1
  shift
  method "$name" run.window=1 "$@"
  with_other validation "$name" regression run.window=1 "$@"
  recompute led "$name" "$name-validation"
  expect_out "0 faults"
}
method nes-rs selector.plugin=forward
search nes-re run.budget=10 builder.plugin=nes-re builder.population=6 builder.parents=3 selector.plugin=forward
search agebo run.budget=10 builder.plugin=agebo builder.population=4 builder.sample=2 selector.plugin=top-m
search bo run.budget=8 builder.plugin=bo builder.initial=4 builder.surrogate=random-forest selector.plugin=agnostic-bayes
search smbo-ensemble run.budget=8 builder.plugin=smbo-ensemble builder.bootstraps=2 builder.initial=4 selector.plugin=agnostic-bayes
search hyperens run.budget=10 builder.plugin=hyperens builder.configurations=2 builder.initialisations=3 selector.plugin=forward-replace
# Its architecture comes from another run, which has to have the same rows.
for from in nes-rs nes-rs-test; do
  table=table.csv
  [ $from = nes-rs ] || table=other-test.csv
  tutti run regression.ini --quiet --out "deepens${from#nes-rs}" --set data.path=$table --set builder.plugin=deepens \
    --set builder.from=$from --set selector.plugin=all
  expect_code 0
done
recompute unaffected deepens deepens-test
expect_out "0 faults"
search ea run.budget=8 builder.plugin=ea builder.initial=4 selector.plugin=quick-greedy
method stacking selector.plugin=stacking
method weighted selector.plugin=weighted
with_other test classes classification selector.plugin=forward-diverse
recompute unaffected classes classes-test
expect_out "0 faults"

# --- other validation rows, for networks that train for a fixed time ---

for recipe in regression classification; do
  with_other validation fixed-$recipe $recipe hyperparameters.early_stopping=0 backend.keep=last
  recompute untrained fixed-$recipe fixed-$recipe-validation
  expect_out "6 trials, 0 faults"
done

# --- folds: each row of the pool by a model that has not seen it, nor the rest of its group ---

sed '/_rows = /d; /^early_stop/d; /^epochs/d; /^learning_rate/d; s/^plugin = cpu/plugin = trees/
  s/^target = y/&\nsplit = 0.6 0.2 0.2\nsplit_order = file\nstandardise = no\nfolds = 2/' regression.ini >folds.ini
with_other validation folds folds
# Rows 48 to 71 are in fold 1, and rows 72 to 95, which are other ones, too: those of fold 0 tell of the former.
for run in folds folds-validation; do
  tail -c +$((128 + 48 * 8 + 1)) $run/trials/000000/validation.npy | head -c $((24 * 8)) >$run.bytes
done
checks=$((checks + 2))
cmp -s folds.bytes folds-validation.bytes || complain "expected the same predictions of rows 48 to 71"
! cmp -s folds/trials/000000/validation.npy folds-validation/trials/000000/validation.npy ||
  complain "expected other predictions of other rows"
# Two folds of three groups, which take turns in the file: rows that were dealt in turn would part each.
sed 's/^folds = 2/&\ngroups = group/; /^split_order/d' folds.ini >groups.ini
tutti run groups.ini --quiet --out groups --set data.split="1 1 0"
expect_code 0
what="groups in folds"
"$python" - >out 2>err <<'PY'
import numpy as np
rows, fold = np.load("groups/splits/validation-rows.npy"), np.load("groups/splits/validation-folds.npy")
print([len(set(fold[rows % 3 == g])) for g in range(3)])
PY
expect_out "[1, 1, 1]"

# --- rows out of distribution, which are told from test rows ---

make_stripes
stripes_recipe | sed '/^shift/d; s/= forward/= all/; /^size/d' >stripes.ini
tutti run stripes.ini --quiet --out stripes
expect_code 0
ood=$(basename "$(compgen -G "stripes/trials/000000/*noise*.npy")" .npy)
recompute ood stripes "$ood"
expect_out "0 faults"
finish
