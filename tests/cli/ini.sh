#!/bin/bash
# The recipes of ini/ do what they say, and what a run writes as its recipe is the same run again.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
ini=$TUTTI_TEST_SRCDIR/ini

tutti validate "$ini/quickstart.ini"
expect_code 0
tutti run "$ini/quickstart.ini" --set run.budget=6 --set hyperparameters.epochs=5 --out quick
expect_code 0
expect_out "6 of 6 done, 0 failed" "Ensemble of 5"

# The effective recipe, moved elsewhere, gives the same bits.
mkdir elsewhere
cp quick/recipe.ini elsewhere/again.ini
tutti run elsewhere/again.ini --out again
expect_code 0
for file in recipe.ini summary.json ensemble.json; do
  checks=$((checks + 1))
  cmp -s "quick/$file" "again/$file" || complain "expected the same $file"
done

tutti run "$ini/bo-branin.ini" --out branin --json
expect_code 0
checks=$((checks + 1))
"$json_value" out best loss | awk '{ exit !($1 < 0.41) }' || complain "expected a value near 0.397887"

tutti run "$ini/csv-regression.ini" --set data.path=table.csv --set data.ignore=kind --set run.budget=6 \
  --set hyperparameters.epochs=5 --out regression
expect_code 0
expect_out "(regression)" "6 of 6 done, 0 failed"
tutti run "$ini/csv-classification.ini" --set data.path=table.csv --set data.target=kind --set data.ignore=y \
  --set run.budget=6 --set hyperparameters.epochs=5 --out classification
expect_code 0
expect_out "(classification)" "6 of 6 done, 0 failed"

# The first recipe of the README, on tables of either kind; without the learners that need libraries.
for target in y kind; do
  other=kind
  [ $target = y ] || other=y
  tutti run "$ini/table.ini" --set data.path=table.csv --set data.target=$target --set data.ignore=$other --set run.budget=6 \
    --set "hyperparameters.learner=choice trees cpu" --set "hyperparameters.trees.method=choice extra-trees random-forest" \
    --set hyperparameters.trees.trees=20 --set hyperparameters.cpu.epochs=5 --set builder.initial=5 --out "table-$target"
  expect_code 0
  expect_out "6 of 6 done, 0 failed" "108 validation and training, by 5 folds, 12 test" "calibrator"
  tutti predict "table-$target" table.csv
  expect_code 0
done

# Their own files are not there until someone writes them.
tutti run "$ini/csv-regression.ini"
expect_usage_error my-table.csv

for section in run data head; do
  tutti inspect "$section"
  expect_code 0
  expect_out "[$section]"
done
finish
