#!/bin/bash
# Table 4 of the NOMU paper: Bayesian optimisation of functions on [-1, 1]^d, 8 random points and then 64, with NOMU and its rivals.
#
#   nomu-bo.sh OUT
#
# OUT gets the runs, which are resumed if they are there, their regrets, regrets.tsv, and the tables in Markdown, table.md; nomu-bo.tsv and
# nomu-bo-medium.tsv beside this script keep the regrets that docs/nomu.md tells of. From the environment, with defaults:
#   DIMENSIONS  5
#   FUNCTIONS   "levy rosenbrock g perm bnn"; of bnn each seed draws another function
#   METHODS     "nomu gp mc-dropout deep-ensemble hyper-deep-ensemble plain-gp random"; plain-gp: the bound of one deviation, which no mean width
#               scales and nothing widens (the paper does not tell how many deviations)
#   SEEDS       3 (the paper: 100 in 5 dimensions, 50 in 10 and 20)
#   SIZE        paper; small: all networks have 3 x 64 units, 100 artificial points and 300 epochs, DIRECT 500 evaluations, and the hyper deep
#               ensemble tries 10 settings, not 20. medium: 3 x 256 units, 250 artificial points, 512 epochs, DIRECT 2,000 evaluations
#   WIDTH       0.5, the mean width that calibrates c (the paper tries 0.05, too, and takes the better of the two for each method)
#   REFERENCE   2000: evaluations of an evolutionary search for the least value of each bnn, which is not known
# Regret: (best of the run - least) / |least|, after 24 and after 64 steps: mean over the seeds, and half its 95 % interval.
set -euo pipefail
out=$1 dimensions=${DIMENSIONS:-5} seeds=${SEEDS:-3} size=${SIZE:-paper} width=${WIDTH:-0.5} reference=${REFERENCE:-2000}
functions=${FUNCTIONS:-levy rosenbrock g perm bnn}
methods=${METHODS:-nomu gp mc-dropout deep-ensemble hyper-deep-ensemble plain-gp random}
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti}
mkdir -p "$out"

# problem FUNCTION: the sections that say what is minimised.
problem() {
  local i
  printf '%s\n' "[backend]" "plugin = function" "function = $1" "dimensions = $dimensions" "scaled = yes" "[hyperparameters]"
  for ((i = 0; i < dimensions; i++)); do echo "x$i = uniform -1 1"; done
  printf '%s\n' "[selector]" "plugin = all"
}

# reduce METHOD UNITS ARTIFICIAL EPOCHS RANGE: in section [surrogate], and then [trainer]
reduce() {
  echo "units = $2 $2 $2"
  [ "$1" != hyper-deep-ensemble ] || echo "draws = 10"
  [ "$1" != nomu ] || printf '%s\n' "uncertainty_units = $2 $2 $2" "artificial = $3"
  printf '%s\n' "[trainer]" "epochs = $4" "initialiser_range = $5"
}

# method NAME: the sections that say how.
method() {
  if [ "$1" = random ]; then
    printf '%s\n' "[builder]" "plugin = nes-rs"
    return
  fi
  printf '%s\n' "[builder]" "plugin = bo" "initial = 8" "design = random" "surrogate = ${1#plain-}" "maximiser = direct"
  if [ "$1" = plain-gp ]; then
    printf '%s\n' "acquisition = lcb" "[acquisition]" "kappa = 1"
  else
    printf '%s\n' "acquisition = mw-ucb" "[acquisition]" "mean_width = $width"
  fi
  printf '%s\n' "[maximiser]" "local = no"
  case $size in
    small) echo "evaluations = 500" ;;
    medium) echo "evaluations = 2000" ;;
    *) echo "evaluations = 5000" ;;
  esac
  if [[ $1 == *gp ]]; then # as in ini/nomu/1d-gp.ini, where the lines say why
    printf '%s\n' "[surrogate]" "kernel = rbf" "ard = no" "amplitude = 1e-5 1e5" "length_scale = 5e-6 5e4" "noise = 1e-7" "starts = 11"
    return
  fi
  printf '%s\n' "[surrogate]" "values = none"
  case $size in # initial weights: for so many units what 0.05 is for 1024
    small) reduce "$1" 64 100 300 0.2 ;;
    medium) reduce "$1" 256 250 512 0.1 ;;
  esac
}

# search DIRECTORY SEED FUNCTION SETTING...: a run, unless it has finished.
search() {
  local directory=$1 seed=$2 function=$3 settings=() setting
  shift 3
  for setting in "run.seed=$seed" "$@"; do settings+=(--set "$setting"); done
  [ "$function" != bnn ] || settings+=(--set "backend.draw=$seed")
  [ -s "$directory/summary.json" ] ||
    "$tutti" run "$directory.ini" --out "$directory" --resume --quiet "${settings[@]}" >"$directory.log" 2>&1
}

for function in $functions; do
  for ((seed = 1; seed <= seeds; seed++)); do
    for method in $methods; do
      run=$out/$function-$dimensions-$method-$seed
      { printf '%s\n' "[run]" "budget = 72" "window = 1" && problem "$function" && method "$method"; } >"$run.ini"
      search "$run" "$seed" "$function"
    done
    if [ "$function" = bnn ]; then
      run=$out/$function-$dimensions-least-$seed
      { printf '%s\n' "[run]" "budget = $reference" && problem "$function" && printf '%s\n' "[builder]" "plugin = ea"; } >"$run.ini"
      search "$run" "$seed" "$function"
    fi
  done
done

"$here/tests/experiments/nomu-bo.py" "$out" "$dimensions" "$seeds" "$functions" "$methods" "$out/regrets.tsv" |
  tee "$out/table.md"
