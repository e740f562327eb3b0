#!/bin/bash
# NASBOT's recipes run, and the experiment that compares it with its rivals.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
ini=$TUTTI_TEST_SRCDIR/ini/nasbot
make_table

for recipe in "$ini"/*.ini; do
  case $recipe in
    */cifar10* | */vgg-19*) continue ;; # its images are not there
  esac
  tutti validate "$recipe" --set data.path=table.csv --set data.ignore=kind
  expect_code 0
done

for recipe in nasbot small small-ea small-rand small-treebo small-joint small-ensemble small-only-d small-only-dbar small-paper-distance small-samples; do
  settings=(--set data.path=table.csv --set data.ignore=kind --set hyperparameters.epochs=2 --set run.budget=8)
  [ "$recipe" = small-samples ] && settings+=(--set surrogate.draws=200)
  settings+=(--set space.max_units=8 --set space.max_layers=20 --set builder.initial=4)
  tutti run "$ini/$recipe.ini" "${settings[@]}" --out "$recipe"
  expect_code 0
  expect_out "8 of 8 done, 0 failed" "Ensemble of"
done
expect_origin() { # RUN TEXT
  checks=$((checks + 1))
  grep -q "\"$2" <("$TUTTI_PROGRAM" status "$1" --json) || complain "$1: expected origins $2"
}
expect_in small-paper-distance/recipe.ini "path_groups = all" "walks = children" "end_mass = 0"
expect_origin small "ei "
expect_origin small-ea mutation
expect_origin small-rand "random 0"
tutti status small --json
expect_out '"surrogate"' '"negative_eigenvalues"' '"architectures"'

# The best network of a search, trained for longer: the same layers, more epochs.
tutti run "$ini/small-longer.ini" --set data.path=table.csv --set data.ignore=kind --set hyperparameters.epochs=5 --set space.max_units=8 \
  --set space.max_layers=20 --set builder.from=small --out longer
expect_code 0
best=$("$TUTTI_PROGRAM" status small --json >status.json; "$json_value" status.json best trial)
checks=$((checks + 1))
cmp -s "small/trials/$(printf %06d "$best")/network.json" longer/trials/000000/network.json ||
  complain "longer: expected the network of trial $best of the search"

# VGG-19 fits the space, and the backend can train it.
mkdir cifar
for batch in data_batch_{1..5} test_batch; do
  for label in 0 1 2 3 4 5 6 7 8 9; do
    printf "%b" "\\x0$label"
    yes "$batch $label" | head -c 3072
  done >"cifar/$batch.bin"
done
tutti run "$ini/vgg-19.ini" --set data.path=cifar --dry-run
expect_code 0
tutti run "$ini/cifar10-longer.ini" --set data.path=cifar --set builder.from="$ini/vgg-19.json" --set space.max_units=4096 --dry-run
expect_code 0

# Networks of the paper's size take as long as they need on CIFAR-10; those in small do not.
for recipe in cifar10 cifar10-longer vgg-19 cifar10-small; do
  settings=(--set data.path=cifar --set data.limit=0 --set run.time=1e-9)
  [ "$recipe" = cifar10-longer ] && settings+=(--set builder.from="$ini/vgg-19.json" --set space.max_units=4096)
  tutti run "$ini/$recipe.ini" "${settings[@]}" --out "written-$recipe"
  expect_in "written-$recipe/recipe.ini" "trial_timeout = $([ "$recipe" = cifar10-small ] && echo 7200 || echo inf)"
done

# Evolution in sets of mutants, and in small one by one.
tutti run "$ini/ea.ini" --set data.path=table.csv --set data.ignore=kind --set run.time=1e-9 --out ea
expect_in ea/recipe.ini "mutants = 50"
expect_in small-ea/recipe.ini "mutants = 1"

# The model needs distances, and says which space has none.
tutti run "$ini/small.ini" --set data.path=table.csv --set data.ignore=kind --set space.plugin=mlp --out none
expect_usage_error "surrogate gp-otmann needs distances between architectures, and space mlp has none"

# The experiment: a row for each method, and a curve.
mkdir -p data/sets/toy
cut -d, -f1,2,4 table.csv >data/sets/toy/data.csv
what="nasbot-tables.sh"
TUTTI=$TUTTI_PROGRAM METHODS="nasbot rand" BUDGET=12 SEEDS="1 2" EPOCHS=1 ROWS="50 20 0" \
  bash "$TUTTI_TEST_SRCDIR/tests/experiments/nasbot-tables.sh" data results sets/toy >out 2>err </dev/null
code=$?
expect_code 0
expect_out "validation MSE" "best validation MSE of the first networks"
checks=$((checks + 1))
grep -cE '^sets/toy +(nasbot|rand) +(2 +)?[0-9.]+ \+- *[0-9.]+ +[0-9.]+ \+- *[0-9.]+' out | grep -qx 4 ||
  complain "expected two rows of moments and two curves"
cp out whole
TUTTI=false METHODS="nasbot rand" BUDGET=12 bash "$TUTTI_TEST_SRCDIR/tests/experiments/nasbot-tables.sh" --show results sets/toy >out 2>err </dev/null
code=$?
expect_code 0
checks=$((checks + 1))
cmp -s whole out || complain "--show: expected the tables of the finished runs, without training"
finish
