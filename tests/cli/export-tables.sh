#!/bin/bash
# tutti export of what is no network: trees, machines, models of folds, calibrators, and ini/table.ini with all of them, give in
# ONNX what tutti predict gives; and what a plugin cannot say, or a torn file, is refused by name.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/exported.sh"
read -ra cc <<< "$CC"
read -ra flags <<< "${TUTTI_TEST_CFLAGS:-}"

# 180 rows to learn from, 1300 to predict: numbers and texts with missing cells, texts that the first rows have not, two real
# targets and a class. Whole and half `rooms` sit on the thresholds between whole ones.
awk -v OFS=, 'function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
  BEGIN {
    state = 41
    print "size,street,rooms,age,price,rent,kind"
    for (i = 0; i < 1300; i++) {
      a = draw() + draw() + draw() - 1.5; s = int(3 * draw()); r = (i < 180 ? 1 : 0.5) * int(1 + 6 * draw()); g = 80 * draw()
      y = 4 * a - 0.3 * r + 1.5 * (s == 1) + 0.02 * g * sin(4 * a) + 0.4 * draw()
      street = substr("MainHighPark", 4 * s + 1, 4)
      if (i % 97 == 13) street = "rare" i
      if (i % 17 == 3) street = ""
      print (i % 15 == 4 ? "" : sprintf("%.5f", a)), street, r, sprintf("%.2f", g), sprintf("%.5f", y), \
        sprintf("%.4f", g + r), (y > 0.6 ? "up" : y > -1 ? "even" : "down")
    }
  }' >rows.csv
head -181 rows.csv >train.csv

# --- the recipe that tables begin with ---

small=(--quiet --set data.path=train.csv --set data.folds=3 --set run.budget=7 --set 'hyperparameters.trees.trees=integer 5 20'
  --set 'hyperparameters.cpu.epochs=integer 3 8')
table() { # table NAME TARGET OPTION...
  local name=$1 target=$2
  shift 2
  what="tutti run ini/table.ini ($name)"
  tutti run "$TUTTI_TEST_SRCDIR/ini/table.ini" --out "$name" "${small[@]}" --set data.target="$target" "$@"
  expect_code 0
  expect_exported "$name" rows.csv
}
table price price --set 'data.ignore=rent kind'
cp price/ensemble.json out
expect_json variance-scaling calibration parts of_values
table kinds kind --set 'data.ignore=rent price'
cp kinds/ensemble.json out
expect_json temperature calibration parts of_classes

# --- each learner, each calibrator ---

learner() {
  run_learner "$@"
  expect_exported "$1" rows.csv
}
forest='plugin = trees\ntrees = 15' boosting='plugin = trees\ntrees = 15\nmethod = boosting'
learner forest price "$forest" 'plugin = conformal'
expect_out " lower upper"
learner whole price "$forest\nmethod = extra-trees\nprior = 0\nmin_leaf = 3" 'plugin = conformal\nnormalise = no' --set data.standardise=no
learner folded "price rent" "$boosting" 'plugin = variance-scaling\napart = yes' --set data.folds=3
learner thresholds rent "$boosting" '' --set data.standardise=no --set head.kind=linear
learner svr "price rent" 'plugin = svm' 'plugin = conformal'
some='[hyperparameters]\nmost_rows = integer 30 90' # of the same rows, two processes would differ by rounding alone
learner process "price rent" "plugin = gp\nnoise = 0.01 1\n$some" 'plugin = variance-scaling\napart = yes'
expect_out " epistemic_within"
learner smooth price "plugin = gp\nkernel = rbf\nard = no\n$some" 'plugin = conformal' --set data.folds=3
learner values rent "plugin = gp\n$some" '' --set head.kind=linear
learner forest-kinds kind "$forest\nmin_leaf = 3" 'plugin = isotonic\nrows_per_class = 5'
learner boosted-kinds kind "$boosting" 'plugin = vector-scaling\nrows_per_class = 5' --set data.folds=3
learner pairs kind 'plugin = svm' ''
learner votes kind 'plugin = svm\nfolds = 0' ''
# Bins are for networks: what these learn is the same with them, wherever the numbers of a row stand.
for case in forest:0 folded:3 svr:0 process:0 smooth:3 pairs:0; do
  name=${case%:*}
  tutti run "$name.ini" --out "binned-$name" --quiet --set data.bins=5 --set data.folds="${case#*:}"
  expect_code 0
  expect_exported "binned-$name" rows.csv
  checks=$((checks + 1))
  grep -q '"edges"' "binned-$name/data.json" || complain "expected bins in binned-$name"
  cmp -s "$name/trials/000001/validation.npy" "binned-$name/trials/000001/validation.npy" || complain "expected the same model of $name with bins"
done
sed 's/,down$/,even/' train.csv >two.csv
learner two-boosted kind "$boosting" '' --set data.path=two.csv
learner two-pairs kind 'plugin = svm' '' --set data.path=two.csv --set data.folds=3
# A class with one row: the fold that has it leaves rows of one class to learn from.
sed 's/,\(down\|up\|out\)$/,even/; 100s/,[a-z]*$/,lone/' train.csv >lone.csv
learner lone-forest kind "$forest" '' --set data.path=lone.csv --set data.folds=3
learner lone-pairs kind 'plugin = svm' '' --set data.path=lone.csv --set data.folds=3
learner lone-votes kind 'plugin = svm\nfolds = 0' '' --set data.path=lone.csv --set data.folds=3

