#!/bin/bash
# docs/formats.md: the program in it, and another one that knows all of it (formats.py), predict from the files of a run
# alone what tutti predict does.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
find_numpy
make_table
regression_recipe >small.ini
sed -n '/^```python$/,/^```$/p' "$TUTTI_TEST_SRCDIR/docs/formats.md" | sed '/^```/d' >reader.py
# New rows: half of them beyond those of the data.
awk -F, -v OFS=, 'NR > 1 {$1 *= 2; $2 = $2 * 3 - 1} {print}' table.csv >new.csv

# expect_same NAME ROWS: both programs say of these rows what tutti predict does.
expect_same() {
  tutti predict "$1" "$2" --out predicted.csv
  expect_code 0
  "$python" "$TUTTI_TEST_SRCDIR/tests/cli/formats.py" "$1" "$2" predicted.csv >out 2>err
  code=$? what="formats.py $*"
  expect_code 0
  cp out met
}

# expect_same_means NAME ROWS: the program of the page does, too, of means and probabilities.
expect_same_means() {
  "$python" reader.py "$1" "$2" >means 2>err
  code=$? what="reader.py $*"
  expect_code 0
  tutti predict "$1" "$2" --uncalibrated --out predicted.csv
  expect_code 0
  checks=$((checks + 1))
  "$python" - <<'PYTHON' || complain "the program in docs/formats.md predicts otherwise than tutti: $*"
import csv, numpy
rows = list(csv.DictReader(open("predicted.csv")))
right = numpy.array([[float(x) for name, x in row.items() if name.startswith(("mean", "p_"))] for row in rows])
found = numpy.loadtxt("means", delimiter=",", ndmin=2)
assert found.shape == right.shape and (abs(found - right).max(0) <= 1e-5 * numpy.ptp(right, axis=0)).all()
PYTHON
}

# --- scales and activations of networks ---

# network SETTING...: a run with these settings is read right.
network() {
  rm -rf run
  tutti run small.ini --out run --quiet --set space.plugin=mlp --set space.activations='relu tanh swish' "$@"
  expect_code 0
  expect_same run new.csv
  expect_same_means run new.csv
}
network
network --set data.scaling=robust --set selector.plugin=all --set space.dropout=0.2
grep -q dropout run/trials/*/network.json || complain "expected dropout"
network --set data.scaling=quantile-normal --set data.quantiles=9 --set data.folds=3
network --set data.scaling=quantile-uniform --set data.bins=5 --set head.kind=linear
rm -rf run
tutti run small.ini --out run --quiet --set space.plugin=mlp --set selector.plugin=all --set run.budget=20 \
  --set space.activations='elu gelu hard-sigmoid selu sigmoid softplus softsign leaky-relu linear'
expect_code 0
expect_same run new.csv

# --- the recipe that tables begin with: networks with dropout, trees and machines, each of folds ---

# pool NAME TARGET SETTING...: all of these in one ensemble.
pool() {
  local name=$1 target=$2
  shift 2
  tutti run "$TUTTI_TEST_SRCDIR/ini/table.ini" --out "$name" --quiet --set data.path=table.csv \
    --set data.target="$target" --set data.folds=3 --set run.budget=14 --set selector.plugin=all \
    --set 'hyperparameters.trees.trees=integer 5 20' --set 'hyperparameters.cpu.epochs=integer 3 8' \
    --set builder.plugin=nes-rs --set evaluation.folds=0 "$@"
  expect_code 0
  grep -q '"fold2/' -a "$name"/trials/000000/weights.safetensors || complain "expected models of folds in $name"
  grep -q dropout "$name"/trials/*/network.json || complain "expected dropout in $name"
  expect_same "$name" new.csv
  checks=$((checks + 1))
  [ "$(cat met)" = "members: boosted forest network svm" ] ||
    complain "expected all learners in $name, found $(cat met)"
  expect_same_means "$name" new.csv
}
pool mixed y --set data.ignore=kind
grep -q aleatoric_factors mixed/ensemble.json || complain "expected a calibrator"
pool kinds kind --set data.ignore=y
grep -q inverse_temperature kinds/ensemble.json || complain "expected a calibrator"

