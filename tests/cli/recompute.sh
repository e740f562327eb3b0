#!/bin/bash
# What a run reports can be recomputed from its directory with NumPy: all metrics, and the selector's picks.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
python3 -c 'import numpy' 2>/dev/null || { echo "skipped: needs python3 with numpy"; exit 77; }
make_table
regression_recipe >regression.ini
regression_recipe | sed 's/^target = .*/target = y x2/; s/^name = .*/name = two-targets/' >two.ini
classification_recipe >classification.ini
regression_recipe >choices.ini
printf '[evaluation]\nepistemic = population\nlevel = 0.5\n' >>choices.ini
classification_recipe >bins.ini
printf '[evaluation]\nbins = 10\n' >>bins.ini

for recipe in regression two classification choices bins; do
  tutti run "$recipe.ini" --out "$recipe"
  expect_code 0
  what="recompute $recipe"
  python3 "$TUTTI_TEST_SRCDIR/tests/cli/recompute.py" "$recipe" >out 2>err
  code=$?
  expect_code 0
  expect_out "2 splits recomputed, 0 faults"
done
finish
