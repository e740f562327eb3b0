#!/bin/bash
# A run's calibrator: its rows, its place in the run directory, what it changes, what is refused and why.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"

# Two classes that only a part of the rows can tell apart; a number with noise.
awk 'BEGIN { srand(3); print "a,b,y"; for (i = 0; i < 300; i++) { a = rand(); b = rand(); print a "," b "," (rand() < .2 + .6 * (a > b) ? "yes" : "no") } }' >classes.csv
awk 'BEGIN { srand(5); print "a,y"; for (i = 0; i < 300; i++) { a = rand(); print a "," 3 * a + .3 * (rand() + rand() + rand() - 1.5) } }' >values.csv
recipe() { # NAME LINE...
  printf '%s\n' '[run]' "name = $1" 'budget = 4' 'window = 2' '[data]' "path = $1.csv" 'split = 1 1 1' "${@:2}" \
    '[space]' 'plugin = mlp' '[hyperparameters]' 'epochs = 8' 'learning_rate = log-uniform 1e-3 1e-1' >"$1.ini"
}
recipe classes 'calibration = 0.4' '[calibrator]' 'plugin = temperature' 'least_rows = 20' '[evaluation]' 'folds = 0'
recipe values '[calibrator]' 'plugin = variance-scaling' 'apart = yes' '[evaluation]' 'folds = 0'

# It is clear what is wrong.
tutti validate values.ini --set calibrator.plugin=temperature
expect_usage_error "calibrator temperature does not serve regression; choose another calibrator"
tutti validate classes.ini --set calibrator.plugin=temprature
expect_usage_error "did you mean 'temperature'"
tutti validate classes.ini --set calibrator.most=.5
expect_usage_error "most"
tutti validate classes.ini --set data.calibration=.001
expect_usage_error "data.calibration: 0.001 of the 100 training rows is none"

# The calibration rows are training rows, of each class its share; the test rows are the same with them and without.
tutti run classes.ini --quiet --json --workers 1
expect_code 0
expect_json 60 data rows train
expect_json 40 data rows calibration
expect_json temperature plugins calibrator
expect_json calibration ensemble calibration split
expect_json 40 ensemble calibration rows
expect_json test evaluation 1 split
expect_json nll evaluation 1 calibrated 0 name
cp out first.json
tutti run classes.ini --quiet --json --workers 3 --out again
expect_code 0
checks=$((checks + 1))
cmp -s runs/classes/ensemble.json again/ensemble.json || complain "another ensemble.json with three workers"
tutti run classes.ini --quiet --set data.calibration=0 --set calibrator.plugin=none --out without
expect_code 0
for split in test validation; do
  checks=$((checks + 1))
  cmp -s runs/classes/splits/$split-rows.npy without/splits/$split-rows.npy || complain "other $split rows"
done

# Without rows of its own it has the validation rows, and says so.
tutti run values.ini --quiet
expect_code 0
expect_err "fitted on the validation rows, which also chose the ensemble"
tutti status runs/values
expect_code 0
expect_out "calibrator  variance-scaling, on 100 validation rows" "calibrated" "nll-moments"

# Another calibrator for the same ensemble; kept, it goes with a copy of the run.
tutti select runs/values --set calibrator.plugin=conformal
expect_code 0
expect_out "conformal"
tutti select runs/values --set calibrator.plugin=conformal --set calibrator.normalise=no --keep --json
expect_code 0
expect_json conformal plugins calibrator
expect_json conformal ensemble calibration calibrator
cp -r runs/values copy
mv copy values-copy
rm -rf values.csv.gone
mv values.csv values.csv.gone
expect_not_in values-copy/ensemble.json endless
tutti evaluate values-copy --json
expect_code 0
expect_json test 1 split
expect_json nll 1 calibrated 0 name
mv values.csv.gone values.csv

# A calibrator of intervals is taken without a better score where the ensemble's own miss their coverage, and that is said.
awk 'BEGIN { srand(7); print "a,y"; for (i = 0; i < 240; i++) { a = rand(); u = rand(); print a "," (u < .1 ? 40 * (rand() - .5) : .2 * (rand() - .5)) } }' >tails.csv
recipe tails '[calibrator]' 'plugin = conformal'
tutti run tails.ini --out tails --set data.split="100 30 110"
expect_code 0
reason=$("$json_value" tails/ensemble.json calibration taken)
checks=$((checks + 1))
case $reason in
"taken for what its intervals cover: the ensemble's own of "*" % cover "*" % of these rows") ;;
*) complain "expected why the calibrator is taken, found '$reason'" ;;
esac
expect_out "calibrator  conformal, on 30 validation rows: interval-score " "            $reason"
tutti status tails
expect_out "            $reason"
tutti select tails
expect_out "            $reason"
tutti report tails --to tails.html
expect_code 0
expect_in tails.html "The calibrator <b>conformal</b> was fitted on 30 rows of the split validation: taken for what its intervals cover: " \
  "own of ${reason##*own of }. "

