# recipes.sh - sourced: small data sets and recipes for the tests here.
# shellcheck shell=bash

# A table of 120 rows: three features, one of them text, a real target and a class.
make_table() {
  awk 'BEGIN {
    print "x1,x2,group,y,kind"
    for (i = 0; i < 120; i++) {
      a = sin(i * 12.9898); b = cos(i * 78.233); g = i % 3
      printf "%.6f,%.6f,%s,%.6f,%s\n", a, b, substr("abc", g + 1, 1), 2 * a - b + 0.5 * g + 0.1 * sin(i * 3.7),
        (a + b > 0 ? "up" : "down")
    }
  }' >table.csv
}

# A small regression; prints the recipe.
regression_recipe() {
  cat <<'INI'
[run]
name = small
seed = 3
budget = 6
[data]
plugin = csv
path = table.csv
target = y
ignore = kind
split = 0.6 0.2 0.2
[space]
plugin = mlp
[hyperparameters]
epochs = 5
learning_rate = log-uniform 1e-3 1e-1
[backend]
plugin = cpu
[builder]
plugin = nes-rs
[selector]
plugin = forward
size = 3
INI
}

classification_recipe() {
  regression_recipe | sed 's/^target = .*/target = kind/; s/^ignore = .*/ignore = y/; s/^name = .*/name = classes/'
}

# 60 images of 20 x 20 pixels of two kinds of stripes.
make_stripes() {
  {
    printf '\0\0\10\3\0\0\0\74\0\0\0\24\0\0\0\24'
    for i in $(seq 30); do
      head -c 400 < <(yes "$(printf 'Az0%.0s' $(seq $((i % 7 + 5))))")
      head -c 400 < <(yes "$(printf '~~~~~!!!!!%.0s' $(seq $((i % 3 + 1))))")
    done
  } >images.idx
  {
    printf '\0\0\10\1\0\0\0\74'
    printf '\0\1%.0s' $(seq 30)
  } >labels.idx
}

# They are told apart; with shifted rows, and rows out of distribution.
stripes_recipe() {
  cat <<'INI'
[run]
name = stripes
budget = 3
[data]
plugin = idx
path = images.idx
target_path = labels.idx
split = 1 1 1
shift = 5
ood_noise = 20
[space]
plugin = mlp
[hyperparameters]
epochs = 2
[selector]
plugin = forward
size = 2
INI
}

# A search without data, whose trials sleep: NAME SECONDS BUDGET.
function_recipe() {
  cat <<INI
[run]
name = $1
seed = 5
budget = $3
[space]
plugin = fixed
[hyperparameters]
x0 = uniform -5 10
x1 = uniform 0 15
seconds = $2
[backend]
plugin = function
[builder]
plugin = nes-rs
INI
}

# run_learner NAME TARGETS LEARNER CALIBRATOR SETTING...: two models of one backend, both in the ensemble, of train.csv with
# the targets price, rent and kind.
run_learner() {
  local name=$1 targets=$2 learner=$3 calibrator=$4 ignored="price rent kind"
  shift 4
  for target in $targets; do ignored=${ignored/$target/}; done
  {
    printf '[run]\nbudget = 2\nseed = 3\n[data]\nplugin = csv\npath = train.csv\ntarget = %s\nignore = %s\n' "$targets" "$ignored"
    printf 'split = 0.6 0.3 0.1\nmissing = indicator\nunseen = other\nrare = 2\n[space]\nplugin = fixed\n'
    printf '[builder]\nplugin = nes-rs\n[selector]\nplugin = all\n[backend]\n%b\n' "$learner"
    [ -z "$calibrator" ] || printf '[evaluation]\nfolds = 0\n[calibrator]\n%b\n' "$calibrator"
  } >"$name.ini"
  tutti run "$name.ini" --out "$name" --quiet "$@"
  expect_code 0
  [ -z "$calibrator" ] || grep -q '"fit"' "$name/ensemble.json" || complain "expected a fitted calibrator in $name"
}
