#!/bin/bash
# backend.encodings = no: a network that leaves out what data.bins adds is, to the bit, that of a table without bins, in
# training, in predictions and in what is kept; a search may choose.
# shellcheck shell=bash
# shellcheck source=tests/cli/harness.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
# shellcheck source=tests/cli/recipes.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
regression_recipe >small.ini
sql() { "$TUTTI_TEST_BUILDDIR/tests/cli/sql" "$1/catalogue.sqlite" "$2"; }
run() { # DIRECTORY SETTING...
  local directory=$1 setting
  local -a settings=()
  for setting in "${@:2}"; do settings+=(--set "$setting"); done
  tutti run small.ini --out "$directory" --quiet "${settings[@]}"
}

run plain data.bins=0
expect_code 0
run bins data.bins=4
expect_code 0
run without data.bins=4 backend.encodings=no
expect_code 0
losses="SELECT number, loss FROM trials ORDER BY number"
[ "$(sql plain "$losses")" = "$(sql without "$losses")" ] || complain "losses are not those of a table without bins"
[ "$(sql bins "$losses")" != "$(sql without "$losses")" ] || complain "encodings = no changes nothing"
for rows in validation test; do
  cmp -s plain/trials/000003/$rows.npy without/trials/000003/$rows.npy || complain "$rows: other predictions"
done

# The file of weights has room for all inputs, and whoever reads it needs to know of nothing: other processes predict the
# same.
tutti predict plain table.csv --out plain.csv
expect_code 0
tutti predict without table.csv --out without.csv
expect_code 0
cmp -s plain.csv without.csv || complain "predict: other predictions than without bins"

# In 16 bits, the layer that reads the inputs has its own way of multiplying.
run plain16 data.bins=0 backend.precision=bfloat16
run without16 data.bins=4 backend.precision=bfloat16 backend.encodings=no
[ "$(sql plain16 "$losses")" = "$(sql without16 "$losses")" ] || complain "bfloat16: other losses than without bins"

# A search chooses for each network.
run chosen data.bins=4 'hyperparameters.encodings=choice yes no' run.budget=8
expect_code 0
for choice in yes no; do
  [ "$(sql chosen "SELECT count(*) > 0 FROM trials WHERE candidate LIKE '%encodings%$choice%'")" = 1 ] ||
    complain "no network has encodings = $choice"
done

# Without bins there is nothing to leave out.
run nothing data.bins=0 backend.encodings=no
expect_code 0
[ "$(sql plain "$losses")" = "$(sql nothing "$losses")" ] || complain "encodings = no changes a table without bins"
finish
