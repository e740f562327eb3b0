#!/bin/bash
# From a table to an ensemble and its predictions, as a person does it.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
regression_recipe >small.ini

for how in validate "run --dry-run"; do
  # shellcheck disable=SC2086
  tutti $how small.ini
  expect_code 0
  expect_out "The recipe is valid" "builder nes-rs" "backend cpu"
  expect_absent runs
done
tutti validate small.ini --json
expect_code 0
expect_json nes-rs plugins builder

tutti run small.ini
expect_code 0
expect_out "6 of 6 done" "Ensemble of 3, chosen by forward" "rmse" "Everything is in runs/small"
expect_err "tutti: 6/6"
expect_not_in err $'\033'
for file in recipe.ini catalogue.sqlite ensemble.json summary.json data.json splits/test-rows.npy \
  trials/000000/network.json trials/000000/weights.safetensors trials/000000/curve.csv trials/000005/test.npy; do
  checks=$((checks + 1))
  [ -s "runs/small/$file" ] || complain "expected runs/small/$file"
done

# A new run does not write over files of the user's; of those of a run that ended before its first trial, it does.
mkdir own
cp small.ini own/recipe.ini
cp table.csv own/table.csv
tutti run own/recipe.ini --out own
expect_code 2
expect_err "--out own: own/recipe.ini: a file is there, and it is not the recipe of a run by tutti"
checks=$((checks + 1))
cmp -s small.ini own/recipe.ini || complain "expected the recipe to be left alone"
mv own/recipe.ini own/mine.ini
echo mine >own/summary.json
tutti run own/mine.ini --out own
expect_code 2
expect_err "own/summary.json: a file is there"
expect_in own/summary.json mine
rm own/summary.json
cp runs/small/recipe.ini own/recipe.ini
tutti run own/mine.ini --out own --quiet
expect_code 0

# The same run again is refused, and goes on to the same result with --resume; so does its own recipe elsewhere.
tutti run small.ini
expect_code 2
expect_err runs/small --resume
tutti run small.ini --resume --quiet --json
expect_code 0
expect_empty err
cmp -s out runs/small/summary.json || complain "expected the text of summary.json"
expect_json 6 trials 'done'
expect_json regression task
tutti run runs/small/recipe.ini --out elsewhere --workers 2 --quiet --json
expect_code 0
expect_json 3 ensemble members
for file in ensemble.json trials/000003/test.npy trials/000003/weights.safetensors; do
  checks=$((checks + 1))
  cmp -s "elsewhere/$file" "runs/small/$file" || complain "expected the same bits in $file"
done
tutti run small.ini --set run.window=7 --resume
expect_code 2
expect_err runs/small '[run] window' 8 7

# Looking at it.
tutti status runs/small
expect_code 0
expect_out "not running" "6 of 6 done" finished
expect_not_in out repeats
tutti status runs/small --json
expect_json false running
expect_json 0 repeats
tutti run small.ini --set builder.plugin=deepens --set run.budget=4 --quiet --out deep
expect_code 0
tutti status deep
expect_out "repeats     3 of 4 proposals had been made before"
tutti status runs/small --trials=0
expect_code 0
cat >bo.ini <<'INI'
[run]
budget = 6
[backend]
plugin = function
[hyperparameters]
x0 = uniform -5 10
x1 = uniform 0 15
[builder]
plugin = bo
initial = 4
INI
tutti run bo.ini
expect_code 0
# Manager and workers have the kernels that fit the processor, where OpenBLAS does not see it.
OPENBLAS_VERBOSE=2 tutti run bo.ini --out kernels --set run.budget=5
expect_code 0
core=$(grep -m1 '^Core:' err | cut -d' ' -f2)
tutti doctor --json
expect_json "$core" blas kernels_in_runs
tutti status runs/bo --trials=0
expect_code 0
expect_out "builder     asked 6, observed 6" "surrogate   kernel matern52, inference likelihood, mean " "length_scales "
tutti status runs/bo --json
expect_json 6 builder_state surrogate observations
tutti status runs
expect_code 2
expect_err "expected a run directory"

# Other ensembles, without training.
tutti select runs/small --set selector.plugin=top-m --set selector.size=2 --json
expect_code 0
expect_json 2 members
cp out two.json
tutti select runs/small --set selector.plugin=all
expect_code 0
expect_out "Ensemble of 6, chosen by all"
for selector in greedy forward-replace quick-greedy stacking; do
  tutti select runs/small --set selector.plugin=$selector --set selector.loss=nll
  expect_code 0
  expect_out "chosen by $selector"
  tutti select runs/small --set selector.plugin=$selector --set selector.loss=brier
  expect_code 2
  expect_err "loss = brier" regression mse
