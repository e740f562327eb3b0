#!/bin/bash
# Ensembles under a budget: what models cost, selectors that keep to a limit, and what accuracy costs (tutti curve --costs).
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
find_numpy
make_table
regression_recipe | sed "s/^plugin = cpu/plugin = mixed/; s/^budget = .*/budget = 12/; /^epochs/d; /^learning_rate/d; /^\[hyper/d" >mixed.ini
cat >>mixed.ini <<'INI'
[hyperparameters]
learner = choice cpu trees
trees.max_depth = integer 2 9
trees.trees = integer 2 30
[cpu]
epochs = 3
INI
tutti run mixed.ini --quiet --out run --set run.time_predictions=yes
expect_code 0
tutti run mixed.ini --quiet --out folds --set data.folds=3
expect_code 0
for run in run folds; do
  "$TUTTI_TEST_BUILDDIR/tests/cli/sql" $run/catalogue.sqlite "SELECT report FROM trials ORDER BY number" >$run.reports
done

# members LIMIT UNIT: the ensemble in out costs at most that, and something.
members() {
  checks=$((checks + 1))
  "$python" - run.reports "$1" "$2" <<'PY' || complain "expected members that cost at most $1 $2"
import json, sys
reports = [json.loads(line) for line in open(sys.argv[1])]
def cost(report):
    if sys.argv[3] != "bytes":
        return report[sys.argv[3]]
    return next(file["bytes"] for file in report["files"] if file["name"] == "weights.safetensors")
ensemble = json.load(open("out"))
ensemble = ensemble.get("ensemble", ensemble)
total = sum(cost(reports[member["trial"]]) for member in ensemble["members"])
assert 0 < total <= float(sys.argv[2]), total
left = [step["trial"] for step in ensemble["trace"] if step["note"].startswith("left out")]
assert not {member["trial"] for member in ensemble["members"]} & set(left)
assert {trial for trial in range(12) if cost(reports[trial]) > float(sys.argv[2])} <= set(left)
PY
}

# Every model has a cost, and one of several folds costs what all of its models cost. Times are measured where they are asked
# for alone.
checks=$((checks + 1))
"$python" - <<'PY' || complain "FLOPs of models and folds"
import json, os
def reports(run): return [json.loads(line) for line in open(run + ".reports")]
assert all(report["flops"] > 0 for report in reports("run") + reports("folds"))
assert all(0 < report["microseconds"] < 1e6 for report in reports("run"))
assert not any("microseconds" in report for report in reports("folds"))
def network(run, i): return json.load(open(f"{run}/trials/{i:06d}/network.json"))
networks = [i for i in range(12) if os.path.exists(f"folds/trials/{i:06d}/network.json")]
assert networks
for i in networks: # the first trials are drawn alike
    assert network("folds", i) == network("run", i)
    assert reports("folds")[i]["flops"] == 3 * reports("run")[i]["flops"]
PY

# Whatever selector chooses, it keeps to the limit.
few=$("$python" -c 'import json; print(3 * sorted(json.loads(line)["microseconds"] for line in open("run.reports"))[3])')
for selector in forward greedy quick-greedy top-m stacking all weighted; do
  for limit in 1500 10000; do
    tutti select run --json --set selector.plugin=within-cost --set selector.chosen_by=$selector --set selector.max_cost=$limit
    expect_code 0
    members $limit flops
  done
  tutti select run --json --set selector.plugin=within-cost --set selector.chosen_by=$selector --set selector.max_cost=20000 \
    --set selector.cost=bytes
  expect_code 0
  members 20000 bytes
  for time in 1 2; do
    tutti select run --json --set selector.plugin=within-cost --set selector.chosen_by=$selector --set selector.max_cost="$few" \
      --set selector.cost=microseconds
    expect_code 0
    members "$few" microseconds
    cp out chosen-$time
  done
  checks=$((checks + 1))
  cmp -s chosen-1 chosen-2 || complain "expected the same ensemble from the same recorded times"
done
# Without a limit, or with one that nothing exceeds, it is the choice of the other selector, with its picks.
tutti select run --json --set selector.plugin=forward-replace --set selector.size=9
"$python" -c 'import json; print(json.load(open("out"))["members"])' >whole
expect_in whole "'picks': 9"
for limit in 0 1e9; do
  tutti select run --json --set selector.plugin=within-cost --set selector.chosen_by=forward-replace --set chosen_by.size=9 --set selector.max_cost=$limit
  expect_code 0
  "$python" -c 'import json; print(json.load(open("out"))["members"])' >limited
  checks=$((checks + 1))
  cmp -s whole limited || complain "expected the members that forward-replace chooses"