# Intervals and quantiles of new rows: of the mixture, and of the calibrator, from the copy.
printf 'a\n.1\n.5\n.9\n' >new.csv
# 12 rows to fit to give intervals up to the level 12 / 13; those beyond have no end, and that is said. Of fewer than least_rows
# nothing is fitted, which is said, too.
tutti run values.ini --quiet --set calibrator.plugin=conformal --set data.calibration=0.12 --out few
expect_code 0
checks=$((checks + 1))
[ "$("$json_value" few/ensemble.json calibration rows)" = 12 ] || complain "expected 12 rows to fit to"
endless="at the level 0.95 and above, intervals have no end: 12 rows to fit to are too few to say more"
expect_err "calibrator conformal: $endless"
expect_in few/ensemble.json "$endless"
tutti status few
expect_code 0
expect_out "$endless"
tutti report few --to few.html
expect_code 0
expect_in few.html "The calibrator <b>conformal</b> was fitted on 12 rows of the split calibration: $endless" "have <b>no end</b>" \
  "Of the calibrator: $endless"
expect_not_in few.html ">outside<" ">inside<" ">interval of 95 %<"
tutti predict few new.csv
expect_code 0
expect_err "3 of 3 intervals at the level 0.95 have no end: the calibrator was fitted to 12 rows" "a lower level"
tutti predict few new.csv --level 0.92
expect_code 0
expect_empty err
tutti predict few new.csv --uncalibrated
expect_code 0
expect_empty err
tutti run values.ini --quiet --set calibrator.plugin=conformal --set data.calibration=0.07 --out fewer
expect_code 0
expect_err "it needs 10 rows to fit to, and there are 7"
tutti predict fewer new.csv
expect_code 0
expect_empty err
tutti predict values-copy new.csv --quantiles .05,.5,.95 --level .9
expect_code 0
expect_out "row,mean,aleatoric,epistemic,total,lower,upper,q0.05,q0.5,q0.95"
checks=$((checks + 1))
awk -F, 'NR > 1 && !($6 < $2 && $2 < $7 && $6 == $8 && $7 == $10 && $9 == $2) { exit 1 }' out ||
  complain "intervals of 90 % end in the quantiles .05 and .95, about the mean"
checks=$((checks + 1))
awk -F, 'NR > 1 { d = $7 - $6 - (w == "" ? $7 - $6 : w); w = $7 - $6; if (d > 1e-6 || d < -1e-6) exit 1 }' out ||
  complain "without normalise all intervals are of one width"
tutti predict values-copy new.csv --level .999 --json
expect_code 0
expect_json null lower 0
tutti predict values-copy new.csv --uncalibrated --json
expect_code 0
checks=$((checks + 1))
"$json_value" out upper 0 | grep -q '^[0-9]' || complain "the mixture has quantiles"
tutti predict values-copy new.csv --level 95
expect_code 2
expect_err "--level: expected a number between 0 and 1, found '95'"
tutti predict values-copy new.csv --quantiles .05,0
expect_code 2
expect_err "--quantiles: expected numbers between 0 and 1, found '0'"
for empty in ".5," ",.5" ".1,,.5" ""; do
  tutti predict values-copy new.csv -q "$empty"
  expect_code 2
  expect_err "--quantiles: expected P,..., found an empty part in '$empty'"
  expect_empty out
done
tutti predict values-copy new.csv -q .5,.1,0.50
expect_code 2
expect_err "--quantiles: '0.50' is given twice"
# Classes have neither, which is said before any row is read.
tutti predict runs/classes absent.csv --level .9
expect_code 2
expect_empty out
expect_err "--level: the run predicts classes, which have probabilities and no intervals"
tutti predict runs/classes absent.csv -q .5
expect_code 2
expect_empty out
expect_err "--quantiles: the run predicts classes, which have probabilities and no quantiles"
tutti evaluate values-copy --tables
expect_code 0
expect_out "test: reliability" "below" "calibrated: reliability" "coverage-95" "interval-score"

# Killed between the two files: the summary's ensemble is the run's, under whatever name.
mv values-copy/ensemble.json values-copy/ensemble.json.new
cp runs/classes/ensemble.json values-copy/ensemble.json
tutti evaluate values-copy --json
expect_code 0
expect_json nll 1 calibrated 0 name

