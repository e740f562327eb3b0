#!/bin/bash
# Cross-validation (data.folds) and groups of rows (data.groups): every row of the pool is predicted by a model that has not
# seen it, other rows by the mixture of all, test rows by nobody before the end; groups are never torn apart.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
find_numpy
make_table
regression_recipe | sed 's/^split = .*/split = 0.6 0.2 0.2\nfolds = 4/; s/^budget = .*/budget = 4/' >values.ini
classification_recipe | sed 's/^split = .*/split = 0.6 0.2 0.2\nfolds = 4/; s/^budget = .*/budget = 4/' >classes.ini

numbers() { # the program on its input says "right"
  what="a program of NumPy"
  "$python" - >out 2>err
  code=$?
  expect_code 0
  expect_out right
}

# --- trials of several models ---

for recipe in values classes; do
  tutti run $recipe.ini --quiet --out $recipe
  expect_code 0
  expect_out "4 of 4 done, 0 failed" "96 validation and training, by 4 folds, 24 test"
  tutti status $recipe
  expect_out "96 validation and training, by 4 folds, 24 test"
  tutti run $recipe.ini --quiet --workers 3 --out $recipe-again
  expect_code 0
  checks=$((checks + 1))
  cmp -s $recipe/summary.json $recipe-again/summary.json || complain "expected the same summary.json"
  rm -r $recipe-again/trials/000002
  tutti run $recipe-again/recipe.ini --resume --quiet --out $recipe-again
  expect_code 0
  checks=$((checks + 1))
  cmp -s $recipe/trials/000002/weights.safetensors $recipe-again/trials/000002/weights.safetensors ||
    complain "expected the same weights again"
  tutti predict $recipe table.csv
  expect_code 0
  checks=$((checks + 1))
  [ "$(wc -l <out)" -eq 121 ] || complain "expected a heading and 120 rows"
  cp table.csv rows.csv
  tutti predict $recipe rows.csv --out ./rows.csv
  expect_usage_error "--out ./rows.csv: that is the file with the rows"
  checks=$((checks + 1))
  cmp -s table.csv rows.csv || complain "expected the rows to be left alone"
  # A file is replaced by one of its kind alone: predictions by predictions, a model by a model, a report by a report.
  for form in csv npy json; do
    for again in csv npy json; do
      rm -f there there.npy
      to() { [ "$1" = npy ] && echo there.npy || echo there; }
      json() { [ "$1" = json ] && echo --json || echo --strict; } # all rows can be read
      tutti predict $recipe rows.csv --out "$(to $form)" "$(json $form)"
      expect_code 0
      cp "$(to $form)" "$(to $again)" 2>cp.err
      tutti predict $recipe rows.csv --out "$(to $again)" "$(json $again)"
      expect_code 0
    done
  done
  echo mine >notes
  cp notes notes.npy
  cp notes notes.onnx
  cp notes notes.html
  for command in "predict $recipe rows.csv --out notes" "predict $recipe rows.csv --out notes.npy" "predict $recipe rows.csv --out notes --json" \
    "export $recipe --to notes.onnx" "report $recipe --to notes.html"; do
    # shellcheck disable=SC2086
    tutti $command
    expect_code 2
    expect_empty out
    expect_err "notes" ": a file is there, and it is not " " by tutti: it is left as it is; give another name, or remove it"
    for file in notes notes.npy notes.onnx notes.html; do expect_in $file mine; done
  done
  echo '<!DOCTYPE html><p>mine</p>' >notes.html
  tutti report $recipe --to notes.html
  expect_code 2
  expect_in notes.html mine
  : >empty.onnx
  for i in 1 2; do
    tutti export $recipe --to empty.onnx
    expect_code 0
    tutti report $recipe --to report.html
    expect_code 0
  done
  tutti predict $recipe rows.csv --out /dev/null
  expect_code 0
  tutti export $recipe --to x.onnx
  expect_code 0
  tutti report $recipe
  expect_code 0
done
expect_in values/summary.json epistemic-within

# Folds are of one size, the classes in each as often as in all, and rows of training and validation are the same.
numbers <<'PY'
import numpy as np
for run in "values", "classes":
    fold = np.load(f"{run}/splits/validation-folds.npy")
    assert sorted(np.bincount(fold)) == [24] * 4, np.bincount(fold)
    assert (np.load(f"{run}/splits/train-rows.npy") == np.load(f"{run}/splits/validation-rows.npy")).all()
    assert not set(np.load(f"{run}/splits/train-rows.npy")) & set(np.load(f"{run}/splits/test-rows.npy"))