done
tutti select runs/small --set selector.plugin=stacking --set selector.loss=error
expect_code 2
expect_err "selector.loss" "nll"
tutti select runs/small --set selector.plugin=tpo-m
expect_code 2
expect_err top-m
tutti select runs/small --set selector.size=0
expect_code 2
expect_err '--set selector.size'
# An override that the command does not read is refused; the message says where it acts.
for override in builder.distinct=no builder.plugin=bo run.seed=2 data.split='0.5 0.25 0.25' space.max_depth=1 hyperparameters.epochs=3 \
  executor.plugin=local head.floor=0.1; do
  for command in select curve evaluate; do
    tutti $command runs/small --set "$override"
    expect_code 2
    expect_empty out
    expect_err "--set ${override%%=*}" "tutti run"
  done
done
tutti select runs/small --set run.seed=2
expect_err "expected a key of [selector], [calibrator], [evaluation] or run.plugin_path" "[run] seed acts in tutti run and tutti ablate"
# A key that cannot act on this task, or without a calibrator, is refused.
for key in bins=3 folds=2; do
  for command in select curve evaluate; do
    tutti $command runs/small --set evaluation.$key
    expect_code 2
    expect_empty out
    expect_err "--set evaluation.$key: [evaluation] ${key%=*} needs a" "there is none here"
  done
done
tutti select runs/small --keep --set evaluation.level=0.5
expect_code 2
expect_err "--set evaluation.level" "expected a key of [selector], [calibrator], evaluation.folds or run.plugin_path" \
  "[evaluation] level acts in tutti run, tutti ablate, tutti select without --keep, tutti curve, and tutti evaluate"
tutti evaluate runs/small --set selector.size=1
expect_code 2
expect_err "--set selector.size" "[selector] size acts in tutti run, tutti ablate, tutti select, and tutti curve"
tutti evaluate runs/small --set run.plugin_path=/nowhere
expect_code 2
expect_err "[run] plugin_path acts in tutti run, tutti ablate, tutti select, tutti curve, and tutti distance"
tutti evaluate runs/small --set space.max_depth=1
expect_err "[space] max_depth acts in tutti run, tutti ablate, and tutti distance"
# So it does.
tutti curve runs/small --set selector.size=2
expect_code 0
cp -r runs/small runs/kept
tutti select runs/kept --keep --set selector.size=2
expect_code 0
rm -rf runs/kept
tutti select --help
checks=$((checks + 1))
tr -s ' \n' ' ' <out | grep -q "evaluation.bins=10 (not with --keep" || complain "expected --help to say what --keep refuses"
tutti select runs/small --set run.plugin_path=/nowhere
expect_code 0
# Those of [evaluation] act wherever metrics are printed.
for command in select curve evaluate; do
  tutti $command runs/small --json
  expect_code 0
  cp out usual.json
  tutti $command runs/small --json --set evaluation.level=0.5
  expect_code 0
  checks=$((checks + 1))
  ! cmp -s out usual.json || complain "expected other intervals at another level"
done
tutti evaluate runs/small
expect_code 0
expect_out metric validation test nll rmse
tutti evaluate runs/small --ensemble two.json --json
expect_code 0
expect_json test 1 split
tutti evaluate runs/small --ensemble small.ini
expect_code 2
expect_err small.ini JSON
sed 's/"mixture"/"mean"/' two.json >odd.json
tutti evaluate runs/small --ensemble odd.json
expect_code 1
expect_err "expected the combination mixture or vote, found 'mean'"
tutti select runs/small --set selector.plugin=top-m --set selector.size=2 --keep
expect_code 0
tutti evaluate runs/small
expect_code 0

# Predictions: a row for a row, and the parts of the variance add up.
cut -d, -f1-3 table.csv >bare.csv
tutti predict runs/small bare.csv
expect_code 0
expect_empty err
cp out bare.out
tutti predict runs/small table.csv
expect_code 0
cmp -s out bare.out || complain "expected the same predictions with and without targets"
expect_err "metric" "new" "rmse" "nll"
expect_out "row,mean,aleatoric,epistemic,total"
checks=$((checks + 2))
[ "$(wc -l <out)" -eq 121 ] || complain "expected a line for every row"
awk -F, 'NR > 1 { d = $3^2 + $4^2 - $5^2; if (d < 0) d = -d; if (d > 1e-6 * $5^2) bad = 1 } END { exit bad }' out ||
  complain "expected total^2 = aleatoric^2 + epistemic^2"
