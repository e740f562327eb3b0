#!/bin/bash
# NASBOT and its rivals on tables (Kandasamy et al., NeurIPS 2018, Table 3 and Figure 3), with small networks.
#
#   nasbot-tables.sh DATA OUT [SETS]
#
# In the environment, with what they are by default:
#   METHODS="nasbot ea rand treebo"   recipes ini/nasbot/small*.ini; joint and ensemble are there, too
#   BUDGET=60                         networks of a search; the paper has 8 hours of 2 to 4 GPUs
#   SEEDS="1 2 3"                     searches, each with its own split
#   ROWS="7200 2400 0"                training, validation and test rows, at most (0: all)
#   EPOCHS=15                         of adam at 1e-3 with mini-batches of 256; the paper has 20,000 mini-batches of sgd
#   WORKERS=0                         processes; 0: one a core
#
# DATA holds the sets as SETS names them (uci/naval-propulsion uci/protein), each a folder with data.csv (or .gz) whose last
# column is y. Rows are split .6 / .2 / .2, alike for all methods of a seed. OUT gets the runs, which are resumed if they are there.
#
# Prints, in variances of the target: the best validation MSE and the test MSE of the network that has it, mean +- standard error
# over the seeds; then the best validation MSE over the number of networks.
set -euo pipefail
data=$(realpath "$1") out=$2
sets=${3:-"uci/naval-propulsion uci/protein"}
methods=${METHODS:-"nasbot ea rand treebo"} budget=${BUDGET:-60} seeds=${SEEDS:-"1 2 3"}
rows=${ROWS:-7200 2400 0} epochs=${EPOCHS:-15} workers=${WORKERS:-0}
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti} ini=$here/ini/nasbot
mkdir -p "$out"

steps=$((budget < 6 ? budget : 6)) budgets=
for ((step = 1; step <= steps; step++)); do
  budgets+=${budgets:+,}$((step * budget / steps))
done

# search SET METHOD SEED
search() {
  local file=$data/$1/data.csv recipe=small-$2.ini options=()
  [ -f "$file" ] || file=$file.gz
  [ "$2" = nasbot ] && recipe=small.ini
  [ "$workers" = 0 ] || options+=(--workers "$workers")
  "$tutti" run "$ini/$recipe" --out "$(folder "$@")" --resume --quiet --set "run.seed=$3" --set "run.budget=$budget" \
    --set "data.path=$file" --set "data.limit=$rows" --set "hyperparameters.epochs=$epochs" "${options[@]}" >/dev/null
}

folder() {
  echo "$out/${1//\//-}-$2-$3"
}

# curve RUN: lines "budget validation test", in variances of the target (1 - r2).
curve() {
  "$tutti" curve "$1" --budgets "$budgets" --json | awk '
    /"budget":/ { budget = $2 + 0 }
    /"split":/ { split_ = $2; gsub(/[",]/, "", split_) }
    /"name": "r2"/ { wanted = 1 }
    wanted && /"value":/ { sub(",", "", $2); mse[split_] = 1 - $2; wanted = 0 }
    wanted == 0 && split_ == "test" && ("test" in mse) { print budget, mse["validation"], mse["test"]; delete mse }'
}

# moments FILE COLUMN BUDGET: mean and standard error of a column over the lines of that budget.
moments() {
  awk -v column="$2" -v budget="$3" '
    $1 == budget { n++; s += $column; ss += $column * $column }
    END {
      error = (n > 1 && ss * n > s * s) ? sqrt((ss - s * s / n) / (n - 1) / n) : 0
      printf "%9.5f +-%8.5f", s / n, error
    }' "$1"
}

for set in $sets; do
  for method in $methods; do
    curves=$(folder "$set" "$method" curves)
    : >"$curves"
    for seed in $seeds; do
      search "$set" "$method" "$seed"
      curve "$(folder "$set" "$method" "$seed")" >>"$curves"
    done
  done
done

printf '%-22s %-10s %20s %20s\n' set method "validation MSE" "test MSE"
for set in $sets; do
  for method in $methods; do
    curves=$(folder "$set" "$method" curves)
    printf '%-22s %-10s %s %s\n' "$set" "$method" "$(moments "$curves" 2 "$budget")" "$(moments "$curves" 3 "$budget")"
  done
done

printf '\nbest validation MSE of the first networks\n%-22s %-10s' set method
for first in ${budgets//,/ }; do printf ' %19s' "$first"; done
echo
for set in $sets; do
  for method in $methods; do
    printf '%-22s %-10s' "$set" "$method"
    for first in ${budgets//,/ }; do
      printf ' %s' "$(moments "$(folder "$set" "$method" curves)" 2 "$first")"
    done
    echo
  done
done