labels, counts = np.load("classes/splits/validation-labels.npy"), []
for f in range(4):
    counts.append((labels[fold == f] == 0).sum())
assert max(counts) - min(counts) <= 1, counts
print("right")
PY

# --- who sees which row ---

# Blocks of the file are folds, and nothing is scaled: what a model has not seen cannot move its predictions.
sed 's/^folds.*/folds = 4\nsplit_order = file\nstandardise = no/; s/^plugin = cpu/plugin = trees\ntrees = 5/; /^\[hyper/,/^learning/d' values.ini >trees.ini
awk -F, -v OFS=, 'NR > 1 && NR <= 25 { $4 = 50 - $4 } 1' table.csv >other-fold.csv
awk -F, -v OFS=, 'NR > 97 { $1 = $2 + 0.5; $4 = 50 - $4; $5 = $5 == "up" ? "down" : "up" } 1' table.csv >other-test.csv
for other in "" -fold -test; do
  tutti run trees.ini --quiet --out "trees$other" ${other:+--set data.path=other$other.csv}
  expect_code 0
done
tutti predict trees table.csv
expect_code 0
cp out predicted.csv
# Without a variance, what models of one member do not agree on is told all the same.
tutti run trees.ini --quiet --out linear --set head.kind=linear --set run.loss=mse --set run.budget=1 --set selector.size=1
expect_code 0
tutti predict linear table.csv
expect_code 0
cp out linear.csv
tutti export linear --to linear.onnx
expect_code 0
numbers <<'PY'
import csv, json, pathlib, struct
import numpy as np
fold = np.load("trees/splits/validation-folds.npy")
assert (fold == np.arange(96) * 4 // 96).all()
def tensors(path):
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8 : 8 + size])
    return {k: data[8 + size + v["data_offsets"][0] : 8 + size + v["data_offsets"][1]] for k, v in head.items() if k != "__metadata__"}
for trial in range(4):
    base, other, test = (f"{run}/trials/{trial:06}" for run in ("trees", "trees-fold", "trees-test"))
    # Other targets in fold 0: its own model and predictions stay, all others move.
    a, b = np.load(base + "/validation.npy"), np.load(other + "/validation.npy")
    assert (a[fold == 0] == b[fold == 0]).all(), trial
    assert all((a[fold == f] != b[fold == f]).any() for f in (1, 2, 3)), trial
    one, two = tensors(base + "/weights.safetensors"), tensors(other + "/weights.safetensors")
    for f in range(4):
        same = all(one[k] == two.get(k) for k in one if k.startswith(f"fold{f}/"))
        assert same == (f == 0), (trial, f)
    # Other test rows: not a bit.
    assert (a == np.load(test + "/validation.npy")).all()
    assert one == tensors(test + "/weights.safetensors")
assert json.load(open("trees/ensemble.json"))["members"] == json.load(open("trees-test/ensemble.json"))["members"]
# Test rows get the mixture, whose variance has the disagreement of the folds in it.
summary = json.load(open("trees/summary.json"))
parts = {m["name"]: m["value"] for s in summary["evaluation"] if s["split"] == "test" for m in s["metrics"]}
assert parts["epistemic-within"] > 0
own = np.load("trees/trials/000000/test-epistemic.npy"), np.load("trees/trials/000000/test.npy")
assert (own[0] >= 0).all() and (own[0] <= own[1][..., 1] * 1.0001).all() and (own[0] > 0).any()
assert (np.load("trees/trials/000000/validation-epistemic.npy") == 0).all()
linear = np.load("linear/trials/000000/test-epistemic.npy")
assert (linear == own[0]).all() and np.isnan(np.load("linear/trials/000000/test.npy")[..., 1]).all()
told = [row["epistemic"] for row in csv.DictReader(open("linear.csv"))][96:]
assert np.allclose(np.array(told, float), np.sqrt(linear[:, 0]), rtol=1e-4), (told[:3], np.sqrt(linear[:3, 0]))
# `predict` says of test rows what the trials said.
ensemble = json.load(open("trees/ensemble.json"))
weights = np.array([m["weight"] for m in ensemble["members"]])
mean = sum(w * np.load(f"trees/trials/{m['trial']:06}/test.npy")[:, 0, 0] for w, m in zip(weights / weights.sum(), ensemble["members"]))
rows = list(csv.DictReader(open("predicted.csv")))
column = next(k for k in rows[0] if k.endswith("mean"))
assert np.allclose([float(r[column]) for r in rows[96:]], mean, rtol=1e-4, atol=1e-5)
print("right")
PY