tutti predict runs/small table.csv --json
expect_code 0
expect_json 120 rows
expect_json 120 epistemic
expect_json new evaluation 0 split
expect_json 120 evaluation 0 rows
expect_empty err
tutti predict runs/small bare.csv --json
expect_not_in out evaluation
# A file with the test rows has the metrics of the test split; without the targets of any row there are none.
{
  echo 1
  tail -c +129 runs/small/splits/test-rows.npy | od -An -v -t d4 -w4 | awk '{ print $1 + 2 }'
} >lines
awk 'NR == FNR { line[$1] = 1; next } line[FNR]' lines table.csv >test.csv
tutti evaluate runs/small
awk 'NF > 2 && $1 != "metric" { print $1, $3 }' out >expected.txt
tutti predict runs/small test.csv --out p.csv
expect_code 0
awk 'NF > 1 && $1 != "metric" { print $1, $2 }' out >found.txt
checks=$((checks + 1))
if [ ! -s found.txt ] || ! diff expected.txt found.txt >/dev/null; then complain "expected the metrics of the test split"; fi
awk -F, -v OFS=, 'NR > 1 { $4 = "" } 1' test.csv >empty.csv
cp p.csv predicted.csv
tutti predict runs/small empty.csv
expect_code 0
expect_err "empty.csv: none of 24 rows has a target and a prediction: there are no metrics"
expect_not_in err "rmse"
cmp -s out predicted.csv || complain "expected the same predictions without targets"
awk -F, -v OFS=, 'NR == 3 { $4 = "" } 1' test.csv >some.csv
tutti predict runs/small some.csv
expect_code 0
expect_err "some.csv: metrics are of the 23 of 24 rows with a target and a prediction" "rmse"
# These are the metrics of a file without that row.
tutti predict runs/small some.csv --out p.csv
cp out some.txt
awk 'NR != 3' test.csv >rest.csv
tutti predict runs/small rest.csv --out p.csv
checks=$((checks + 1))
if ! grep -q rmse some.txt || ! cmp -s some.txt out; then complain "expected the metrics of the other 23 rows"; fi
tutti predict runs/small some.csv
cmp -s out predicted.csv || complain "expected the same predictions with some of the targets"
tutti predict runs/small some.csv --json
expect_json 24 rows
expect_json 23 evaluation 0 rows
awk 'NR < 3' some.csv >one.csv
awk -F, -v OFS=, 'NR == 2 { $4 = "" } 1' one.csv >one-empty.csv
tutti predict runs/small one-empty.csv
expect_code 0
expect_err "one-empty.csv: none of 1 row"
awk -F, -v OFS=, 'NR == 2 { $4 = "text" } 1' one.csv >text.csv
tutti predict runs/small text.csv --strict
expect_code 2
expect_err "text.csv:2" "y"
tutti predict runs/small table.csv --out p.npy
expect_code 0
expect_empty err
expect_out "rmse"
tutti predict runs/small bare.csv --out p.npy
expect_code 0
expect_empty out
head -c 6 p.npy | grep -q NUMPY || complain "expected an .npy file"
tutti predict runs/small table.csv --out p.csv --ensemble two.json
expect_code 0
checks=$((checks + 1))
[ "$(wc -l <p.csv)" -eq 121 ] || complain "expected p.csv"
tutti predict runs/small absent.csv
expect_code 2
expect_err absent.csv
printf 'x1,group\n1,a\n' >short.csv
tutti predict runs/small short.csv
expect_code 2
expect_err short.csv x2
printf 'x1,x2,group\n1,2,z\n' >new.csv
tutti predict runs/small new.csv --strict
expect_code 2
expect_err new.csv:2 group "'z'"
tutti predict runs/small table.csv --out /nowhere/at/all.csv
expect_code 1
expect_err /nowhere/at/all.csv

# Arrays, too: the predictions of before are learnt from their own file.
regression_recipe | sed 's/^plugin = csv/plugin = npy/; s/^path = .*/path = p.npy/; s/^target = .*/target = 3/; s/^name = .*/name = arrays/; /^ignore/d' >arrays.ini
tutti run arrays.ini --quiet
expect_code 0
tutti predict runs/arrays p.npy --out q.npy
expect_code 0
checks=$((checks + 1))
[ "$(stat -c %s q.npy)" -eq "$(stat -c %s p.npy)" ] || complain "expected mean and three deviations for every row"
head -c 1000 p.npy >torn.npy
tutti predict runs/arrays torn.npy
expect_code 2
expect_err torn.npy

# Classes.
classification_recipe >classes.ini
tutti run classes.ini --quiet
expect_code 0
expect_out "classification" error ece
tutti predict runs/classes table.csv
expect_code 0
expect_out "row,label,p_down,p_up,entropy,expected_entropy,mutual_information"
checks=$((checks + 1))
awk -F, 'NR > 1 { if ($3 + $4 < 0.99999 || $3 + $4 > 1.00001 || $2 != ($3 >= $4 ? "down" : "up") || $7 < -1e-6) bad = 1 }
  END { exit bad }' out || complain "expected probabilities that add up to 1, and the likeliest label"

# Fewer networks than the default ensemble has members: the effective recipe, which has the default, runs and loads.
sed '/^size = /d; s/^budget = .*/budget = 3/' small.ini >few.ini
tutti run few.ini --out few --quiet
expect_code 0
tutti status few
expect_code 0

finish
