#!/bin/bash
# Bayesian optimisation beside random search on test functions: how far the best value of a run is from the least one.
#
#   bo-regret.sh OUT
#
# OUT gets the runs, which are resumed if they are there. SEEDS (default 20) runs of BUDGET (default 60) evaluations for each
# function and builder, builder bo at its defaults. SEARCHES are "NAME SETTING..." lines, of which each is a builder's settings.
# Prints the median over the seeds, and the quartiles.
set -euo pipefail
out=$1 seeds=${SEEDS:-20} budget=${BUDGET:-60}
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti}
searches=${SEARCHES:-"bo builder.plugin=bo
random builder.plugin=nes-rs"}
mkdir -p "$out"

# recipe FUNCTION DIMENSIONS RANGE...: the ranges are repeated.
recipe() {
  local function=$1 dimensions=$2 i
  shift 2
  printf '%s\n' "[run]" "budget = $budget" "window = 1" "[backend]" "plugin = function" "function = $function"
  [ "$function" != levy ] || echo "dimensions = $dimensions"
  echo "[hyperparameters]"
  for ((i = 0; i < dimensions; i++)); do
    printf 'x%d = uniform %s %s\n' "$i" "${@:2*(i%($#/2))+1:1}" "${@:2*(i%($#/2))+2:1}"
  done
  printf '%s\n' "[selector]" "plugin = all"
}
recipe branin 2 -5 10 0 15 >"$out/branin.ini"
recipe hartmann6 6 0 1 >"$out/hartmann6.ini"
recipe levy 5 -10 10 >"$out/levy.ini"

# least FUNCTION: its least value.
least() {
  case $1 in
    branin) echo 0.39788735772973816 ;;
    hartmann6) echo -3.32236801141551 ;;
    *) echo 0 ;;
  esac
}

# best DIRECTORY: the least loss of a run.
best() { awk '/"best": \{/ { b = 1 } b && /"loss":/ { gsub(/[^0-9.eE+-]/, "", $2); print $2; exit }' "$1/summary.json"; }

printf '%-10s %-12s %10s %21s\n' function search median quartiles
for function in branin hartmann6 levy; do
  while read -r name settings; do
    for ((seed = 1; seed <= seeds; seed++)); do
      run=$out/$function-$name-$seed arguments=()
      for setting in $settings; do arguments+=(--set "$setting"); done
      "$tutti" run "$out/$function.ini" --out "$run" --resume --quiet --set "run.seed=$seed" "${arguments[@]}" >/dev/null
      echo "$(best "$run") $(least "$function")"
    done | awk '{ printf "%.17g\n", $1 - $2 }' | sort -g | awk -v function_="$function" -v name="$name" '
      { regret[NR] = $1 }
      function at(share,  place, low) { # linear between the order statistics
        place = 1 + share * (NR - 1); low = int(place)
        return regret[low] + (low < NR ? (place - low) * (regret[low + 1] - regret[low]) : 0)
      }
      END { printf "%-10s %-12s %10.3g %10.3g %10.3g\n", function_, name, at(.5), at(.25), at(.75) }'
  done <<<"$searches"
done