# A fit that was changed is noticed; as an ensemble of its own it is read, and what is wrong with it is said.
sed -i 's/"scores"/"score"/' values-copy/ensemble.json.new
tutti evaluate values-copy
expect_code 1
expect_err "this is not the ensemble of the summary"
sed 's/"inverse_temperature": [0-9.e-]*/"inverse_temperature": 0/' runs/classes/ensemble.json >torn.json
tutti evaluate runs/classes --ensemble torn.json
expect_code 1
expect_err "the ensemble's \"calibration\": calibrator temperature: the fit's \"inverse_temperature\": expected a positive number"
sed 's/"calibrator": "temperature"/"calibrator": "of-somebody"/' runs/classes/ensemble.json >other.json
tutti evaluate runs/classes --ensemble other.json
expect_code 2
expect_err "of-somebody"

# Too few rows, no gain: said, and the ensemble stays as it is.
tutti select runs/classes --set calibrator.plugin=isotonic
expect_code 0
expect_out "isotonic, on 40 calibration rows: the ensemble stays as it is" "it needs 100 rows to fit to, and there are 40"
expect_err "calibrator isotonic: the ensemble stays as it is"
tutti select runs/classes --set calibrator.plugin=isotonic --set calibrator.rows_per_class=2 --set evaluation.folds=30
expect_code 0
expect_out "it needs 60 rows to fit to, and there are 40"
# The folds that judge a calibrator are a part of the choice: what select shows, --keep and --out keep.
cp -r runs/classes kept
for folds in 30 0; do
  tutti select kept --set calibrator.plugin=isotonic --set calibrator.rows_per_class=2 --set evaluation.folds=$folds --keep
  expect_code 0
  tutti select kept again --set calibrator.plugin=isotonic --set calibrator.rows_per_class=2 --set evaluation.folds=$folds --out both$folds
  expect_code 0
done
expect_in both30/ensemble.json "it needs 60 rows to fit to, and there are 40"
expect_not_in both0/ensemble.json refused
expect_in kept/ensemble.json '"fit"'
expect_not_in kept/ensemble.json refused
tutti curve runs/classes --set evaluation.folds=0 # which compares ensembles without calibrators
expect_code 2
expect_err "[evaluation] folds needs a calibrator that is fitted, and there is none here"
tutti select runs/classes --set calibrator.plugin=temperature --set selector.plugin=agnostic-bayes --set selector.combination=vote --json
expect_code 0
expect_err "the ensemble votes: it has shares of votes, and no probabilities to calibrate"


# One for tables of either kind: it says what the one of the task says, and is restored with the one that it had.
for name in variance-scaling by-task; do
  apart=calibrator.apart
  [ $name != by-task ] || apart=of_values.apart
  tutti select runs/values --set calibrator.plugin=$name --set $apart=yes --keep
  expect_code 0
  tutti predict runs/values values.csv
  expect_code 0
  cp out $name.csv
done
checks=$((checks + 1))
cmp -s variance-scaling.csv by-task.csv || complain "expected the same predictions"
expect_in runs/values/ensemble.json '"of_values": "variance-scaling"'
tutti select runs/classes --set calibrator.plugin=by-task --set calibrator.of_classes=vector-scaling --keep
expect_code 0
expect_in runs/classes/ensemble.json '"of_classes": "vector-scaling"'
tutti predict runs/classes classes.csv
expect_code 0
# Without variances there are no intervals that could cover anything: that is the reason, and no coverage of 0 %.
tutti run values.ini --quiet --set head.kind=linear --set data.calibration=0.5 --set calibrator.plugin=conformal \
  --set calibrator.normalise=no --set evaluation.folds=5 --out linear
expect_code 0
expect_out "taken for what its intervals cover: the ensemble has none of its own"
# A run that is resumed chooses by its recipe again, and says so once.
cp -r runs/classes resumed
cp -r runs/classes "it's mine"
for budget in 4 4 6; do
  tutti run resumed/recipe.ini --out resumed --resume --set run.budget=$budget
  expect_code 0
  cat err
done >said

checks=$((checks + 1))
[ "$(grep -c "resumed: its ensemble was kept by tutti select, and is chosen by the recipe again" said)" -eq 1 ] ||
  complain "expected one warning"
expect_in said "to choose as it was chosen, from the trials that there are now: tutti select resumed --keep \
--set calibrator.plugin=by-task --set calibrator.of_classes=vector-scaling"
tutti select "it's mine" --keep --set "selector.plugin = top-m"
expect_code 0
tutti run "it's mine/recipe.ini" --out "it's mine" --resume --set run.budget=6
expect_code 0
command=$(sed -n 's/.* there are now: tutti //p' err)
eval "tutti $command"
expect_code 0
expect_in "it's mine/ensemble.json" '"selector": "top-m"'
# Nor does it where what was kept is what the recipe chooses.
tutti select resumed --keep --set calibrator.plugin=temperature
expect_code 0
tutti run resumed/recipe.ini --out resumed --resume --set run.budget=6
expect_code 0
expect_not_in err "kept by tutti select"
tutti validate values.ini --set calibrator.plugin=by-task --set calibrator.of_values=conformal
expect_code 2
expect_err "calibrator conformal gives no means and variances"
finish
