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
finish