# --- each backend, each calibrator, with dates, missing cells and rare texts ---

awk -v OFS=, 'function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
  BEGIN {
    state = 41
    print "size,street,code,day,price,rent,kind"
    for (i = 0; i < 400; i++) {
      a = draw() + draw() + draw() - 1.5; s = int(3 * draw()); c = int(1 + 6 * draw())
      y = 4 * a - 0.3 * c + 1.5 * (s == 1) + 0.4 * draw()
      street = i % 97 == 13 ? "rare" i : i % 17 == 3 ? "" : substr("MainHighPark", 4 * s + 1, 4)
      day = sprintf("20%02d-%02d-%02d", 10 + int(10 * draw()), 1 + int(12 * draw()), 1 + int(28 * draw()))
      if (i % 2) day = day sprintf("T%02d:%02d", int(24 * draw()), int(60 * draw()))
      print (i % 15 == 4 ? "" : sprintf("%.5f", a)), street, c, (i % 31 == 7 ? "NA" : day), sprintf("%.5f", y), \
        sprintf("%.4f", 1e6 + a - c), (y > 0.6 ? "up" : y > -1 ? "even" : y > -3 ? "down" : "out")
    }
  }' >rows.csv
head -201 rows.csv >train.csv

learner() {
  run_learner "$@" --set data.categorical=code
  expect_same "$1" rows.csv
}
forest='plugin = trees\ntrees = 15' boosting='plugin = trees\ntrees = 15\nmethod = boosting'
learner forest price "$forest" 'plugin = conformal'
learner whole price "$forest\nmethod = extra-trees\nprior = 0\nmin_leaf = 3" 'plugin = conformal\nnormalise = no' \
  --set data.standardise=no
learner folded "price rent" "$boosting" 'plugin = variance-scaling\napart = yes' --set data.folds=3
learner machine "price rent" 'plugin = svm' 'plugin = conformal' --set data.bins=4
some='[hyperparameters]\nmost_rows = integer 30 90' # of the same rows, both models would be alike
learner process "price rent" "plugin = gp\nnoise = 0.01 1\n$some" 'plugin = variance-scaling\napart = yes'
learner smooth price "plugin = gp\nkernel = rbf\nard = no\n$some" '' --set data.folds=3 \
  --set evaluation.epistemic=unbiased
learner forest-kinds kind "$forest\nmin_leaf = 3" 'plugin = isotonic\nrows_per_class = 5'
learner boosted-kinds kind "$boosting" 'plugin = vector-scaling\nrows_per_class = 5' --set data.folds=3
learner pairs kind 'plugin = svm' '' --set data.folds=3
learner votes kind 'plugin = svm\nfolds = 0' ''
sed 's/,\(down\|out\)$/,even/' train.csv >two.csv
learner two-boosted kind "$boosting" '' --set data.path=two.csv
learner two-pairs kind 'plugin = svm' '' --set data.path=two.csv --set data.folds=3
# A class with one row: the fold that has it leaves rows of one class to learn from.
sed 's/,\(down\|up\|out\)$/,even/; 100s/,[a-z]*$/,lone/' train.csv >lone.csv
learner lone-forest kind "$forest" '' --set data.path=lone.csv --set data.folds=3
learner lone-boosted kind "$boosting" '' --set data.path=lone.csv --set data.folds=3
learner lone-pairs kind 'plugin = svm' '' --set data.path=lone.csv --set data.folds=3
learner lone-votes kind 'plugin = svm\nfolds = 0' '' --set data.path=lone.csv --set data.folds=3

# --- what the program of the page does not know, it names ---

cut -d, -f1,2,3,5- train.csv >plain.csv # without dates
learner plain price "plugin = gp\n$some" '' --set data.path=plain.csv
for case in 'forest dates' 'plain the backend of trial 0'; do
  "$python" reader.py "${case%% *}" rows.csv >out 2>err
  code=$? what="reader.py $case"
  expect_code 1
  expect_err "this example does not know ${case#* }"
done

for op in dense conv2d head-gaussian; do
  tutti inspect op/$op
  expect_code 0
done
expect_out "floor = 0" "The least"
tutti inspect op/dance
expect_usage_error "there is no op 'dance'; did you mean 'dense'?"
finish
