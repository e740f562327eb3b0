#!/bin/bash
# Backend mixed: networks, trees and machines in one search. Members of several backends predict, are evaluated, selected and
# reported together, an interrupted run goes on with the same bits, and what cannot be is refused by name.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
tutti inspect backend/svm
learners="cpu trees" trees="trees.method = random-forest"
[ $code -ne 0 ] || learners="cpu trees svm"

mixed() {
  regression_recipe | sed "s/^plugin = cpu/plugin = mixed/; s/^budget = .*/budget = 12/; /^epochs/d; /^learning_rate/d; /^\[hyper/d"
  cat <<INI
[hyperparameters]
learner = choice $learners
cpu.learning_rate = log-uniform 1e-3 1e-1
trees.max_depth = integer 2 9
$trees
[cpu]
epochs = 4
[trees]
trees = 10
INI
}
mixed >mixed.ini

tutti run mixed.ini --quiet --out run
expect_code 0
expect_out "12 of 12 done, 0 failed"
# What a trial is of decides what it leaves: networks have a network, and hyperparameters of their own alone.
networks=$(find run/trials -name network.json | wc -l)
checks=$((checks + 2))
[ "$networks" -gt 1 ] || complain "expected some networks, found $networks"
[ "$networks" -lt 11 ] || complain "expected some that are no networks, found $networks networks"
expect_in run/recipe.ini "learner = choice $learners" "trees.max_depth = integer 2 9 if learner = trees" \
  "cpu.learning_rate = log-uniform 0.001 0.1 if learner = cpu" "[trees]" "method = random-forest" "trees = 10" "epochs = 4"
checks=$((checks + 1))
[ "$(sed -n '/^\[trees\]/,/^\[/p' run/recipe.ini | grep -c '^max_depth')" = 0 ] || complain "expected max_depth once, in [hyperparameters]"

# Another number of workers, a trial lost, a recipe as it was recorded: the same bits.
tutti run run/recipe.ini --quiet --workers 3 --out again
expect_code 0
checks=$((checks + 1))
cmp -s run/summary.json again/summary.json || complain "expected the same summary.json"
tree=$(basename "$(dirname "$(find again/trials -name weights.safetensors | sort | while read -r f; do
  [ -e "$(dirname "$f")/network.json" ] || { echo "$f"; break; }; done)")")
rm -r "again/trials/$tree"
tutti run again/recipe.ini --resume --quiet --out again
expect_code 0
checks=$((checks + 1))
cmp -s "run/trials/$tree/weights.safetensors" "again/trials/$tree/weights.safetensors" || complain "expected the same weights again"

# All of them in one ensemble.
tutti select run --set selector.plugin=all --keep
expect_code 0
tutti evaluate run --json
expect_code 0
tutti predict run table.csv
expect_code 0
checks=$((checks + 1))
[ "$(wc -l <out)" -eq 121 ] || complain "expected a heading and 120 rows"
tutti report run
expect_code 0
tutti status run
expect_code 0

# Pruners judge those that have epochs.
tutti run mixed.ini --quiet --out pruned --set pruner.plugin=median --set pruner.min_epochs=1
expect_code 0

# One learner alone; the keys of the others are left out, whether they are below or not there.
tutti run mixed.ini --quiet --out alone --set hyperparameters.learner=trees
expect_code 0
checks=$((checks + 1))
[ -z "$(find alone/trials -name network.json)" ] || complain "expected no networks"
expect_not_in alone/recipe.ini "cpu.learning_rate" "[cpu]"

# A run of one learner goes further by the same command, wherever that names the learner.
tutti run mixed.ini --quiet --out alone --set hyperparameters.learner=trees --set run.budget=14 --resume
expect_code 0
expect_out "14 of 14 done, 0 failed"
tutti run mixed.ini --quiet --out own --set backend.learner=trees --set run.budget=3
expect_code 0
expect_not_in own/recipe.ini "cpu.learning_rate" "[cpu]"
tutti run mixed.ini --quiet --out own --set backend.learner=trees --set run.budget=4 --resume
expect_code 0
expect_out "4 of 4 done, 0 failed"
tutti run own/recipe.ini --quiet --out own --resume
expect_code 0
# Nor does a section that was recorded, and that nothing has a use for, make it another; of an override it is a mistake.
printf '[cpu]\nepochs = 4\n' >>own/recipe.ini
tutti run mixed.ini --quiet --out own --set backend.learner=trees --set run.budget=5 --resume
expect_code 0
expect_out "5 of 5 done, 0 failed"
tutti status own
expect_code 0
tutti select own --set slector.plugin=top-m
expect_code 2
expect_err "slector"
tutti ablate mixed.ini --quiet --swap hyperparameters.learner=trees --set run.budget=3 --seeds 1 --out swapped
expect_code 0
tutti ablate mixed.ini --quiet --swap hyperparameters.learner=trees --set run.budget=3 --seeds 2 --out swapped --resume
expect_code 0
tutti ablate mixed.ini --quiet --swap hyperparameters.learner=trees,svm --set run.budget=3 --seeds 1 --out learners
expect_code 0
expect_out "backend.learner" "trees" "svm"
expect_not_in out "trees.method"

