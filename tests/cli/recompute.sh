#!/bin/bash
# What a run reports can be recomputed from its directory with NumPy: all metrics, and the selector's picks.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
find_numpy
make_table
regression_recipe >regression.ini
regression_recipe | sed 's/^target = .*/target = y x2/; s/^name = .*/name = two-targets/' >two.ini
classification_recipe >classification.ini
regression_recipe >choices.ini
printf '[evaluation]\nepistemic = population\nlevel = 0.5\n' >>choices.ini
regression_recipe | sed 's/^plugin = forward/plugin = forward-replace/; s/^size = 3/size = 6/' >picks.ini
regression_recipe | sed 's/^plugin = forward/plugin = forward-replace/; s/^size = 3/size = 6/' >weights.ini
printf '[evaluation]\nepistemic = unbiased\n' >>weights.ini
classification_recipe >bins.ini
printf '[evaluation]\nbins = 10\n' >>bins.ini

# Members that tell what of their uncertainty is their own: NOMU, with noise and without; draws of dropout; and pools of
# such members beside others.
regression_recipe >nomu.ini
printf '[head]\nkind = nomu\nnoise = learnt\n' >>nomu.ini
sed 's/^target = .*/target = y x2/; s/^noise = .*/noise = none/' nomu.ini >nomu-two.ini
dropout='s/^plugin = mlp/plugin = mlp\ndropout = 0.2/'
regression_recipe | sed "$dropout; s/^epochs = 5/epochs = 5\nprediction_draws = choice 0 7/" >draws.ini
classification_recipe | sed "$dropout; s/^epochs = 5/epochs = 5\nprediction_draws = choice 0 7/" >draws-classes.ini
sed "$dropout; s/^epochs = 5/epochs = 5\nprediction_draws = choice 0 7/" nomu.ini >both.ini
sed "$dropout; s/^epochs = 5/epochs = 5\nprediction_draws = choice 0 7\nhead.kind = choice gaussian nomu/" nomu.ini | sed '/^kind = nomu/d' >heads.ini

for recipe in regression two classification choices picks weights bins nomu nomu-two draws draws-classes both heads; do
  tutti run "$recipe.ini" --out "$recipe"
  expect_code 0
  what="recompute $recipe"
  "$python" "$TUTTI_TEST_SRCDIR/tests/cli/recompute.py" "$recipe" >out 2>err
  code=$?
  expect_code 0
  expect_out "2 splits recomputed, 0 faults"
done

# In the pools with draws, members that tell stand beside others.
for recipe in draws draws-classes; do
  checks=$((checks + 1))
  told=$(find "$recipe/trials" -name 'test-epistemic.npy' | wc -l)
  case $told in
    [1-5]) ;;
    *) complain "$recipe: expected some of 6 members with draws, found $told" ;;
  esac
done

checks=$((checks + 1))
grep -q '"picks": [2-6]' picks/ensemble.json || complain "picks: expected a model that is picked more than once"

# A metric that the script does not know, and one that the run does not have, are faults.
what="recompute another metric"
sed -i 's/"name": "average-error"/"name": "hinge"/' classification/summary.json
"$python" "$TUTTI_TEST_SRCDIR/tests/cli/recompute.py" classification >out 2>err
code=$?
expect_code 1
expect_out "test: hinge is not known here" "test: average-error is missing" "4 faults"

# Rows that one of two methods alone gets wrong, on three data sets, one of them with two seeds and one with classes voted on.
for member in forward top-m agnostic-bayes; do
  for recipe in regression two classification; do
    tutti run "$recipe.ini" --quiet --out "compared/$recipe-$member" --set "selector.plugin=$member"
    expect_code 0
  done
  tutti run regression.ini --quiet --out "compared/again-$member" --set "selector.plugin=$member" --set run.seed=4
  expect_code 0
done
tutti compare compared --json
expect_code 0
cp out comparison
what="recompute rows"
"$python" "$TUTTI_TEST_SRCDIR/tests/cli/recompute_rows.py" comparison >out 2>err
code=$?
expect_code 0
expect_out "3 duels recomputed, 0 faults"
tutti compare compared
expect_code 0
expect_out "Poisson-binomial test"
finish
