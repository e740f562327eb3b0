#!/bin/bash
# AgEBO with models of the losses that are networks in place of its forest, by one line: an ablation of ini/nomu, the same bits
# for any number of workers, and after a kill.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
cat >small.ini <<INI
extends = $TUTTI_TEST_SRCDIR/ini/nomu/agebo-small.ini
[run]
budget = 12
window = 3
[data]
path = table.csv
target = y
ignore = kind
[hyperparameters]
epochs = 10
batch_size = 16
[surrogate]
units = 8 8
uncertainty_units = 8 8
artificial = 20
[trainer]
epochs = 20
INI
trials() { "$TUTTI_PROGRAM" status "$1" --json | sed -n '/all_trials/,$p' | grep -vE '"(seconds|at)"'; }

tutti ablate small.ini --swap builder.surrogate=random-forest,nomu,deep-ensemble --workers 1 --out ablation
expect_code 0
expect_out random-forest nomu deep-ensemble
# The forest is AutoDEUQ's, and has nothing of the networks'.
forest=ablation/runs/surrogate=random-forest_seed-1
expect_in "$forest/recipe.ini" "trees = 10"
expect_not_in "$forest/recipe.ini" "[trainer]"
trials "$forest" >forest

# What a swapped plugin leaves over may go; a section that is misspelt may not.
{ cat small.ini; printf '[hyperparametrs]\nepochs = 7\n'; } >misspelt.ini
for swap in builder.surrogate=nomu builder.surrogate=random-forest builder.plugin=nes-rs; do
  tutti validate misspelt.ini --set $swap
  expect_code 2
  expect_err "unknown section [hyperparametrs]" "did you mean [hyperparameters]?"
done

for surrogate in nomu deep-ensemble; do
  alone=ablation/runs/surrogate=${surrogate}_seed-1
  trials "$alone" >whole
  what="AgEBO with $surrogate"
  expect_in whole "lcb "
  checks=$((checks + 1))
  ! cmp -s whole forest || complain "it proposes what the forest does"

  plan=(run small.ini --quiet --set "builder.surrogate=$surrogate")
  tutti "${plan[@]}" --workers 3 --out "$surrogate-3"
  expect_code 0
  trials "$surrogate-3" >three
  checks=$((checks + 1))
  cmp -s whole three || complain "with other numbers of workers, the search goes another way"
  checks=$((checks + 1))
  diff -r "$alone/trials" "$surrogate-3/trials" >differ || complain "its trials have other bits: $(head -n 1 differ)"

  [ "$surrogate" = nomu ] || continue
  "$TUTTI_PROGRAM" "${plan[@]}" --workers 1 --out "$surrogate-killed" >/dev/null 2>&1 </dev/null &
  run=$!
  for ((i = 0; i < 1000; i++)); do
    kill -STOP "$run" # it must not end while it is looked at
    "$TUTTI_PROGRAM" status "$surrogate-killed" 2>/dev/null | grep -qE "([5-9]|1[01]) of 12 done" && break
    kill -CONT "$run"
    sleep 0.02
  done
  kill -9 "$run"
  wait "$run" 2>/dev/null
  checks=$((checks + 1))
  [ ! -e "$surrogate-killed/summary.json" ] || complain "the run had ended before it was killed"
  tutti "${plan[@]}" --out "$surrogate-killed" --resume
  expect_code 0
  trials "$surrogate-killed" >again
  checks=$((checks + 1))
  cmp -s whole again || complain "killed and resumed, the search goes another way"
done
finish