# A condition that a higher layer has decided: the range counts always, never, or where a choice is left.
sed 's/^trees.method.*//; s/^trees.max_depth.*/trees.method = choice random-forest extra-trees\ntrees.max_depth = integer 2 9 if trees.method = extra-trees/' mixed.ini >nested.ini
nested() { # SETTING EXPECTED
  tutti run nested.ini --quiet --out "nested-$2" --set "hyperparameters.$1" --set run.budget=3
  expect_code 0
}
nested trees.method=extra-trees always
expect_in nested-always/recipe.ini "trees.max_depth = integer 2 9 if learner = trees"
nested trees.method=random-forest never
expect_not_in nested-never/recipe.ini "trees.max_depth"
nested "trees.method=choice random-forest extra-trees" both
expect_in nested-both/recipe.ini "trees.max_depth = integer 2 9 if trees.method = extra-trees"
# Variants are told apart by what was swapped, and not by a range that one of its values brings along; the fixed hyperparameter
# may be called as in the recipe.
tutti ablate nested.ini --quiet --swap hyperparameters.learner=cpu,trees --set run.budget=3 --seeds 1 --out conditional \
  --swap "hyperparameters.trees.method=extra-trees,random-forest where hyperparameters.learner=trees"
expect_code 0
expect_out "backend.learner" "trees.method" "extra-trees" "random-forest"
expect_not_in out "max_depth"
tutti compare conditional --by hyperparameters.learner --by hyperparameters.trees.method
expect_code 0
expect_out "backend.learner" "trees.method" "extra-trees" "random-forest"
# Where it has a range in some runs and single values in others, these are told apart, too.
for method in "choice extra-trees random-forest" extra-trees random-forest; do
  tutti run nested.ini --quiet --out "methods/$method" --set hyperparameters.learner=trees --set "hyperparameters.trees.method=$method" --set run.budget=3
  expect_code 0
done
tutti compare methods --by hyperparameters.trees.method
expect_code 0
expect_out "3 runs: 3 variants"
for key in selector.size run.budget head.kind plugin; do
  tutti compare methods --by hyperparameters.$key
  expect_code 2
  expect_err "no recipe has a key 'hyperparameters.$key'"
done
tutti compare conditional --by hyperparameters.trees.methods
expect_code 2
expect_err "no recipe has a key 'hyperparameters.trees.methods'"

refused_early=$(sed 's/if trees.method = extra-trees/if trees.method = extra-forest/' nested.ini)
printf '%s\n' "$refused_early" >wrong.ini
tutti validate wrong.ini
expect_code 2
expect_err "extra-forest"

# --- refusals ---
refused() { # SED TEXT...
  local sed=$1
  shift
  sed "$sed" mixed.ini >wrong.ini
  tutti validate wrong.ini
  expect_code 2
  expect_err "$@"
}
refused 's/choice cpu trees.*/choice cpu forests/' "learner" "forests"
refused 's/choice cpu trees/choice mixed trees/; s/^cpu.*//; s/^\[cpu\]//; s/^epochs.*//' "mixed" "would hand them on"
refused 's/^trees.max_depth = .*/trees.max_deptth = integer 2 9/' "trees.max_deptth" "max_depth"
refused 's/^trees.max_depth = .*/trees.max_depth = uniform 0.2 0.9/' "trees.max_depth" "integer A B"
refused 's/^trees.max_depth = .*/woods.max_depth = integer 2 9/' "woods.max_depth" "unknown key"
refused 's/^\[trees\]/[trees]\nmax_depth = 3/' "trees.max_depth" "keep one of the two"
refused 's/^\[trees\]/[trees]\nplugin = svm/' "[trees] plugin"
tutti export run --to x.onnx
expect_code 0

finish
