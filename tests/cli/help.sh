#!/bin/bash
# What the program says of itself.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"

tutti
expect_code 2
expect_empty out
expect_err "Usage: tutti COMMAND" "tutti COMMAND --help"

# Those that people are shown, by the program's own word.
commands=$("$TUTTI_PROGRAM" --help | awk '/^  [a-z]/ { print $1 }')
for command in run validate list inspect status select evaluate curve predict compare ablate distance doctor; do
  checks=$((checks + 1))
  grep -qx "$command" <<<"$commands" || complain "expected in tutti --help: $command"
done

for how in --help -h help; do
  tutti $how
  expect_code 0
  expect_empty err
  expect_out "Usage: tutti COMMAND" run doctor
  expect_not_in out worker
  expect_not_in out scan-plugin
  expect_not_in out man-page
done

tutti --version
expect_code 0
expect_out "tutti " "plugin ABI"

for command in $commands; do
  tutti "$command" --help
  expect_code 0
  expect_empty err
  expect_out "Usage: tutti $command" --verbose
  tutti "$command" --no-such-option
  expect_code 2
  expect_empty out
  expect_err "no-such-option"
  tutti "$command" --help
  cp out by-option
  tutti help "$command"
  expect_code 0
  checks=$((checks + 1))
  diff by-option out >/dev/null || complain "expected what tutti $command --help says"
done
tutti help worker
expect_usage_error "there is no command 'worker'"
tutti check
expect_usage_error "expected a recipe, as in: tutti validate"
tutti validate --help
expect_out "Also called tutti check."
tutti predict -h
tr -s ' \n' ' ' <out >whole
expect_in whole "metrics follow, on stdout with --out, else on stderr: of the rows with a target and a prediction" "models of several folds"

tutti rnu
expect_usage_error "there is no command 'rnu'" "did you mean 'run'"
tutti zzzzzzzzzz
expect_usage_error "there is no command 'zzzzzzzzzz'" "tutti --help"
expect_not_in err "did you mean"

for command in run validate status select evaluate curve predict compare ablate distance; do
  tutti $command
  expect_code 2
  expect_empty out
  expect_err "expected a"
done
tutti run one.ini two.ini
expect_usage_error "expected one recipe, found 'one.ini' and 'two.ini'"
tutti predict runs/x
expect_usage_error "expected a run directory and a file"
for workers in 0 -1 x 5000 1x; do
  tutti run recipe.ini --workers="$workers"
  expect_usage_error "--workers: expected a number from 1 to 4096, found '$workers'"
done
tutti run --set
expect_usage_error "set"
tutti list builder selector
expect_usage_error "expected one kind, found 'builder' and 'selector'"
tutti man-page here
expect_usage_error "expected options alone, found 'here'"
tutti compare runs/x --over-time=0
expect_usage_error "--over-time: expected a number from 1 to 1000000000, found '0'"
tutti compare runs/x --reselect
expect_usage_error "--reselect goes with --over-time N"
tutti distance --space darts --recipe x.ini a b
expect_usage_error "expected --space or --recipe, found both"
for numbers in 1,x 0 -3; do
  tutti curve runs/x --budgets="$numbers"
  expect_usage_error "--budgets: expected positive numbers separated by commas"
done
mapfile -t many < <(seq 257)
tutti compare "${many[@]}"
expect_usage_error "expected at most 256 arguments: give a folder that holds them"
tutti status runs/x --trials=x
expect_usage_error "--trials: expected a number"
tutti ablate recipe.ini
expect_usage_error "expected --out DIR"
tutti ablate recipe.ini --out x --seeds 0
expect_usage_error "--seeds: expected a number from 1"
tutti worker
expect_usage_error "started by tutti run"
tutti worker --no-such-directory
expect_code 1

# An option whose variable was empty.
tutti export somewhere --to ""
expect_code 2
expect_err "tutti export: --to: expected PATH, found nothing" "--help"
tutti predict somewhere rows.csv --out=
expect_code 2
expect_err "--out: expected FILE, found nothing"

# Results that cannot be written are an error.
if [ -w /dev/full ]; then
  "$TUTTI_PROGRAM" --help >/dev/full 2>err
  code=$?
  : >out
  expect_code 1
  expect_err "cannot write the result"
fi
what="tutti-conform -h"
"$TUTTI_TEST_BUILDDIR/tutti-conform" -h >out 2>err
code=$?
expect_code 0
expect_out "Usage: tutti-conform"
finish
