#!/bin/bash
# AutoDEUQ and its rivals on the UCI tables (Egele et al., ICPR 2022, Table I), at a part of the paper's budget or at all of it.
#
#   autodeuq-uci.sh [--print | --record] DATA OUT [SETS]      BUDGET=100 SEEDS="1 ... 10" METHODS="autodeuq" in the environment
#
# All ten splits of six sets are some nine hours of one core, so results can be kept between machines: KNOWN is a table of finished
# splits (by default autodeuq-uci.tsv beside this script, where what is printed in docs/autodeuq.md comes from; KNOWN= for none).
# A split that is in it is not trained again, since it would come to the same; --record adds to it what is finished in OUT.
#
# DATA holds uci/NAME/data.csv (or .gz) with splits/test_NN.txt, the standard test rows: seed s takes the s-th, and of the other
# rows a fifth for validation. OUT gets the runs; the same command goes on with them. The work goes split by split over all sets, in
# their order, so that the table is usable at any time: --print trains nothing and prints it from the runs that are finished.
# WORKERS=1 processes train. Methods:
#   autodeuq   AgEBO over dense-skip networks and their training, greedy choice (ini/autodeuq/uci.ini)
#   hyperens   one architecture, training at random, greedy choice
#   random     architecture and training at random, greedy choice
#   deepens    one usual network from five initialisations
#   deepens-rs the best of `random` by validation, from five other initialisations
# and every other recipe of ini/autodeuq by its name: METHODS="autodeuq age bo rs age-mixed bo-mixed rs-mixed" compares the searches.
# Prints for each set and method the mean over the finished splits of the test NLL (nll-moments: of one Gaussian with the mixture's
# moments) and RMSE with the standard error, and beside it what the paper reports of that method (its budget is 500, its ten splits
# are other ones); then, of several methods, the mean rank in both over the sets, as the paper has it: on each set by the means to two
# decimals, over the splits that all methods have finished; those that tie share the best place. A set may have fewer splits than SEEDS
# asks for (protein has five): those that are absent are skipped, and that is said.
set -euo pipefail
what=train
case ${1:-} in
  --print | --record)
    what=${1#--}
    shift
    ;;
esac
[ $# -ge 2 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
data=$(realpath "$1") out=$2
sets=${3:-"boston concrete energy wine-quality-red power-plant naval-propulsion"}
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti} ini=${INI:-$here/ini/autodeuq}
known=${KNOWN-$here/tests/experiments/autodeuq-uci.tsv}
seeds=${SEEDS:-"1 2 3 4 5 6 7 8 9 10"} budget=${BUDGET:-100} methods=${METHODS:-autodeuq} workers=${WORKERS:-1}
mkdir -p "$out"

# train SET METHOD SEED RECIPE [SETTING...]
train() {
  local set=$1 method=$2 seed=$3 recipe=$4 file settings=()
  shift 4
  file=$data/uci/$set/data.csv
  [ -f "$file" ] || file=$file.gz
  for setting; do settings+=(--set "$setting"); done
  "$tutti" run "$ini/$recipe" --out "$out/$set-$method-$seed" --resume --quiet --workers "$workers" \
    --set "run.seed=$seed" --set "data.path=$file" --set "data.split=0.8 0.2 0" \
    --set "data.test_rows=$(rows_of "$set" "$seed")" "${settings[@]}" >/dev/null
}

# train_method SET METHOD SEED
train_method() {
  case $2 in
    autodeuq) train "$@" uci.ini "run.budget=$budget" ;;
    random) train "$@" rs-mixed.ini "run.budget=$budget" ;;
    deepens) train "$@" deepens.ini ;;
    deepens-rs)
      [ -d "$out/$1-random-$3" ] || train_method "$1" random "$3"
      train "$@" uci.ini run.budget=5 builder.plugin=deepens \
        "builder.from=$(realpath "$out/$1-random-$3")" selector.plugin=all
      ;;
    *) train "$@" "$2.ini" "run.budget=$budget" ;;
  esac
}

# value SUMMARY METRIC: the ensemble's value on the test rows.
value() {
  awk -v metric="$2" '
    /"split": "test"/ { test = 1 }
    test && $0 ~ "\"name\": \"" metric "\"" { found = 1 }
    found && /"value":/ { gsub(/[^0-9.eE+-]/, "", $2); print $2; exit }' "$1"
}

# known_result SET METHOD SEED: its line in KNOWN, if there is one of this budget.
known_result() {
  [ ! -f "$known" ] || awk -F '\t' -v set="$1" -v method="$2" -v seed="$3" -v budget="$budget" \
    '$1 == set && $2 == method && $3 == seed && $4 == budget' "$known"
}

# result SET METHOD SEED: its test NLL and RMSE, from here or from KNOWN; nothing if it is not finished.
result() {
  local summary=$out/$1-$2-$3/summary.json
  if [ -f "$summary" ]; then
    echo "$(value "$summary" nll-moments) $(value "$summary" rmse)"
  else
    known_result "$@" | cut -f 5,6 --output-delimiter=' '
  fi
}

