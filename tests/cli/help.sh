#!/bin/bash
# What the program says of itself.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"

tutti
expect_code 2
expect_empty out
expect_err "Usage: tutti COMMAND" "tutti COMMAND --help"

for how in --help -h help; do
  tutti $how
  expect_code 0
  expect_empty err
  expect_out "Usage: tutti COMMAND" run validate list inspect status select evaluate curve predict compare ablate distance doctor
  expect_not_in out worker
  expect_not_in out scan-plugin
done

tutti --version
expect_code 0
expect_out "tutti " "plugin ABI"

for command in run validate list inspect status select evaluate curve predict compare ablate distance doctor; do
  tutti "$command" --help
  expect_code 0
  expect_empty err
  expect_out "Usage: tutti $command" --verbose
  tutti "$command" --no-such-option
  expect_code 2
  expect_empty out
  expect_err "no-such-option"
done

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
tutti status runs/x --trials=x
expect_usage_error "--trials: expected a number"
tutti ablate recipe.ini
expect_usage_error "expected --out DIR"
tutti ablate recipe.ini --out x --seeds 0
expect_usage_error "--seeds: expected a number from 1"
tutti worker
expect_usage_error "started by tutti run"

# Results that cannot be written are an error.
if [ -w /dev/full ]; then
  "$TUTTI_PROGRAM" --help >/dev/full 2>err
  code=$?
  : >out
  expect_code 1
  expect_err "cannot write the result"
fi
finish
