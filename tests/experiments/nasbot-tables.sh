#!/bin/bash
# NASBOT and its rivals on tables (Kandasamy et al., NeurIPS 2018, Table 3 and Figure 2), with small networks.
#
#   nasbot-tables.sh DATA OUT [SETS]      trains what is missing in OUT, then prints the tables
#   nasbot-tables.sh --show OUT [SETS]    prints the tables of what is finished in OUT, while the other trains, too
#
# In the environment, with what they are by default:
#   METHODS="nasbot rand ea treebo"   recipes ini/nasbot/small*.ini; joint and ensemble are there, too. treebo is NASBOT on chains
#                                     alone; the paper's numbers beside it are of another method
#   BUDGET=60                         networks of a search; the paper has 8 hours of 2 GPUs
#   SEEDS="1 2 3"                     searches, each with its own split; all methods get one before any gets the next
#   ROWS="7200 2400 0"                training, validation and test rows, at most (0: all)
#   EPOCHS=15 BATCH=256               of adam at 1e-3; the paper has 20,000 mini-batches of 256 of sgd
#   WORKERS=0                         processes; 0: one a core
#   SETTINGS=""                       further --set options of every search
#   TUTTI=tutti INI=ini/nasbot        the program and the recipes
#
# DATA holds the sets as SETS names them (uci/naval-propulsion uci/protein), each a folder with data.csv (or .gz) whose last
# column is y. Rows are split .6 / .2 / .2, alike for all methods of a seed. Runs are resumed if they are there: the same command
# goes on.
#
# Prints, in variances of the target on the training rows: the best validation MSE and the test MSE of the network that has it, mean +- standard error
# over the seeds that are finished; the paper's test MSE where it has the set; the best validation MSE over the number of networks,
# and over the time since a search began, up to the end of the shortest one, proposals included (Figure 2). Of runs that did not
# record when results came, the seconds of training are added up.
set -euo pipefail
show=
[ "$1" = --show ] && show=yes && shift
[ "$show" ] || { data=$(realpath "$1") && shift; }
out=$1
sets=${2:-"uci/naval-propulsion uci/protein"}
methods=${METHODS:-"nasbot rand ea treebo"} budget=${BUDGET:-60} seeds=${SEEDS:-"1 2 3"}
rows=${ROWS:-7200 2400 0} epochs=${EPOCHS:-15} batch=${BATCH:-256} workers=${WORKERS:-0}
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti} ini=${INI:-$here/ini/nasbot}
mkdir -p "$out"

steps=$((budget < 6 ? budget : 6)) budgets=
for ((step = 1; step <= steps; step++)); do
  budgets+=${budgets:+,}$((step * budget / steps))
done

folder() { # SET METHOD SEED
  echo "$out/${1//\//-}-$2-$3"
}

search() { # SET METHOD SEED
  local file=$data/$1/data.csv recipe=small-$2.ini options=()
  [ -f "$file" ] || file=$file.gz
  [ "$2" = nasbot ] && recipe=small.ini
  [ "$workers" = 0 ] || options+=(--workers "$workers")
  # shellcheck disable=SC2086
  "$tutti" run "$ini/$recipe" --out "$(folder "$@")" --resume --quiet --set "run.seed=$3" --set "run.budget=$budget" \
    --set "data.path=$file" --set "data.limit=$rows" --set "hyperparameters.epochs=$epochs" \
    --set "hyperparameters.batch_size=$batch" "${options[@]}" ${SETTINGS:-} >/dev/null
}