# Table I of the paper: mean (standard error) of the NLL and the RMSE of Deep Ens., Hyper Ens. and AutoDEUQ.
paper() {
  cat <<'END'
boston           deepens 2.41         3.28      hyperens 2.15(0.22)   2.87(0.1)  autodeuq 2.46(0.09)  3.09(0.31)
concrete         deepens 3.06         6.03      hyperens 4.09(0.17)   4.7(0.08)  autodeuq 2.86(0.07)  4.38(0.15)
energy           deepens 1.38         2.09      hyperens 0.9(0.04)    1.72(0.08) autodeuq 0.61(0.19)  0.39(0.02)
naval-propulsion deepens -5.63        0         hyperens -3.03(0.49)  0.01(0)    autodeuq -8.24(0.01) 0.00(0.00)
power-plant      deepens 2.79         4.11      hyperens 5.24(0.72)   4.38(0.02) autodeuq 2.66(0.05)  3.43(0.08)
protein          deepens 2.83         4.71      hyperens 21.12(2.52)  5.09(0.01) autodeuq 2.48(0.03)  3.52(0.02)
wine-quality-red deepens 0.94         0.64      hyperens 1.92(0.92)   0.73(0.01) autodeuq 1.00(0.08)  0.62(0.01)
END
}

# cited SET METHOD: the paper's NLL and RMSE, or dashes.
cited() {
  paper | awk -v set="$1" -v method="$2" '
    $1 == set { for (i = 2; i < NF; i += 3) if ($i == method) { print $(i + 1), $(i + 2); found = 1 } }
    END { if (!found) print "- -" }'
}

print_table() {
  local set method seed nll rmse
  printf '%-18s %-12s %6s %22s %13s %22s %13s\n' set method splits "test NLL (moments)" paper "test RMSE" paper
  for set in $sets; do
    for method in $methods; do
      read -r nll rmse < <(cited "$set" "$method")
      for seed in $seeds; do
        result "$set" "$method" "$seed"
      done | awk -v set="$set" -v method="$method" -v nll="$nll" -v rmse="$rmse" '
        { n++; a += $1; aa += $1 * $1; b += $2; bb += $2 * $2 }
        # of one split unknown
        function error(s, ss) { return n < 2 ? "" : sprintf("+-%7.4f", ss * n > s * s ? sqrt((ss - s * s / n) / (n - 1) / n) : 0) }
        END {
          if (n)
            printf "%-18s %-12s %6d %12.4f %9s %13s %12.5f %9s %13s\n", set, method, n, a / n, error(a, aa), nll, b / n,
              error(b, bb), rmse
        }'
    done
  done
}

# A line for each finished run: set, split, method, test NLL and RMSE.
list_runs() {
  local set method seed numbers
  for set in $sets; do
    for seed in $seeds; do
      for method in $methods; do
        numbers=$(result "$set" "$method" "$seed")
        [ -z "$numbers" ] || echo "$set $seed $method $numbers"
      done
    done
  done
}

print_ranks() {
  list_runs | awk -v count="$(wc -w <<<"$methods")" -v methods="$methods" '
    { block = $1 " " $2; set[block] = $1; n[block]++; value["nll", block, $3] = $4; value["rmse", block, $3] = $5 }
    # To two decimals, and what then ties has the best place of those.
    function add_ranks(metric, s, i, j, mean) {
      for (i = 1; i <= count; i++)
        mean[i] = sprintf("%.2f", sum[metric, s, method[i]] / splits[s]) + 0
      for (i = 1; i <= count; i++) {
        rank[metric, i]++
        for (j = 1; j <= count; j++)
          rank[metric, i] += mean[j] < mean[i]
      }
    }
    END {
      split(methods, method)
      for (block in n)
        if (n[block] == count) {
          splits[set[block]]++
          for (i = 1; i <= count; i++) {
            sum["nll", set[block], method[i]] += value["nll", block, method[i]]
            sum["rmse", set[block], method[i]] += value["rmse", block, method[i]]
          }
        }
      for (s in splits) {
        sets++
        add_ranks("nll", s)
        add_ranks("rmse", s)
      }
      for (i = 1; sets && i <= count; i++)
        printf "mean rank of %-12s NLL %.2f RMSE %.2f over %d sets\n", method[i], rank["nll", i] / sets, rank["rmse", i] / sets, sets
    }'
}

# rows_of SET SEED: the file with the test rows.
rows_of() {
  echo "$data/uci/$1/splits/$(printf 'test_%02d.txt' $(($2 - 1)))"
}

if [ "$what" = train ]; then
  for seed in $seeds; do
    for set in $sets; do
      if [ ! -f "$(rows_of "$set" "$seed")" ]; then
        echo "$set has no split $seed: skipped" >&2
        continue
      fi
      for method in $methods; do
        [ -n "$(known_result "$set" "$method" "$seed")" ] || train_method "$set" "$method" "$seed"
      done
    done
  done
elif [ "$what" = record ]; then
  [ -n "$known" ] || { echo "autodeuq-uci.sh: --record adds to the table that KNOWN names, and it is empty" >&2; exit 2; }
  list_runs | while read -r set seed method nll rmse; do
    [ -n "$(known_result "$set" "$method" "$seed")" ] ||
      printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$set" "$method" "$seed" "$budget" "$nll" "$rmse" "$("$tutti" --version)"
  done >> "$known"
fi
print_table
[ "$(wc -w <<<"$methods")" = 1 ] || print_ranks
