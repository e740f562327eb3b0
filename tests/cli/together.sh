#!/bin/bash
# One ensemble out of several finished runs: networks and trees over the same rows.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/pages.sh"
find_numpy
make_table
cut -d, -f1-3 table.csv >new.csv
regression_recipe | sed 's/^split = .*/&\nsplit_seed = 7/' >networks.ini
sed 's/^plugin = mlp/plugin = fixed/; s/^plugin = cpu/plugin = trees/; s/^seed = 3/seed = 4/; /^epochs\|^learning_rate/d' networks.ini |
  sed 's/^\[hyperparameters\]/&\ntrees = integer 2 20/' >trees.ini
for run in networks trees; do
  tutti run $run.ini --out $run --quiet
  expect_code 0
done

# All models of both, and what they say of rows is computed from their own files, with NumPy.
tutti select networks trees --set selector.plugin=all --out both
expect_code 0
expect_out "nes-rs" "mlp" "fixed" "trees" "trial 3 of run 2" "run         both"
checks=$((checks + 1))
"$python" - both <<'PY' || complain "metrics of models of two runs"
import json, sys
import numpy as np
home = sys.argv[1]
ensemble = json.load(open(f"{home}/ensemble.json"))
assert len(ensemble["members"]) == 12
target = np.load(f"{home}/runs/1/splits/test-targets.npy").reshape(-1)
mean = np.zeros_like(target, dtype=float)
for member in ensemble["members"]:
    assert member["trial"] == 6 * (member["pool"] - 1) + member["pool_trial"]
    own = np.load(f"{home}/runs/{member['pool']}/trials/{member['pool_trial']:06d}/test.npy")
    mean += member["weight"] * own.reshape(len(target), -1)[:, 0]
rmse = np.sqrt(np.mean((mean - target) ** 2))
summary = json.load(open(f"{home}/summary.json"))
split = next(s for s in summary["evaluation"] if s["split"] == "test")
found = next(m["value"] for m in split["metrics"] if m["name"] == "rmse")
assert abs(found - rmse) < 1e-6 * rmse, (found, rmse)
assert [(p["run"], p["members"], p["backend"]) for p in summary["pools"]] == [("networks", 6, "cpu"), ("trees", 6, "trees")]
PY

# Its predictions are the mean of what the runs predict each by themselves, with equal weights.
for run in networks trees; do
  tutti select $run --set selector.plugin=all --json
  expect_code 0
  cp out all.json
  tutti predict $run new.csv --ensemble all.json
  expect_code 0
  cp out $run.predictions
done
tutti predict both new.csv
expect_code 0
cp out both.predictions
checks=$((checks + 1))
"$python" - <<'PY' || complain "predictions of models of two runs"
import csv
def means(name): return [float(row["mean"]) for row in csv.DictReader(open(name + ".predictions"))]
both, one, two = means("both"), means("networks"), means("trees")
assert len(both) == 120 and all(abs(b - (x + y) / 2) < 1e-6 * (1 + abs(b)) for b, x, y in zip(both, one, two))
PY

# A pool that holds another chooses at least as well, and from both the best of both.
tutti select networks trees --set selector.plugin=top-m --set selector.size=1 --json
expect_code 0
cp out best.json
checks=$((checks + 1))
"$python" - <<'PY' || complain "the best model of both runs"
import json, sqlite3
loss = lambda run: min((row[0], row[1]) for row in sqlite3.connect(run + "/catalogue.sqlite").execute("SELECT loss, number FROM trials"))
best = [loss("networks"), loss("trees")]
member = json.load(open("best.json"))["members"][0]
pool = 0 if best[0] <= best[1] else 1
assert (member["pool"], member["pool_trial"]) == (pool + 1, best[pool][1]), (member, best)
PY

# A model that several runs have counts once, in the first of them: a longer run of the same recipe holds all models of the
# shorter one, and what is chosen of both is what is chosen of the longer one. Models of other seeds are others.
tutti run networks.ini --set run.budget=9 --out longer --quiet
expect_code 0
tutti select networks longer trees --set selector.plugin=all --out once
expect_code 0
expect_out "longer: 6 models are left out, since runs before it have the same"
expect_not_in out "networks: " "trees: "
tutti status once
expect_out "longer: 6 models are left out"
tutti report once --to once.html
expect_code 0
expect_page once.html
for runs in longer "longer networks" "networks longer"; do
  # shellcheck disable=SC2086
  tutti select $runs --set selector.plugin=forward-replace --set selector.size=6 --json
  expect_code 0
  cp out "chosen-${runs/ /-}.json"