# --- groups ---

awk -F, -v OFS=, 'NR == 1 { print $0, "patient"; next } { print $0, "p" int((NR * 7 % 120) / 5) }' table.csv >grouped.csv
sed 's/^path = .*/path = grouped.csv\ngroups = patient/' values.ini >grouped.ini
tutti run grouped.ini --quiet --out grouped
expect_code 0
tutti run grouped.ini --quiet --out single --set data.folds=0
expect_code 0
expect_not_in grouped/data.json '"patient='
numbers <<'PY'
import csv
import numpy as np
patient = [row["patient"] for row in csv.DictReader(open("grouped.csv"))]
assert len(set(patient)) == 24
def of(run, split):
    return {patient[r] for r in np.load(f"{run}/splits/{split}-rows.npy")}
assert not of("grouped", "train") & of("grouped", "test")
for a, b in ("train", "validation"), ("train", "test"), ("validation", "test"):
    assert of("single", a) and not of("single", a) & of("single", b), (a, b)
rows, fold = np.load("grouped/splits/validation-rows.npy"), np.load("grouped/splits/validation-folds.npy")
home = {}
for r, f in zip(rows, fold):
    assert home.setdefault(patient[r], f) == f
sizes = np.bincount(fold)
assert len(sizes) == 4 and max(sizes) - min(sizes) <= 5, sizes
print("right")
PY

tutti validate grouped.ini
expect_code 0
checks=$((checks + 1))
grep -qE '^ *patient +groups ' out || complain "expected the role of the column of groups"

refused() { # SETTING... -- TEXT...
  local settings=()
  while [ "$1" != -- ]; do settings+=(--set "$1"); shift; done
  shift
  tutti validate grouped.ini "${settings[@]}"
  expect_code 2
  expect_err "$@"
}

# --- calibration rows of grouped data are whole groups, and so are the folds that judge a calibrator ---

printf '%s\n' '[calibrator]' 'plugin = variance-scaling' '[evaluation]' 'folds = 3' | cat grouped.ini - | sed 's/^groups.*/&\ncalibration = 0.3/' >kept.ini
tutti run kept.ini --quiet --out kept
expect_code 0
tutti run kept.ini --quiet --out kept-again --workers 3
expect_code 0
tutti run kept.ini --quiet --out kept-single --set data.folds=0
expect_code 0
checks=$((checks + 1))
[ "$("$json_value" kept/ensemble.json calibration split)" = calibration ] || complain "expected a fit to the calibration rows"
for file in summary.json ensemble.json splits/calibration-rows.npy splits/calibration-groups.npy; do
  checks=$((checks + 1))
  cmp -s kept/$file kept-again/$file || complain "expected the same $file"
done
for split in validation test; do
  checks=$((checks + 1))
  cmp -s kept-single/splits/$split-rows.npy single/splits/$split-rows.npy || complain "expected the same $split rows"
done
numbers <<'PY'
import csv
import numpy as np
patient = [row["patient"] for row in csv.DictReader(open("grouped.csv"))]
for run, others, share in (("kept", ("validation", "test"), (0.6, 0)), ("kept-single", ("train", "validation", "test"), (0.6, 0))):
    rows = np.load(f"{run}/splits/calibration-rows.npy")
    mine = {patient[r] for r in rows}
    for other in others:
        assert not mine & {patient[r] for r in np.load(f"{run}/splits/{other}-rows.npy")}, (run, other)
    assert abs(len(rows) - 0.3 * 72) <= 5, len(rows)  # of 72 training rows, in groups of 5
    for split in ("calibration",) + others:
        rows, group = (np.load(f"{run}/splits/{split}-{name}.npy") for name in ("rows", "groups"))
        names = [patient[r] for r in rows]
        assert (group == [names.index(name) for name in names]).all(), (run, split)
print("right")
PY
# A run that is looked at later judges by the groups that it has stored.
cp -r kept kept-selected
tutti select kept-selected --keep
expect_code 0
for what in before after; do
  checks=$((checks + 1))
  [ "$("$json_value" kept/ensemble.json calibration $what)" = "$("$json_value" kept-selected/ensemble.json calibration $what)" ] ||
    complain "expected the same verdict as that of the run"
done
tutti select kept --set evaluation.folds=7
expect_code 0
expect_out "it is judged by 7 folds of whole groups, and its"
refused data.calibration=0.01 -- "data.calibration: 0.01 of the 70 training rows, as whole groups, is none; give a larger share"

# --- a learner's own folds ---

