#!/bin/bash
# Installed recipes are found by name, listed, and extended by name; files come first.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"

# The recipes of the sources.
tutti validate quickstart --json
expect_code 0
expect_json quickstart run
for name in autodeuq/toy-small autodeuq/toy-small.ini; do
  tutti validate $name --json
  expect_code 0
  expect_json toy-small run
done
tutti list recipes
expect_code 0
expect_empty err
expect_out "autodeuq/toy "
for line in "quickstart +A first run of a few seconds: an ensemble for a noisy function" \
  "autodeuq/age-mixed +Ablation AgE-Mixed: aging evolution over architecture and training as one vector;"; do
  checks=$((checks + 1))
  grep -qE "^  $line" out || complain "expected a line as in '$line'"
done
while read -r name _; do
  checks=$((checks + 1))
  [ -e "$TUTTI_RECIPE_FOLDER/$name.ini" ] || complain "expected $name.ini in ini/"
done <out
tutti list recipes --json
expect_code 0
expect_json "$(find "$TUTTI_RECIPE_FOLDER" -name '*.ini' | wc -l)"

# Other installed recipes: what a name finds.
mkdir -p installed/deep
export TUTTI_RECIPE_FOLDER=$folder/installed
function_recipe base 0 3 >installed/base.ini
printf 'extends = ../base.ini\n[run]\nname = derived\n' >installed/deep/derived.ini
printf 'not a recipe\n' >installed/notes.txt
tutti list recipes
expect_code 0
printf '%s\n' base deep/derived >expected
checks=$((checks + 1))
awk '{ print $1 } NF > 1 { print "more: " $0 }' out | cmp -s - expected || complain "expected the names of both recipes"
tutti validate deep/derived --json
expect_code 0
expect_json derived run
tutti run base --quiet --json --out named
expect_code 0
expect_json 3 trials 'done'
tutti run named/recipe --out named --resume --quiet
expect_code 0
printf 'extends = deep/derived\n[run]\nname = own\nbudget = 2\n' >own.ini
tutti validate own --json
expect_code 0
expect_json own run
tutti ablate base deep/derived --swap run.budget=1,2 --dry-run --json
expect_code 0
expect_json 4 cells

# A file of that name here comes first, with or without the ending; also beside the file that extends it.
printf 'extends = deep/derived\n[run]\nname = here\n' >base.ini
tutti validate base --json
expect_json here run
printf 'extends = base\n[run]\nbudget = 1\n' >child.ini
tutti validate child --json
expect_json here run
expect_json 1 trials budget
mkdir quickstart
tutti validate quickstart
expect_usage_error "quickstart: cannot read this recipe: Is a directory" "tutti list recipes"
tutti validate "$folder/base" --json
expect_json here run
rm base.ini
tutti validate base --json
expect_json base run
for name in ./base "$folder/base" nothing ''; do
  tutti validate "$name"
  expect_usage_error "$name: cannot read this recipe: No such file" "tutti list recipes"
done
printf 'extends = nothing\n' >orphan.ini
tutti validate orphan
expect_usage_error "orphan.ini:1: extends: cannot read 'nothing'" "tutti list recipes"
TUTTI_RECIPE_FOLDER='' tutti validate base
expect_usage_error "base: cannot read this recipe"
TUTTI_RECIPE_FOLDER='' tutti list recipes
expect_code 0
expect_empty out
TUTTI_RECIPE_FOLDER=$folder/none tutti list recipes
expect_code 2
expect_err "$folder/none" "cannot be listed"
finish