done

# What accuracy costs: each ensemble costs at most half of the one before, but for the last, the cheapest model; the front is right.
tutti curve run --costs flops
expect_code 0
expect_out "flops" "members" "none is as cheap and as good"
curve() { # NAME UNIT SETTING...
  local name=$1 unit=$2 settings=()
  shift 2
  for setting; do settings+=(--set "$setting"); done
  tutti curve run --costs "$unit" --json "${settings[@]}"
  expect_code 0
  cp out "$name-$unit.curve"
}
for unit in flops bytes microseconds; do
  curve forward $unit selector.plugin=forward
  curve all $unit selector.plugin=all
  curve single $unit selector.plugin=top-m selector.size=1 # the last two of these cost nearly the same
  curve square $unit selector.plugin=top-m selector.size=1 selector.loss=mse
done
checks=$((checks + 1))
"$python" - <<'PY' || complain "the front of loss and cost"
import glob, json
reports = [json.loads(line) for line in open("run.reports")]
def cost(trial, unit):
    files = reports[trial]["files"]
    return reports[trial][unit] if unit != "bytes" else next(f["bytes"] for f in files if f["name"] == "weights.safetensors")
def loss(point):
    split = next(s for s in point["evaluation"] if s["split"] == "validation")
    return next(m["value"] for m in split["metrics"] if m["name"] == "nll")
beaten = 0
for path in glob.glob("*.curve"):
    points, unit = json.load(open(path)), path.split("-")[-1].split(".")[0]
    costs = [point["cost"] for point in points]
    assert len(points) > 1 and all(after < before for before, after in zip(costs, costs[1:]))
    assert all(2 * after <= before for before, after in zip(costs[:-1], costs[1:-1])), path
    assert costs[-1] == min(cost(trial, unit) for trial in range(12)), path
    for p in points:
        assert p["cost"] == sum(cost(member["trial"], unit) for member in p["ensemble"])
        by = any(q["cost"] <= p["cost"] and loss(q) <= loss(p) and (q["cost"], loss(q)) != (p["cost"], loss(p)) for q in points)
        assert p["front"] == (not by)
        beaten += by
assert beaten > 0
PY
tutti report run --to run.html
expect_code 0
expect_in run.html "cheaper ensembles" microseconds
tutti report folds --to folds.html
expect_code 0
expect_in folds.html "cheaper ensembles" flops

# --- refusals ---
tutti select run --set selector.plugin=within-cost --set selector.max_cost=1
expect_code 2
expect_err "expected a limit of at least" "the cost of the cheapest of 12 models; found 1"
tutti curve run --costs hours
expect_code 2
expect_err "flops, bytes or microseconds; found 'hours'"
tutti run mixed.ini --quiet --out kept --set run.keep_weights=no --set run.budget=3
expect_code 0
tutti select kept --set selector.plugin=within-cost --set selector.max_cost=1000 --set selector.cost=bytes
expect_code 2
expect_err "none of the 3 models is known in bytes" "weights were not kept"
for clash in --budgets=4 --members=3; do
  tutti curve run --costs flops $clash
  expect_code 2
  expect_err "expected a curve of costs, or of budgets and members; found both"
done
# The least limit that it asks for is enough, digit for digit.
for unit in flops bytes microseconds; do
  tutti select run --set selector.plugin=within-cost --set selector.max_cost=1e-9 --set selector.cost=$unit
  expect_code 2
  least=$(sed -n 's/.*a limit of at least \([^ ]*\) .*/\1/p' err)
  tutti select run --set selector.plugin=within-cost --set selector.max_cost="$least" --set selector.cost=$unit
  expect_code 0
  expect_out "Ensemble of 1"
done
tutti select run --set selector.plugin=within-cost --set selector.chosen_by=within-cost
expect_code 2
expect_err "[chosen_by] is of within-cost, whose parameter chosen_by asks for a plugin in this very section"
tutti select run --set selector.plugin=within-cost --set selector.chosen_by=within-cost --set chosen_by.chosen_by=within-cost
expect_code 2
expect_err "within-cost cannot stand in itself; put another one there"
tutti select run --set selector.plugin=within-cost --set selector.chosen_by=cheapest
expect_code 2
expect_err "cheapest"
finish
