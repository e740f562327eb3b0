#!/bin/bash
# A run that goes on with a larger budget is the run that had it from the beginning, bit for bit.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
cat >random.ini <<'INI'
[run]
budget = 20
window = 5
[data]
plugin = toy-sine
[space]
plugin = mlp
[hyperparameters]
epochs = 6
learning_rate = log-uniform 1e-4 1e-1
[selector]
plugin = forward
size = 3
INI
{
  echo "extends = random.ini"
  printf '[space]\nplugin = dense-skip\nnodes = 2\n[builder]\nplugin = agebo\ninitial = 5\npopulation = 4\nsample = 2\n'
  printf '[surrogate]\ntrees = 5\n[pruner]\nplugin = asha\nreduction = 2\nmin_epochs = 1\n'
} >agebo.ini
{
  echo "extends = random.ini"
  printf '[run]\nbatch = 5\n[builder]\nplugin = nes-re\npopulation = 5\nparents = 2\n'
} >nes-re.ini

same() { # RUN RUN
  same_trials "$1" "$2"
  checks=$((checks + 1))
  [ "$(wc -l <first.txt)" -ge 20 ] || complain "expected 20 trials in $1"
  same_file "$1/ensemble.json" "$2/ensemble.json"
}

for name in random agebo nes-re; do
  tutti run $name.ini --out whole-$name --quiet --workers 2
  expect_code 0
  tutti run $name.ini --out grown-$name --quiet --workers 3 --set run.budget=11
  expect_code 0
  expect_out "11 of 11 done"
  tutti run $name.ini --out grown-$name --quiet --workers 1 --resume
  expect_code 0
  expect_out "20 of 20 done"
  same whole-$name grown-$name
done
# Its own recipe says so, and goes on in turn.
checks=$((checks + 1))
grep -q '^budget = 20 ' grown-random/recipe.ini || complain "expected the new budget in recipe.ini"
tutti run grown-random/recipe.ini --out grown-random --quiet --resume --set run.budget=23 --json
expect_code 0
expect_json 23 trials 'done'

# What exists stays, and the rest has to agree.
tutti run random.ini --out grown-random --resume --set run.budget=22
expect_code 2
expect_err "run.budget: grown-random has 23 trials already, and 22 are asked for"
tutti run random.ini --out grown-random --resume --set run.budget=30 --set run.window=6
expect_code 2
expect_err "grown-random holds another run" "[run] window"

# What a builder planned with the first budget stays: agebo's population is a fifth of it.
plan=(run agebo.ini --quiet --workers 2 --set builder.population=0 --set builder.sample=0)
tutti "${plan[@]}" --out planned --set run.budget=12
expect_code 0
tutti "${plan[@]}" --out planned --resume
expect_code 0
tutti run agebo.ini --quiet --out two --set builder.population=2 --set builder.sample=1
expect_code 0
same_trials two planned

finish
