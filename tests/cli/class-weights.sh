#!/bin/bash
# Class weights: a row that counts three times is as good as three rows, whatever learns; balanced weights make up for rare classes;
# metrics are not weighted; and what is no weight is refused.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
find_numpy
# 150 rows of two inputs and a class that overlaps with the other, in a fifth of the rows. tripled.csv has the training rows of that
# class three times; the rows that are judged have the same numbers in both.
"$python" - <<'PY'
import numpy as np
draw = np.random.default_rng(7)
rare = np.arange(150) % 5 == 0
x = draw.normal(size=(150, 2)) + rare[:, None] * [1.0, 0.5]
lines = [f"{a:.4f},{b:.4f},{'rare' if r else 'usual'}" for (a, b), r in zip(x, rare)]
train = range(90)
more = [lines[i] for i in train if rare[i]] * 2
for name, rows in (("plain", lines), ("tripled", lines + more)):
    with open(name + ".csv", "w") as file:
        file.write("\n".join(["a,b,kind"] + rows) + "\n")
def numbers(name, rows):
    with open(name, "w") as file: file.writelines(f"{row}\n" for row in rows)
numbers("plain.rows", train)
numbers("tripled.rows", [*train, *range(150, 150 + len(more))])
numbers("validation.rows", range(90, 120))
numbers("test.rows", range(120, 150))
print(len(more))
PY
recipe() { # TABLE LEARNER SETTING...
  local table=$1 learner=$2
  shift 2
  printf '[run]\nseed = 5\nbudget = 1\n[data]\nplugin = csv\npath = %s.csv\ntrain_rows = %s.rows\nvalidation_rows = validation.rows\n' "$table" "$table"
  printf 'test_rows = test.rows\nstandardise = no\n[space]\nplugin = fixed\n[builder]\nplugin = nes-rs\n[selector]\nplugin = all\n[backend]\nplugin = %s\n' "$learner"
  printf '%s\n' "$@"
}
# same NAME TOLERANCE: NAME-weighted predicts what NAME-tripled predicts, and not what NAME-plain does.
same() {
  checks=$((checks + 1))
  "$python" - "$@" <<'PY' || complain "expected weights to act as copies of rows ($1)"
import numpy as np, sys
name, tolerance = sys.argv[1], float(sys.argv[2])
plain, weighted, tripled = (np.load(f"{name}-{kind}/trials/000000/test.npy") for kind in ("plain", "weighted", "tripled"))
assert np.abs(weighted - tripled).max() < tolerance, np.abs(weighted - tripled).max()
assert np.abs(weighted - plain).max() > 100 * tolerance
PY
}
learner() { # NAME TOLERANCE LEARNER WEIGHTED PLAIN SETTING...: WEIGHTED and PLAIN are of the runs with and without weights
  local name=$1 tolerance=$2 learner=$3 weighted=$4 plain=$5 table
  shift 5
  for kind in plain weighted tripled; do
    table=$kind
    [ $kind = weighted ] && table=plain
    recipe $table "$learner" "$([ $kind = weighted ] && printf '%s' "$weighted" || printf '%s' "$plain")" "$@" >"$name-$kind.ini"
    tutti run "$name-$kind.ini" --quiet --out "$name-$kind" --set "data.class_weights=$([ $kind = weighted ] && echo rare: 3 || echo none)"
    expect_code 0
  done
  same "$name" "$tolerance"
}
learner cpu 1e-4 cpu '' '' 'batch_size = 500' 'epochs = 30' 'optimiser = sgd' 'learning_rate = 0.3' 'keep = last' 'early_stopping = 0'
learner forest 1e-5 trees '' '' 'bootstrap = no' 'features = 1' 'trees = 3' 'prior = 0' 'max_depth = 3'
tutti inspect backend/svm
# Costs are those of weights whose mean is 1: 18 of 90 rows count three times.
[ $code -ne 0 ] || learner svm 1e-3 svm 'c = 1.4' 'c = 1' 'folds = 0' 'tolerance = 1e-9' 'gamma = 0.5'
tutti run forest-plain.ini --quiet --out boosting --set backend.method=boosting
[ $code -ne 0 ] || learner boosting 1e-4 trees '' '' 'method = boosting' 'features = 1' 'trees = 10' 'l2 = 0' 'min_child = 0' 'max_depth = 2'

# Balanced: the rare class is told more often, by each learner and over folds; the metrics are of rows as they are.
balanced() { # NAME RECIPE OPTION...
  local name=$1 recipe=$2
  shift 2
  for weights in none balanced; do
    tutti run "$recipe" --quiet --out "$name-$weights" --set data.class_weights=$weights "$@"
    expect_code 0
  done
  checks=$((checks + 1))
  "$python" - "$name" <<'PY' || complain "expected balanced classes, and metrics of rows as they are ($name)"
import json, numpy as np, sys
rare = {}
for weights in ("none", "balanced"):
    run = f"{sys.argv[1]}-{weights}"
    p, labels = np.load(f"{run}/trials/000000/validation.npy"), np.load(f"{run}/splits/validation-labels.npy")
    rare[weights] = p[:, 0].mean()
    metrics = next(s for s in json.load(open(f"{run}/summary.json"))["evaluation"] if s["split"] == "validation")["metrics"]
    nll = next(m["value"] for m in metrics if m["name"] == "nll")
    assert abs(nll + np.log(p[np.arange(len(labels)), labels]).mean()) < 1e-5
assert rare["balanced"] > rare["none"] + 0.05, rare
PY
}
balanced cpu-all cpu-plain.ini
balanced cpu-folds cpu-plain.ini --set data.folds=3
balanced forest-all forest-plain.ini --set backend.max_depth=2
tutti inspect backend/svm
[ $code -ne 0 ] || balanced svm-all svm-plain.ini --set backend.folds=3

# Weights count by their ratio alone, as large as they may be; and a class may have a comma in its name.
one_weight() { # NAME WEIGHTS OPTION...
  local name=$1 weights=$2
  shift 2
  tutti run forest-plain.ini --quiet --out "$name" --set "data.class_weights=$weights" "$@"
  expect_code 0
  checks=$((checks + 1))
  cmp -s forest-weighted/trials/000000/test.npy "$name/trials/000000/test.npy" || complain "expected what rare: 3 gives"
}
one_weight huge 'rare: 1.5e308, usual: 5e307'
one_weight tiny 'rare: 3e-300,usual:1e-300,'
sed 's/,rare$/,"ra, ill"/' plain.csv >comma.csv
one_weight comma 'usual: 1, ra, ill: 3' --set data.path=comma.csv

# --- refusals ---
refused() { # WEIGHTS TEXT...
  local weights=$1
  shift
  tutti validate cpu-plain.ini --set "data.class_weights=$weights"
  expect_code 2
  expect_err "data.class_weights" "$@"
}
refused "scarce: 3" "no class 'scarce'; the first is 'rare'"
refused "Rare: 3" "no class 'Rare'; did you mean 'rare'?"
refused "rare: -1" "a weight above 0" "found '-1'"
refused "rare: much" "found 'much'"
refused "rare: 0x10" "found '0x10'"
refused "rare: 3, rare: 5" "expected each class once" "found 'rare'"
refused "" "expected none, balanced, or weights by name"
refused " , " "expected none, balanced, or weights by name"
refused "rare" "expected none, balanced, or weights by name" "found 'rare'"
tutti validate cpu-plain.ini --set data.class_weights=balanced --set data.target=a --set data.ignore=kind
expect_code 2
expect_err "data.class_weights" "has no classes"
finish
