#!/bin/bash
# backend.encodings = no: a network that leaves out what data.bins adds is, to the bit, that of a table without bins, in
# training, in predictions and in what is kept; a search may choose.
# shellcheck shell=bash
# shellcheck source=tests/cli/harness.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
# shellcheck source=tests/cli/recipes.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
# shellcheck source=tests/cli/pages.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/pages.sh"
find_numpy
make_table
regression_recipe >small.ini
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

# What is left out costs nothing: parameters, operations and bytes (but for the heading of the file) are those of a table
# without bins, in the trial's report, in ensembles under a budget and in the picture.
for name in plain bins without; do
  tutti report $name --to $name.html
  expect_code 0
  expect_page $name.html
  sql $name "SELECT report FROM trials ORDER BY number" >$name.reports
  for unit in flops bytes; do
    tutti curve $name --costs $unit --json
    expect_code 0
    cp out $name.$unit
  done
done
checks=$((checks + 1))
"$python" - <<'PY' || complain "the costs of networks that leave inputs out"
import csv, json, re
reports = {name: [json.loads(line) for line in open(name + ".reports")] for name in ("plain", "bins", "without")}
counted = {name: [(r["parameters"], r["flops"]) for r in reports[name]] for name in reports}
assert counted["plain"] == counted["without"], counted
assert all(more > fewer for many, few in zip(counted["bins"], counted["plain"]) for more, fewer in zip(many, few))
assert not any("unread" in report for name in ("plain", "bins") for report in reports[name])
def points(name, unit):
    return [(p["cost"], [m["trial"] for m in p["ensemble"]]) for p in json.load(open(f"{name}.{unit}"))]
assert points("plain", "flops") == points("without", "flops") != points("bins", "flops")
for plain, without in zip(points("plain", "bytes"), points("without", "bytes")):
    assert plain[1] == without[1] and abs(plain[0] - without[0]) <= 64 * len(plain[1]), (plain, without)
def column(name, table, of):
    return [row[of] for row in csv.DictReader(open(f"{name}.html.csv/{name}-{table}.csv", newline=""))]
for table, of in (("architectures", "parameters"), ("architectures", "flops"), ("members", "parameters"), ("pareto", "flops")):
    assert column("plain", table, of) == column("without", table, of) != column("bins", table, of), (table, of)
drawn = {name: set(re.findall(r">input (\d+)<", open(name + ".html").read())) for name in reports}
assert drawn["plain"] == drawn["without"] != drawn["bins"] and len(drawn["plain"]) == 1, drawn
PY

# The networks of folds have zeros each.
run plain-folds data.bins=0 data.folds=3
run without-folds data.bins=4 data.folds=3 backend.encodings=no
for name in plain without; do sql $name-folds "SELECT report FROM trials ORDER BY number" >$name.reports; done
checks=$((checks + 1))
"$python" - <<'PY' || complain "the bytes of the networks of folds"
import json
def costs(name):
    for line in open(name + ".reports"):
        report = json.loads(line)
        size = next(f["bytes"] for f in report["files"] if f["name"] == "weights.safetensors")
        yield report["parameters"], report["flops"], size - report.get("unread", {"bytes": 0})["bytes"]
plain, without = list(costs("plain")), list(costs("without"))
assert all(p[:2] == w[:2] and abs(p[2] - w[2]) <= 64 for p, w in zip(plain, without)), (plain, without)
PY

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
