#!/bin/bash
# Members that tell what of their uncertainty is their own: heads nomu, draws of dropout, and both beside plain ones in a
# pool; their files, predictions of new rows, bits, and what is refused. recompute.sh recomputes their figures.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
regression_recipe >plain.ini
regression_recipe >nomu.ini
printf '[head]\nkind = nomu\nnoise = learnt\n' >>nomu.ini
dropout='s/^plugin = mlp/plugin = mlp\ndropout = 0.2/; s/^epochs = 5/epochs = 5\nprediction_draws = choice 0 7/'
sed "$dropout" nomu.ini >mixed.ini
classification_recipe | sed "$dropout" >classes.ini

# The same bits for any number of workers.
for recipe in mixed classes; do
  tutti run "$recipe.ini" --out "$recipe" --workers 1
  expect_code 0
  tutti run "$recipe.ini" --out "$recipe-2" --workers 2
  expect_code 0
  checks=$((checks + 1))
  for part in summary.json trials; do
    diff -rq "$recipe/$part" "$recipe-2/$part" >differ 2>&1 || complain "$recipe: $part depends on the number of workers"
  done
done

# Predictions of new rows have the parts, in the squares' sum; those of the test rows are the recorded ones.
tutti run nomu.ini --out nomu
expect_code 0
expect_out "epistemic-within"
tutti predict nomu table.csv
expect_code 0
expect_out "row,mean,aleatoric,epistemic,total,epistemic_between,epistemic_within"
checks=$((checks + 1))
awk -F, 'NR > 1 { if ($7 <= 0 || ($6^2 + $7^2 - $4^2)^2 > 1e-12 || ($3^2 + $4^2 - $5^2)^2 > 1e-12) exit 1 }' out ||
  complain "the parts of the predictions do not add up"
tutti predict classes table.csv
expect_code 0
expect_out "mutual_information,mutual_information_between,mutual_information_within"
tutti run plain.ini --out plain
expect_code 0
tutti predict plain table.csv
expect_out "row,mean,aleatoric,epistemic,total"
expect_not_in out "within"

# A single member has its own part alone.
tutti select nomu --set selector.size=1
expect_code 0
checks=$((checks + 1))
awk '$1 == "epistemic-between" { found = $2 == 0 && $3 == 0 } END { exit !found }' out ||
  complain "a pool of one member has an epistemic part between members"
tutti curve nomu --budgets 3,6
expect_code 0

# A file of parts that is gone is noticed, and --resume mends it with the same bits.
cp nomu/trials/000001/test-epistemic.npy kept
rm nomu/trials/000001/test-epistemic.npy
tutti select nomu --set selector.plugin=all
expect_code 1
expect_err "test-epistemic.npy"
tutti run nomu.ini --out nomu --resume
expect_code 0
checks=$((checks + 1))
cmp -s kept nomu/trials/000001/test-epistemic.npy || complain "a trained-again trial has other parts"

# What is refused, before anything is trained.
regression_recipe | sed '/^epochs/d; /^learning_rate/d; s/^plugin = cpu/plugin = trees/' >trees.ini
printf '[head]\nkind = nomu\n' >>trees.ini
tutti validate trees.ini
expect_usage_error "expected softmax, gaussian or linear, found head-nomu"
tutti validate plain.ini --set hyperparameters.prediction_draws=5
expect_usage_error "this network has none"
classification_recipe >words.ini
printf '[head]\nkind = nomu\n' >>words.ini
tutti validate words.ini
expect_usage_error "nomu head takes numbers"
tutti validate nomu.ini --set head.bounds=lower
expect_usage_error "noise only with symmetric bounds"
tutti validate nomu.ini --set head.pi_sqr=0
expect_usage_error "head.pi_sqr: expected a number > 0"
tutti validate nomu.ini --set head.pi_exp=0
expect_usage_error "head.pi_exp: expected a number > 0"
tutti validate nomu.ini --set head.l_max=0
expect_usage_error "head.l_max: expected a number > 0"
finish