done
tutti run networks.ini --set run.seed=5 --out seeded --quiet
tutti select networks seeded --set selector.plugin=all
expect_code 0
expect_out "Ensemble of 12"
expect_not_in out "left out"
checks=$((checks + 1))
"$python" - <<'PY' || complain "models that two runs have"
import csv, json
summary = json.load(open("once/summary.json"))
assert [(p["run"], p["trials"], p["repeated"], p["members"]) for p in summary["pools"]] == [
    ("networks", 6, 0, 6), ("longer", 9, 6, 3), ("trees", 6, 0, 6)], summary["pools"]
members = json.load(open("once/ensemble.json"))["members"]
assert [m["trial"] for m in members] == [*range(6), *range(12, 21)], members
shown = [(r["trials"], r["repeated"], r["members"]) for r in csv.DictReader(open("once.html.csv/once-pools.csv", newline=""))]
assert shown == [("6", "0", "6"), ("9", "6", "3"), ("6", "0", "6")], shown
chosen = {name: json.load(open(f"chosen-{name}.json")) for name in ("longer", "longer-networks", "networks-longer")}
def models(choice): return sorted((m.get("pool_trial", m["trial"]), m["weight"]) for m in choice["members"])
for name in ("longer-networks", "networks-longer"):
    assert models(chosen[name]) == models(chosen["longer"]), (name, chosen[name]["members"])
    of = lambda choice: [(m["name"], m["value"]) for s in choice["evaluation"] for m in s["metrics"] if m["name"] in ("nll", "rmse")]
    assert all(abs(x[1] - y[1]) <= 1e-9 * abs(y[1]) for x, y in zip(of(chosen[name]), of(chosen["longer"]))), name
PY

# The directory stands alone: its runs and data may go.
mkdir away
mv networks trees table.csv away
tutti predict both new.csv
expect_code 0
what="predictions without the runs"
checks=$((checks + 1))
cmp -s out both.predictions || complain "expected the same bits"
tutti evaluate both
expect_code 0
expect_out rmse
tutti curve both --budgets 6,12
expect_code 0
expect_out "rmse"
tutti status both
expect_code 0
expect_out "12 of 12 done" "networks" "trees"
tutti report both --to both.html
expect_code 0
expect_in both.html "The runs that it is chosen from"
tutti select both --keep --set selector.plugin=forward-replace --set selector.size=4
expect_code 0
expect_out "chosen by forward-replace"
tutti select both --keep --set selector.plugin=all
expect_code 0
tutti export both --to both.onnx --json
expect_code 0
# What was written has the numbers that the ensemble has.
checks=$((checks + 1))
"$python" - <<'PY' || complain "expected the members of both/ensemble.json"
import json
trials = [[m["trial"] for m in json.load(open(name))["members"]] for name in ("out", "both/ensemble.json")]
assert trials[0] == trials[1] and len(set(trials[0])) == 12, trials
PY
mv away/* .

# What does not go together.
sed 's/^split_seed = 7/split_seed = 8/' trees.ini >other.ini
tutti run other.ini --out other --quiet
tutti select networks other
expect_usage_error "networks and other have other data or splits: their fingerprints are" "data.split_seed"
tutti run trees.ini --set data.bins=3 --out binned --quiet
tutti select networks binned
expect_usage_error "networks and binned have other data" "these keys differ: data.bins (" ", and 3)"
sed 's/^budget = .*/&\nloss = mse/' trees.ini >mse.ini
tutti run mse.ini --out mse --quiet
expect_code 0
tutti select networks mse
expect_usage_error "networks minimises nll, and mse mse" "run.loss"
tutti select networks ./networks
expect_usage_error "networks and ./networks are the same run"
tutti select networks both
expect_usage_error "both is made of several runs itself"
tutti select networks trees --keep
expect_usage_error "--out DIR"
tutti select networks --out new
expect_usage_error "several runs with --out"
tutti select networks trees --out both
expect_usage_error "both: expected a new or empty directory"
tutti select networks trees --out new --set selector.size=many
expect_usage_error "selector.size"
expect_absent new
tutti run networks.ini --out both --resume
expect_usage_error "both is made of several finished runs"
tutti compare networks both
expect_out "both: made of several runs"

# A torn file of one of its runs.
printf x | dd of=both/runs/2/trials/000003/test.npy bs=1 seek=200 conv=notrunc 2>/dev/null
tutti evaluate both
[ "$code" -ne 0 ] || complain "a flipped byte was not noticed"
expect_err "both/runs/2/trials/000003/test.npy"
printf '{"runs": [{"trials": 6}, {"trials": 7}]}' >both/pools.json
tutti status both
expect_code 1
expect_err "both/runs/2: expected the 7 trials that it had, found 6"
printf '{"runs": [' >both/pools.json
tutti predict both new.csv
expect_code 1
expect_err "both/pools.json: expected"
finish