# Images in colour: trees and machines have their numbers in the order of rows, columns, channels.
"$python" - <<'PYTHON'
import numpy
draw = numpy.random.default_rng(5)
images = draw.integers(0, 256, (80, 4, 5, 3)).astype(numpy.uint8)
numpy.save("colours.npy", images)
brightness = images[:, 1, 3, 2] - images[:, 2, 0, 0] / 2 + images[:, 3, 4, 1] / 4
numpy.save("labels.npy", (brightness > numpy.median(brightness)).astype(numpy.int32))
PYTHON
for name in trees svm; do
  {
    printf '[run]\nbudget = 2\nseed = 3\n[data]\nplugin = npy\npath = colours.npy\ntarget_path = labels.npy\nsplit = 2 1 1\n'
    printf '[space]\nplugin = fixed\n[builder]\nplugin = nes-rs\n[selector]\nplugin = all\n[backend]\nplugin = %s\n' $name
  } >colours-$name.ini
  tutti run colours-$name.ini --out colours-$name --quiet
  expect_code 0
  expect_exported colours-$name colours.npy
done

# --- how large it is ---

# The size is that of the file; members take nearly all of it, and of a large model the largest is named.
# expect_size PATH BYTES: out, the JSON of an export, says so, and its members take most of that.
expect_size() {
  expect_json "$1" path
  expect_json "$2" bytes
  checks=$((checks + 1))
  "$python" - <<'PYTHON' || complain "expected members that take most of the model"
import json
written = json.load(open("out"))
members = sum(member["bytes"] for member in written["members"])
assert 0.9 * written["model_bytes"] < members < written["model_bytes"] <= written["bytes"], written
PYTHON
}
tutti export forest --to forest.onnx --json
expect_code 0
expect_size forest.onnx "$(stat -c %s forest.onnx)"
tutti export forest --to weighed --json
expect_code 0
expect_size weighed "$(cat weighed/* | wc -c)"
tutti export forest --to forest.onnx
expect_not_in out "of which"
sed 's/^budget.*/budget = 3/; s/^plugin = forward/plugin = all/; /^size/d' forest.ini >large.ini
tutti run large.ini --out large --quiet --set data.folds=5 --set 'hyperparameters.trees=integer 200 700'
expect_code 0
tutti export large --to large.onnx --json
expect_code 0
expect_size large.onnx "$(stat -c %s large.onnx)"
largest=$("$python" -c 'import json; print("{trial} ({backend}) takes".format(**max(json.load(open("out"))["members"], key=lambda m: m["bytes"])))')
tutti export large --to large.onnx
expect_code 0
expect_out "large.onnx: " " MiB, of which trial $largest "

# --- a folder that explains itself ---

for name in forest boosted-kinds; do
  tutti export $name --to whole-$name/
  expect_code 0
  expect_empty err
  checks=$((checks + 1))
  cmp -s $name.onnx whole-$name/model.onnx || complain "expected the same model as of --to $name.onnx"
  expect_in whole-$name/README.md "| \`size\` | double | [rows, 1] | a number; NaN: missing |" "| \`street\` | string | [rows, 1] |"
  cp whole-$name/model.json out
  expect_json double inputs 0 type
  [ -z "$runtime" ] || {
    what="example.py of $name"
    "$runtime" whole-$name/example.py >out 2>err
    code=$?
    expect_code 0
    checks=$((checks + 1))
    awk '$NF > 1e-5 {exit 1}' out || complain "expected the outputs of sample.json"
  }
done
cp whole-forest/sample.json out
for name in mean lower; do # predict prints as many digits as floats have
  checks=$((checks + 1))
  awk -v a="$("$json_value" forest.json $name 4)" -v b="$("$json_value" out outputs $name 4 0)" \
    'BEGIN {exit !(a != "" && (a - b) ^ 2 < 1e-13)}' || complain "expected what predict says: $name"
done
expect_json "" inputs street 3
expect_json null inputs size 4
echo mine >whole-forest/notes
tutti export forest --to whole-forest
expect_code 2
expect_err "whole-forest: expected a new or empty directory"
# without_sample NAME WHY...: the folder is made, with a warning that says why it has no sample.
without_sample() {
  local name=$1
  shift
  tutti export forest --to "$name"
  expect_code 0
  expect_err "warning" "the folder has no sample of rows" "$@"
  expect_in "$name/README.md" "# A model of price"
  expect_absent "$name/sample.json" "$name/example.py"
}
# Or nobody shall see the rows.
tutti export forest --to secret --no-sample
expect_code 0
expect_empty err
expect_absent secret/sample.json secret/example.py
expect_not_in secret/README.md "sample.json"
expect_in secret/README.md "# A model of price"
# Where models themselves hold rows there is no folder without any; one with a sample says so.
for name in svr process pairs; do
  tutti export $name --to secret-$name --no-sample
  expect_code 2
  expect_err "trial 0: models of backend $(sed -n '/^\[backend\]/{n; s/plugin = //p}' $name.ini) hold rows of the training data" "--no-sample" \
    "select an ensemble without its members"
  expect_absent secret-$name
  tutti export $name --to open-$name
  expect_code 0
  expect_in open-$name/README.md "hold rows of the training data, which can be read from \`model.onnx\`"
