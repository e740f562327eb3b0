#!/bin/bash
# What a report says in words: of which data, recipe and program it is, and how much its figures can tell.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/pages.sh"
make_table

# The data's file, all targets, also that of classes, the recipe, its seed and the program that made the run.
classification_recipe >classes.ini
tutti run classes.ini --out one --quiet
expect_code 0
tutti report one --to one.html
expect_code 0
expect_page one.html
program=$(sed -n '1s/.*, by \(Tutti [^,]*\), plugin ABI.*/\1/p' one/recipe.ini)
checks=$((checks + 1))
[ -n "$program" ] || complain "expected the program in recipe.ini"
expect_in one.html "/table.csv; target kind. Recipe classes, seed 3; $program.</p>"
expect_in one.html "There are only $(of_json one/summary.json '[j["data"]["rows"]["test"]]') test rows" "by up to <b>20 percentage points</b>"

# One row says nothing of others, and its errors are counted.
tutti run classes.ini --out single --quiet --set "data.split=60 59 1"
expect_code 0
expect_equal "test rows" 1 "$(of_json single/summary.json '[j["data"]["rows"]["test"]]')"
tutti report single --to single.html
expect_code 0
expect_page single.html
expect_in single.html "There is only 1 test row: " "by up to <b>100 percentage points</b>" " of 1</b> row,"
expect_not_in single.html "</b> of the rows"
tutti run classes.ini --out many --quiet --set "data.split=0.3 0.2 0.5"
expect_code 0
tutti report many --to many.html
expect_code 0
expect_not_in many.html "percentage points"
expect_in many.html "</b> of the rows"

# Without data nothing is said of rows, nor of validation rows where a fit has none.
expect_in one.html ">nll, validation rows<"
tutti run "$TUTTI_TEST_SRCDIR/ini/bo-branin.ini" --out branin --quiet --set run.budget=6
expect_code 0
tutti report branin --to branin.html
expect_code 0
expect_in branin.html "There are no data" "valued; the least value counts" "; that took "
expect_not_in branin.html "validation rows" ">validation loss<" "trained;"
tutti fit "$TUTTI_TEST_SRCDIR/ini/nomu/1d-gp.ini" --out fit --quiet --set run.budget=2
expect_code 0
tutti report fit --to fit.html
expect_code 0
expect_not_in fit.html "for choosing" "validation rows"

# Errors that join several targets are called that: of the members, of other sizes, and of the rows that are surest.
regression_recipe | sed 's/^target = .*/target = y x2/' >two.ini
tutti run two.ini --out two --quiet
expect_code 0
tutti report two --to two.html
expect_code 0
expect_page two.html
expect_in two.html "targets x2, y. Recipe small" "The mean absolute error is of all 2 targets together, as if they had one unit."
expect_equal "joined errors" 2 "$(grep -o 'The rmse is of all 2 targets together' two.html | wc -l)"
expect_not_in one.html "targets together"

# Two epistemic deviations and the interval are of different kinds.
tutti run "$TUTTI_TEST_SRCDIR/ini/quickstart.ini" --out line --quiet --set run.budget=3 --set hyperparameters.epochs=5 --set selector.size=2
expect_code 0
tutti report line --to line.html
expect_code 0
expect_in line.html "twice of it may reach beyond the interval"

# Side by side, a calibrated likelihood has a column where some run has a calibrator.
tutti report one many --to both.html
expect_code 0
expect_page both.html
expect_not_in both.html.csv/runs-results.csv calibrated
tutti select many --keep --set calibrator.plugin=temperature --set calibrator.least_rows=10 --set evaluation.folds=0
expect_code 0
tutti report one many --to both.html
expect_code 0
expect_page both.html
expect_in both.html.csv/runs-results.csv "nll, calibrated"
expect_in both.html "this would have been its error"
finish