# Each site has a level that the input names: rows of a site that was seen are predicted to .1, new sites to about 3. The levels
# of stretches of rows likewise. A variance from rows of the same site, or stretch, would be that of .1.
"$python" - <<'PY'
import random
random.seed(7)
with open("sites.csv", "w") as file:
    print("site,x,y", file=file)
    for site in range(40):
        level = random.gauss(0, 3)
        for _ in range(6):
            print(f"s{site},{site + random.gauss(0, .01):.4f},{level + random.gauss(0, .1):.4f}", file=file)
PY
judged() { # judged NAME LEARNER SETTING...: the predicted noise of rows that the models have not seen is of the size of their errors
  local name=$1 learner=$2
  shift 2
  {
    printf '[run]\nbudget = 1\nseed = 3\n[data]\nplugin = csv\npath = sites.csv\ntarget = y\nsplit = 0.6 0.3 0.1\n'
    printf '[space]\nplugin = fixed\n[builder]\nplugin = nes-rs\n[selector]\nplugin = all\n[backend]\n%b\n' "$learner"
  } >"$name.ini"
  tutti run "$name.ini" --quiet --out "$name" "$@"
  expect_code 0
  "$python" - "$name" >out 2>err <<'PY'
import json, sys
for split in json.load(open(sys.argv[1] + "/summary.json"))["evaluation"]:
    metrics = {metric["name"]: metric["value"] for metric in split["metrics"]}
    if split["split"] == "validation":
        ratio = metrics["aleatoric"] / metrics["rmse"]
        assert metrics["rmse"] > 1 and .5 < ratio < 2, (metrics["rmse"], metrics["aleatoric"])
print("right")
PY
  code=$?
  expect_code 0
  expect_out right
}
for learner in 'plugin = trees\nmethod = boosting' 'plugin = svm\ngamma = 20\nc = 30'; do
  name=own-$(echo "$learner" | cut -d' ' -f3 | head -c 3)
  judged "$name-groups" "$learner" --set data.groups=site
  judged "$name-order" "$learner" --set data.ignore=site --set data.split_order=file
  judged "$name-folds" "$learner" --set data.groups=site --set data.folds=3
done

# Where a training has rows of one group alone, it has no others to judge itself by: that is said, and of two it is not.
said="data.groups: the rows of a training are of one group alone"
for case in "3 0 said" "6 0 not" "4 2 said" "8 2 not"; do
  read -r sites folds expected <<<"$case"
  head -$((6 * sites + 1)) sites.csv >few.csv
  tutti run values.ini --quiet --set data.path=few.csv --set data.target=y --set data.ignore= --set data.groups=site \
    --set data.split="0.5 0.25 0.25" --set data.folds="$folds" --out "few-$sites"
  expect_code 0
  if [ "$expected" = not ]; then expect_not_in err "$said"; else expect_err "$said"; fi
done
# How many groups the parts have is shown, and the page does not take rows of one for independent.
tutti status few-3
expect_out "6 train of 1 group, 6 validation of 1 group, 6 test of 1 group"
tutti status few-8
expect_out "36 validation and training, of 6 groups, by 2 folds, 12 test of 2 groups"
# Groups are dealt by their rows: one large group is a fold by itself, and the others' only training.
{ echo site,x,y; for i in $(seq 78); do echo "s$((i <= 60 ? 0 : (i - 55) / 6)),$i,$((i * i % 17))"; done; } >uneven.csv
tutti validate values.ini --set data.path=uneven.csv --set data.target=y --set data.ignore= --set data.groups=site \
  --set data.split="0.8 0.2 0" --set data.folds=2
expect_code 0
expect_err "$said"
tutti status few-8 --json
expect_json 2 data groups test
tutti report few-8 --to few.html
expect_code 0
expect_in few.html "The 12 test rows are of only 2 groups" "by up to <b>71 percentage points</b>" "for testing are of <b>2 groups</b>"
tutti report values --to values.html
expect_code 0
expect_not_in values.html "data.groups" "groups</b>"

# --- large tables do without; refusals ---

tutti run values.ini --quiet --out large --set data.folds_below=90
expect_code 0
expect_out "72 train, 24 validation, 24 test"
refused data.folds=1 -- "data.folds" "2 and more"
refused data.folds=40 -- "data.folds" "as many folds as groups"
refused data.groups= data.ignore=kind,patient data.folds=97 -- "data.folds" "rows of training and validation, 96"
refused data.groups=patientt -- "data.groups" "did you mean 'patient'"
refused data.groups=patient,group -- "data.groups" "one column"
refused data.groups=y -- "data.groups" "named twice"
finish
