#!/bin/bash
# AutoDEUQ and its rivals on the UCI tables (Egele et al., ICPR 2022, Table I), at a part of the paper's budget or at all of it.
#
#   autodeuq-uci.sh DATA OUT [SETS]         BUDGET=50 SEEDS="1 2 3" METHODS="..." in the environment
#
# DATA holds uci/NAME/data.csv (or .gz) with splits/test_NN.txt, the standard test rows: seed s takes the s-th. OUT gets the
# runs, which are resumed if they are there. Methods:
#   autodeuq   AgEBO over dense-skip networks and their training, greedy choice (ini/autodeuq/uci.ini)
#   hyperens   one architecture, training at random, greedy choice
#   random     architecture and training at random, greedy choice
#   deepens    one usual network from five initialisations
#   deepens-rs the best of `random` by validation, from five other initialisations
# Prints for each set and method the mean over the seeds of the test NLL and RMSE, with the standard error.
set -euo pipefail
data=$(realpath "$1") out=$2
sets=${3:-"boston concrete energy wine-quality-red power-plant"}
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti} ini=$here/ini/autodeuq
seeds=${SEEDS:-"1 2 3"} budget=${BUDGET:-50} methods=${METHODS:-"autodeuq hyperens random deepens deepens-rs"}
mkdir -p "$out"

# train SET METHOD SEED RECIPE [SETTING...]
train() {
  local set=$1 method=$2 seed=$3 recipe=$4 file settings=()
  shift 4
  file=$data/uci/$set/data.csv
  [ -f "$file" ] || file=$file.gz
  for setting; do settings+=(--set "$setting"); done
  "$tutti" run "$ini/$recipe" --out "$out/$set-$method-$seed" --resume --quiet --set "run.seed=$seed" \
    --set "data.path=$file" --set "data.split=0.8 0.2 0" \
    --set "data.test_rows=$data/uci/$set/splits/$(printf 'test_%02d.txt' $((seed - 1)))" "${settings[@]}" >/dev/null
}

# value SUMMARY METRIC: the ensemble's value on the test rows.
value() {
  awk -v metric="$2" '
    /"split": "test"/ { test = 1 }
    test && $0 ~ "\"name\": \"" metric "\"" { found = 1 }
    found && /"value":/ { gsub(/[^0-9.eE+-]/, "", $2); print $2; exit }' "$1"
}

printf '%-18s %-12s %20s %20s\n' set method "test NLL" "test RMSE"
for set in $sets; do
  for method in $methods; do
    results=$out/$set-$method.txt
    : >"$results"
    for seed in $seeds; do
      case $method in
        autodeuq) train "$set" "$method" "$seed" uci.ini "run.budget=$budget" ;;
        hyperens) train "$set" "$method" "$seed" hyperens.ini "run.budget=$budget" ;;
        random) train "$set" "$method" "$seed" rs-mixed.ini "run.budget=$budget" ;;
        deepens) train "$set" "$method" "$seed" deepens.ini ;;
        deepens-rs) train "$set" "$method" "$seed" uci.ini run.budget=5 builder.plugin=deepens \
          "builder.from=$(realpath "$out/$set-random-$seed")" selector.plugin=all ;;
        *) train "$set" "$method" "$seed" "$method.ini" "run.budget=$budget" ;;
      esac
      summary=$out/$set-$method-$seed/summary.json
      echo "$(value "$summary" nll) $(value "$summary" rmse)" >>"$results"
    done
    awk -v set="$set" -v method="$method" '{ n++; a += $1; aa += $1 * $1; b += $2; bb += $2 * $2 }
      function error(s, ss) { return n > 1 && ss * n > s * s ? sqrt((ss - s * s / n) / (n - 1) / n) : 0 }
      END { printf "%-18s %-12s %10.4f +-%7.4f %10.4f +-%7.4f\n", set, method, a / n, error(a, aa), b / n, error(b, bb) }' \
      "$results"
  done
done