# curve RUN: lines "budget validation test": mean squared errors in variances of the target on the training rows, by which it is
# standardised.
curve() {
  local scale
  scale=$(sed -n 's/^ *"target_scale": \[\([^]]*\)\].*/\1/p' "$1/data.json")
  "$tutti" curve "$1" --budgets "$budgets" --json | awk -v scale="$scale" '
    /"budget":/ { budget = $2 + 0 }
    /"split":/ { split_ = $2; gsub(/[",]/, "", split_) }
    /"name": "rmse"/ { wanted = 1 }
    wanted && /"value":/ { sub(",", "", $2); mse[split_] = ($2 / scale) ^ 2; wanted = 0 }
    wanted == 0 && split_ == "test" && ("test" in mse) { print budget, mse["validation"], mse["test"]; delete mse }'
}

# over_time RUN CURVE: lines "seconds MSE", the best validation MSE so far whenever a result comes, in variances of the target.
over_time() {
  "$tutti" status "$1" --json | awk -v least="$(tail -n 1 "$2" | cut -d' ' -f2)" '
    /"all_trials":/ { wanted = 1 }
    wanted && /"loss":/ { loss = $2; sub(",", "", loss) }
    wanted && /"seconds":/ { seconds = $2 + 0 }
    wanted && /"at":/ { came = $2; sub(",", "", came) }
    wanted && /"origin":/ {
      sum += seconds
      at[++n] = came == "" || came == "null" ? sum : came + 0
      losses[n] = loss
      if (loss != "null" && (best == "" || loss + 0 < best)) best = loss + 0
    }
    END { for (i = 1; i <= n; i++) if (losses[i] != "null") print at[i], losses[i] / best * least }' | sort -g |
    awk 'NR == 1 || $2 < best { best = $2 } { print $1, best }'
}

# moments COLUMN BUDGET: mean and standard error of a column over the lines of standard input with that budget.
moments() {
  awk -v column="$1" -v budget="$2" '
    $1 == budget { n++; s += $column; ss += $column * $column }
    END {
      if (n == 0) { printf "%20s", "-"; exit }
      error = (n > 1 && ss * n > s * s) ? sqrt((ss - s * s / n) / (n - 1) / n) : 0
      printf "%9.5f +-%8.5f", s / n, error
    }'
}

curves() { # SET METHOD: those of the finished seeds
  cat "$(folder "$1" "$2" '')"*.curve 2>/dev/null || true
}

# at_time SET METHOD SECONDS: lines "0 MSE", the best of each finished seed by then.
at_time() {
  local file
  for file in "$(folder "$1" "$2" '')"*.times; do
    [ -f "$file" ] && awk -v time="$3" '$1 <= time { best = $2 } END { if (best != "") print 0, best }' "$file"
  done
}

# The end of the shortest search on a set; 0 if there is none.
shortest() { # SET
  for file in "$out/${1//\//-}"-*.times; do
    [ -f "$file" ] && tail -n 1 "$file"
  done | sort -g | awk 'NR == 1 { print $1; found = 1 } END { if (!found) print 0 }'
}

# The test MSE in Table 3, for sets that are in it.
published() { # SET METHOD
  case $1/$2 in
    *naval*/rand) echo "0.0103 +- 0.002" ;;
    *naval*/ea) echo "0.0079 +- 0.004" ;;
    *naval*/treebo) echo "0.0102 +- 0.002" ;;
    *naval*/nasbot) echo "0.0075 +- 0.002" ;;
    *protein*/rand) echo "0.948 +- 0.024" ;;
    *protein*/ea) echo "1.010 +- 0.038" ;;
    *protein*/treebo) echo "0.998 +- 0.007" ;;
    *protein*/nasbot) echo "0.902 +- 0.033" ;;
    *) echo - ;;
  esac
}

tables() {
  printf '%-22s %-10s %5s %20s %20s %18s\n' set method seeds "validation MSE" "test MSE" "paper's test MSE"
  for set in $sets; do
    for method in $methods; do
      printf '%-22s %-10s %5s %s %s %18s\n' "$set" "$method" "$(curves "$set" "$method" | grep -c "^$budget " || true)" \
        "$(curves "$set" "$method" | moments 2 "$budget")" "$(curves "$set" "$method" | moments 3 "$budget")" \
        "$(published "$set" "$method")"
    done
  done
  printf '\nbest validation MSE of the first networks\n%-22s %-10s' set method
  for first in ${budgets//,/ }; do printf ' %20s' "$first"; done
  echo
  for set in $sets; do
    for method in $methods; do
      printf '%-22s %-10s' "$set" "$method"
      for first in ${budgets//,/ }; do
        printf ' %s' "$(curves "$set" "$method" | moments 2 "$first")"
      done
      echo
    done
  done
}

times() {
  printf '\nbest validation MSE over time, in seconds\n'
  for set in $sets; do
    end=$(shortest "$set")
    for method in $methods; do
      printf '%-22s %-10s' "$set" "$method"
      for ((step = 1; step <= 5; step++)); do
        time=$(awk -v end="$end" -v step="$step" 'BEGIN { printf "%.1f", end * step / 5 }')
        printf ' %8s: %s' "$time" "$(at_time "$set" "$method" "$time" | moments 2 0)"
      done
      echo
    done
  done
}

if [ ! "$show" ]; then
  for seed in $seeds; do
    for set in $sets; do
      for method in $methods; do
        run=$(folder "$set" "$method" "$seed")
        [ -s "$run.curve" ] && [ -s "$run.times" ] && continue
        search "$set" "$method" "$seed"
        curve "$run" >"$run.new"
        over_time "$run" "$run.new" >"$run.times"
        mv "$run.new" "$run.curve"
      done
    done
  done
fi
tables
times
