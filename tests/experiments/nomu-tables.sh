#!/bin/bash
# nomu-tables.sh [1d|2d|bnn|gaussian|show]...: Tables 1, 5 to 8, 2 and 10, and 11 of the NOMU paper: fits of all methods to functions of one or
# two variables and to the Bayesian test-bed with uniform or normal inputs, then their tables. What is done is kept, so it can be stopped and
# started again. By default 1d and bnn, in 5 repeats; the paper has REPEATS=500 (test-bed: 200), which are other runs than those of 5: give
# them another DIR.
#
#   DIR=nomu-tables      where the runs go
#   REPEATS=5            fits of a function by a method
#   WIDTH=1              divides the units of all networks; their initial weights grow by its root
#   METHODS="..."        of nomu gp mc-dropout deep-ensemble hyper-deep-ensemble, nomu-through (NOMU whose gradient passes the connection,
#                        as that of the published program) and hyper-deep-ensemble-star (the paper's HDE*)
#   FUNCTIONS="..."      of one variable; PLANES="..." of two; DIMENSIONS="1 2 5" of the test-bed (Tables 10 and 11: 10 and 20, too)
#   DRAWS=50             settings that the hyper deep ensemble tries
#   WORKERS=             worker processes; default: one a core
#   TUTTI=tutti          the program
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ini=$here/../../ini/nomu
DIR=${DIR:-nomu-tables} REPEATS=${REPEATS:-5} WIDTH=${WIDTH:-1} TUTTI=${TUTTI:-tutti} DRAWS=${DRAWS:-50} WORKERS=${WORKERS:-}
METHODS=${METHODS:-gp deep-ensemble mc-dropout nomu nomu-through hyper-deep-ensemble hyper-deep-ensemble-star}
FUNCTIONS=${FUNCTIONS:-abs step kink square cubic sine1 sine2 sine3 forrester levy}
PLANES=${PLANES:-sphere2d g2d goldstein2d levy2d bukin2d rosenbrock2d beale2d camel2d perm2d branin2d styblinski2d}
DIMENSIONS=${DIMENSIONS:-1 2 5}
mkdir -p "$DIR"

# narrow UNITS...: these numbers of units, divided by WIDTH.
narrow() { for units; do printf '%d ' $((units / WIDTH)); done; }

# fit NAME RECIPE METHOD [OPTION...]: one cell.
fit() {
  local name=$1 recipe=$2 method=$3 options=()
  shift 3
  case $method in
    nomu | nomu-through) ;;
    *) recipe=$recipe-${method%-star} ;;
  esac
  case $method in
    *-through) options+=(--set surrogate.stop_gradient=none) ;;
    *-star) options+=(--set surrogate.held_out=0.3 --set surrogate.dropout_most=0.5 --set surrogate.retrain=yes) ;;
  esac
  case $method in
    nomu*) options+=(--set surrogate.units="$(narrow 1024 1024 1024)" --set surrogate.uncertainty_units="$(narrow 1024 1024 1024)") ;;
    mc-dropout) options+=(--set surrogate.units="$(narrow 1024 2048 1024)") ;;
    *-ensemble*) options+=(--set surrogate.units="$(narrow 256 1024 512)") ;;
  esac
  [ "$method" = gp ] || options+=(--set trainer.initialiser_range="$(awk "BEGIN { print 0.05 * sqrt($WIDTH) }")")
  [[ $method != hyper-* ]] || options+=(--set surrogate.draws="$DRAWS")
  [ -z "$WORKERS" ] || options+=(--workers "$WORKERS")
  echo "$name-$method"
  "$TUTTI" fit "$ini/$recipe.ini" "${options[@]}" "$@" --repeats "$REPEATS" --out "$DIR/$name-$method" --resume --quiet >/dev/null
}

[ $# -gt 0 ] || set -- 1d bnn show
for what; do
  for method in $METHODS; do
    case $what in
      1d) for f in $FUNCTIONS; do fit "1d-$f" 1d "$method" --set data.function="$f"; done ;;
      2d) for f in $PLANES; do fit "2d-$f" 2d "$method" --set data.function="$f"; done ;;
      bnn | gaussian)
        for d in $DIMENSIONS; do
          more=()
          [[ $method != nomu* ]] || more+=(--set surrogate.artificial=$((100 * d)))
          if [ "$what" = gaussian ]; then # as in ini/nomu/bnn-gaussian.ini
            more+=(--set data.inputs=gaussian --set fit.outside=keep)
            [[ $method != nomu* ]] || more+=(--set surrogate.margin=0)
          fi
          fit "$what-${d}d" bnn "$method" --set data.dimensions="$d" "${more[@]}"
        done ;;
    esac
  done
  [ "$what" != show ] || python3 "$here/nomu-tables.py" "$DIR"
done
