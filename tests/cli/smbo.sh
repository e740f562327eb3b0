#!/bin/bash
# The recipes of ini/smbo and the experiment over them: each method does what its name says, RS and ERS share a pool, a torn
# trial of L-BFGS is trained again to the same bits.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
ini=$TUTTI_TEST_SRCDIR/ini/smbo
make_table
quick=(--set run.budget=13 --set hyperparameters.epochs=10)
classes=(--set data.path=table.csv --set data.target=kind --set data.ignore=y "${quick[@]}")
numbers=(--set data.path=table.csv --set data.ignore=kind "${quick[@]}")

for method in rs ers smbo esmbo; do
  case $method in *rs) origin=random ;; esmbo) origin=bootstrap ;; *) origin=ei ;; esac
  case $method in e*) selector="agnostic-bayes" ;; *) selector="Ensemble of 1, chosen by top-m" ;; esac
  for learner in mlp mlpr; do
    if [ $learner = mlp ]; then settings=("${classes[@]}") loss=error; else settings=("${numbers[@]}") loss=mse; fi
    tutti run "$ini/$learner-$method.ini" "${settings[@]}" --out "$learner-$method"
    expect_code 0
    expect_out "13 of 13 done, 0 failed" "$selector ($loss)"
    tutti status "$learner-$method" --json
    expect_out "$origin"
  done
done
tutti run "$ini/mlp-esmbo-small.ini" --dry-run --set data.path=table.csv --set data.target=kind --json
expect_code 0
expect_json 60 trials budget

# A network of the paper's space: each layer of weights has its own L2.
checks=$((checks + 1))
[ "$(grep -o '"l2": *[0-9.e+-]*' mlp-rs/trials/000000/network.json | sort -u | wc -l)" -eq 3 ] ||
  complain "expected three L2 weights"
expect_in mlp-rs/recipe.ini "optimiser = lbfgs"

# Torn, and trained again.
cp mlp-esmbo/trials/000011/weights.safetensors before
: >mlp-esmbo/trials/000011/weights.safetensors
tutti run mlp-esmbo/recipe.ini --out mlp-esmbo --resume
expect_code 0
expect_err "trial 11 is trained again"
expect_not_in err "not as recorded"
checks=$((checks + 1))
cmp -s before mlp-esmbo/trials/000011/weights.safetensors || complain "expected the same weights"

# What the paper's searches do: one after the other, a fit before each proposal, 20,000 Sobol points, two models before the first fit.
for recipe in mlp mlpr svm svr forest forestr boosting boostingr; do
  for method in smbo esmbo; do
    expect_in "$ini/$recipe-$method.ini" "window = 1 " "initial = 2 " "growth = 0 " "points = 20000" "surrogate = gp" "acquisition = ei" \
      "maximiser = sobol-lbfgs"
  done
done
expect_in mlp-esmbo/recipe.ini "window = 1" "initial = 2" "growth = 0" "points = 20000" "bootstraps = 25"

# The experiment: three searches a set, a seed and a space; what is done is not done again.
mkdir -p sets/a sets/b
awk -F, -v OFS=, '{ print $1, $2, NR == 1 ? "label" : NR % 3 }' table.csv >sets/a/data.csv
awk -F, -v OFS=, '{ print $1, $2, $4 }' table.csv >sets/b/data.csv
experiment() { # ARGUMENT...
  what="smbo-tables.sh $*"
  BUDGET=12 SEEDS=1 ROWS="40 20 20" LAST=3 SPACES="mlp mlpr" TUTTI=$TUTTI_PROGRAM \
    bash "$TUTTI_TEST_SRCDIR/tests/experiments/smbo-tables.sh" "$@" >out 2>err </dev/null
  code=$?
}
experiment run sets tables "a:merge a:1,2 b"
expect_code 0
experiment run sets tables "a:merge a:1,2 b"
expect_code 0
expect_not_in err begins
for run in tables/runs/mlp/*/runs/mlp-ers_* tables/runs/mlpr/*/runs/mlpr-ers_*; do
  checks=$((checks + 1))
  [ -L "$run/catalogue.sqlite" ] || complain "expected RS and ERS to share a pool: $run"
done
checks=$((checks + 3))
[ "$(cut -d, -f3 tables/data/a-merge.csv | sort -u | tr '\n' ' ')" = "0 1 label " ] || complain "expected two classes"
[ "$(cut -d, -f3 tables/data/a-1-2.csv | sort -u | tr '\n' ' ')" = "1 2 label " ] || complain "expected classes 1 and 2"
[ "$(find tables/runs -name done | wc -l)" -eq 3 ] || complain "expected three finished searches"
if command -v python3 >/dev/null; then
  experiment show tables
  expect_code 0
  expect_out "Multilayer perceptron, data sets: 2, splits: 2, means after 10 to 12 models" \
    "| ESMBO | - | " " / .57 | " "Multilayer perceptron, regression, data sets: 1" " / 1.92 |"
  experiment figures tables mlp
  expect_code 0
  expect_out "| models | 10 | 12 |" "| rank of ESMBO |" "| Pr(SMBO > ERS) |"
fi
printf 'x,z\n1,2\n' >sets/a/data.csv
experiment run sets other a
expect_code 2
expect_err "neither label nor y"
experiment run
expect_code 2
expect_err "smbo-tables.sh show OUT"
finish