done
expect_not_in whole-forest/README.md "rows of the training data"
tutti export forest --to secret.onnx --no-sample
expect_code 2
expect_err "expected a folder with --no-sample, found --to secret.onnx"
expect_absent secret.onnx
mv train.csv away.csv
without_sample bare "train.csv"
# A column less, one more in front, other values: they are not the rows that the model was trained on.
cut -d, -f2- away.csv >train.csv
without_sample narrow "train.csv: the data have changed since the run began"
cut -d, -f1-6 away.csv >train.csv
without_sample shorter "train.csv has no column 'kind'"
awk -v OFS=, '{print NR == 1 ? "front" : NR, $0}' away.csv >train.csv
without_sample shifted "train.csv: the data have changed since the run began"
awk -F, -v OFS=, 'NR > 1 {$4 += 1} {print}' away.csv >train.csv
without_sample other "train.csv: the data have changed since the run began"
mv away.csv train.csv
# Rows that the model cannot read, since they lack a number, are no sample.
tutti run forest.ini --out dropping --quiet --set data.missing=drop --set run.budget=1
expect_code 0
tutti export dropping --to dropped
expect_code 0
expect_empty err
cp dropped/sample.json out
expect_json "$(awk -F, 'NR > 1 && $1 != "" && ++n == 20 {print $4 + 0}' train.csv)" inputs age 19
expect_not_in dropped/sample.json null
expect_in dropped/README.md "| \`size\` | double | [rows, 1] | a number, which may not be missing |"
# A name with the sign that ends cells of a page, two targets, and a new folder with a dot.
sed '1s/size/si|ze/' train.csv >barred.csv
tutti run forest.ini --out barred --quiet --set data.path=barred.csv --set 'data.target=price rent' --set data.ignore=kind --set run.budget=1
expect_code 0
tutti export barred --to barred.v2/
expect_code 0
expect_in barred.v2/README.md "# A model of price, rent" "| \`si\\|ze\` | double |"

# --- what is refused ---

# A model file cut short: nothing is written over what was there.
cp price.onnx before.onnx
cp price.onnx kept.onnx
for weights in price/trials/*/weights.safetensors; do truncate -s -40 "$weights"; done
tutti export price --to kept.onnx
expect_code 1
expect_err "price/trials/" "weights.safetensors"
checks=$((checks + 1))
cmp -s before.onnx kept.onnx || complain "expected the old file, untouched"

# Plugins that cannot say what they compute, and plugins that say it wrong.
mkdir mute wrong
build() { # build FOLDER NAME FLAGS...
  local output=$1/$2.so
  shift 2
  "${cc[@]}" "${flags[@]}" -std=c11 -shared -fPIC "$@" -I"$TUTTI_TEST_SRCDIR/include" \
    "$TUTTI_TEST_SRCDIR/tests/cli/mute.c" -o "$output" || { echo "cannot build $output"; exit 1; }
}
build mute backend-mute
build mute calibrator-mute -DCALIBRATOR
build wrong backend-mute -DWRONG
build wrong calibrator-mute -DCALIBRATOR -DWRONG
export TUTTI_PLUGIN_PATH=$PWD/mute
sed 's/^plugin = trees/plugin = mute/; /^trees/d; /^method/d' thresholds.ini >mute.ini
tutti run mute.ini --out muted --quiet
expect_code 0
sed 's/^plugin = conformal/plugin = mute/; /^normalise/d' forest.ini >mute-calibrator.ini
tutti run mute-calibrator.ini --out corrected --quiet
expect_code 0
tutti export muted --to never.onnx
expect_code 2
expect_err "trial 0: backend mute cannot say what its models compute" "select an ensemble without its members"
tutti export corrected --to never.onnx
expect_code 2
expect_err "calibrator mute cannot say what it computes" "--uncalibrated"
expect_exported corrected rows.csv --uncalibrated
export TUTTI_PLUGIN_PATH=$PWD/wrong
# A trial is as good as its predictions, though it cannot be counted what these cost.
tutti run mute.ini --out uncounted --quiet
expect_code 0
expect_out "2 of 2 done, 0 failed"
expect_in uncounted/worker.log "trial 0: what a prediction costs is not known: " "backend mute broke its contract: formula gave no terms"
tutti select uncounted --set selector.plugin=within-cost --set selector.max_cost=10
expect_code 2
expect_err "the cost of none of the 2 models is known in flops"
tutti export muted --to never.onnx
expect_code 2
expect_err "backend mute broke its contract: formula gave no terms of the task's 1 outputs"
tutti export corrected --to never.onnx
expect_code 1
expect_err "calibrator mute" "1 columns of a term that has 1 were asked for"
expect_absent never.onnx
finish
