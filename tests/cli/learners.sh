#!/bin/bash
# Learners without networks: the recipes run, are resumed, predict what they were evaluated on, and refuse what cannot be learnt.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
ini=$TUTTI_TEST_SRCDIR/ini/smbo
make_table

# learner BACKEND CLASSES VALUES: its recipes, ini/smbo/CLASSES-*.ini and VALUES-*.ini.
classes_of="--set data.path=$PWD/table.csv --set data.target=kind --set data.ignore=y"
values_of="--set data.path=$PWD/table.csv --set data.ignore=kind"
learner() {
  local method small="--set run.budget=12 --quiet"
  for method in rs ers smbo esmbo; do
    # shellcheck disable=SC2086 # words of options
    tutti run "$ini/$2-$method.ini" $classes_of $small --out "$2-$method"
    expect_code 0
    expect_out "(classification)" "backend $1" "12 of 12 done, 0 failed" "error"
    # shellcheck disable=SC2086
    tutti run "$ini/$3-$method.ini" $values_of $small --out "$3-$method"
    expect_code 0
    expect_out "(regression)" "12 of 12 done, 0 failed" "rmse"
  done
  for run in "$2-esmbo" "$3-esmbo"; do
    tutti evaluate "$run" --json
    expect_code 0
    tutti predict "$run" table.csv
    expect_code 0
    checks=$((checks + 1))
    [ "$(wc -l <out)" -eq 121 ] || complain "expected a heading and 120 rows"
  done
  # A Gaussian head, and the same bits by another number of workers.
  for workers in 1 3; do
    # shellcheck disable=SC2086
    tutti run "$ini/$3-rs.ini" $values_of $small --set head.kind=gaussian --workers $workers --out "$3-gaussian-$workers"
    expect_code 0
    expect_out "nll" "12 of 12 done, 0 failed"
  done
  checks=$((checks + 1))
  cmp -s "$3-gaussian-1/summary.json" "$3-gaussian-3/summary.json" || complain "expected the same summary.json"
  # What is lost is trained again.
  rm -r "$3-gaussian-1/trials/000003"
  tutti run "$3-gaussian-1/recipe.ini" --resume --quiet --out "$3-gaussian-1"
  expect_code 0
  checks=$((checks + 1))
  cmp -s "$3-gaussian-1/trials/000003/weights.safetensors" "$3-gaussian-3/trials/000003/weights.safetensors" ||
    complain "expected the same weights again"
}

available() { # BACKEND
  tutti inspect "backend/$1"
  [ $code -eq 0 ]
}

if available svm; then
  learner svm svm svr
  # Classes are told by the machines' own labels: no sigmoids, whose most probable class may be another one.
  for method in rs ers smbo esmbo; do
    expect_in "svm-$method/recipe.ini" "folds = 0"
    expect_not_in "svm-$method/trials/000000/weights.safetensors" sigmoids
  done
fi
learner trees forest forestr
tutti validate "$ini/boosting-esmbo.ini" --set data.path="$PWD/table.csv" --set data.target=kind --set data.ignore=y
if [ $code -eq 0 ]; then
  learner trees boosting boostingr
else # without XGBoost
  expect_code 2
  expect_err "libxgboost-dev"
fi

# Gaussian processes: values, with what they do not know themselves beside the noise, by folds or without; no classes.
sed '/^c = /d; /^gamma = /d; /^epsilon = .*/d; s/^plugin = svm/plugin = gp/; s/^kind = linear/kind = gaussian/' "$ini/svr-rs.ini" >process.ini
processes() { # NAME OPTION...
  local name=$1
  shift
  # shellcheck disable=SC2086 # words of options
  tutti run process.ini $values_of --set run.budget=4 --set 'hyperparameters.kernel=choice matern52 rbf' \
    --set 'hyperparameters.ard=choice yes no' --quiet --out "$name" "$@"
}
for workers in 1 3; do
  processes process-$workers --workers $workers
  expect_code 0
  expect_out "nll" "epistemic-within" "4 of 4 done, 0 failed"
done
checks=$((checks + 2))
cmp -s process-1/summary.json process-3/summary.json || complain "expected the same summary.json"
[ -e process-1/trials/000000/test-epistemic.npy ] || complain "expected what a process does not know itself"
tutti predict process-1 table.csv
expect_code 0
expect_out "epistemic_within"
processes process-folds --set data.folds=3
expect_code 0
expect_out "epistemic-within" "4 of 4 done, 0 failed"
# shellcheck disable=SC2086 # words of options
tutti validate process.ini $classes_of --set head.kind=softmax
expect_code 2
expect_err "backend gp: it learns values, and the target is a class; take svm, trees or a network"

available svm || { echo "skipped: the libraries of the learners are not there"; exit 77; }

# Most of the rows left out: no machine has more support vectors than rows that it saw; of all rows, some do.
for most in 20 0; do
  # shellcheck disable=SC2086
  tutti run "$ini/svr-rs.ini" $values_of --set run.budget=3 --set backend.most_rows=$most --quiet --out "rows-$most"
  expect_code 0
  for weights in "rows-$most"/trials/*/weights.safetensors; do
    head -c 3000 "$weights" | grep -ao '"0.vectors":{[^}]*' | grep -o 'shape":\[[0-9]*' | grep -o '[0-9]*$'
  done | sort -n | tail -n 1 >"vectors-$most"
done
checks=$((checks + 1))
if [ "$(cat vectors-20)" -gt 20 ] || [ "$(cat vectors-0)" -le 20 ]; then
  complain "expected 20 support vectors at most of 20 rows, and more of all: found $(cat vectors-20) and $(cat vectors-0)"
fi

# Refused before anything is trained.
awk -F, 'NR == 1 || $5 == "up"' table.csv >one-class.csv
# shellcheck disable=SC2086
tutti run "$ini/svm-rs.ini" $classes_of --set data.path=one-class.csv --out one-class
checks=$((checks + 1))
[ $code -ne 0 ] || complain "expected one class to be refused"
expect_err "class"
function_recipe nothing 0 5 | sed '/^x[01] =/d; /^seconds =/d; s/plugin = function/plugin = svm/' >nothing.ini
tutti run nothing.ini
expect_code 2
expect_err "no section [data]"
finish
