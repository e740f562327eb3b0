#!/bin/bash
# Figures 1 and 2 of AutoDEUQ (Egele et al., ICPR 2022): what each part of the search does to the uncertainty on the toy example.
#
#   autodeuq-toy.sh [--print] OUT      BUDGET=50 SEED=1 WORKERS=1 METHODS="..." in the environment
#
# Runs the recipes ini/autodeuq/toy*.ini in OUT, resumed if they are there: toy (AgEBO), toy-age, toy-bo and toy-initialisations are
# the parts of Figure 1, toy-rs-mixed, toy-age-mixed and toy-bo-mixed with toy those of Figure 2. The paper's budget is 500.
# OUT/NAME.csv is the figure's data: x0, mean and standard deviations over [-40, 40], a row each half unit. Prints, of the runs that
# are finished (--print: trains nothing), the members, root mean squares of the aleatoric deviation in both regions with data (the
# noise has 0.5 and 1) and of the epistemic one there, in the gap and beyond, and the paper's diversity score (it reports 1.41 for
# RS-Mixed, 2.86 AgE-Mixed, 3.49 BO-Mixed, 3.17 AgEBO). A single member has neither epistemic deviation nor diversity.
set -euo pipefail
print=no
if [ "${1:-}" = --print ]; then
  print=yes
  shift
fi
[ $# -eq 1 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
out=$1
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti} ini=${INI:-$here/ini/autodeuq}
methods=${METHODS:-"toy toy-age toy-bo toy-initialisations toy-rs-mixed toy-age-mixed toy-bo-mixed"}
mkdir -p "$out"

# bands NAME: the figure's data.
bands() {
  awk 'BEGIN { print "x0"; for (x = -40; x <= 40; x += 0.5) print x }' >"$out/grid.csv"
  "$tutti" predict "$out/$1" "$out/grid.csv" | paste -d, "$out/grid.csv" - >"$out/$1.csv"
}

# root_mean NAME COLUMN FROM TO
root_mean() {
  awk -F, -v name="$2" -v from="$3" -v to="$4" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
    $1 >= from && $1 <= to { sum += $column * $column; n++ }
    END { printf "%9.3f", sqrt(sum / n) }' "$out/$1.csv"
}

# value NAME METRIC: the ensemble's value on the validation rows.
value() {
  awk -v metric="$2" '$0 ~ "\"name\": \"" metric "\"" { found = 1 }
    found && /"value":/ { gsub(/[^0-9.eE+-]/, "", $2); print $2; exit }' "$out/$1/summary.json"
}

if [ "$print" = no ]; then
  for method in $methods; do
    "$tutti" run "$ini/$method.ini" --out "$out/$method" --resume --quiet --workers "${WORKERS:-1}" \
      --set "run.seed=${SEED:-1}" --set "run.budget=${BUDGET:-50}" >/dev/null
  done
fi
printf '%-20s %8s %9s | %9s %9s | %9s %9s %9s %9s | %s\n' "" members "NLL" aleatoric right epistemic right gap beyond diversity
for method in $methods; do
  [ -f "$out/$method/summary.json" ] || continue
  bands "$method"
  printf '%-20s %8d %9.3f | %s %s | %s %s %s %s | %s\n' "$method" "$(grep -c '"weight"' "$out/$method/ensemble.json")" \
    "$(value "$method" nll)" "$(root_mean "$method" aleatoric -30 -20)" "$(root_mean "$method" aleatoric 20 30)" \
    "$(root_mean "$method" epistemic -30 -20)" "$(root_mean "$method" epistemic 20 30)" \
    "$(root_mean "$method" epistemic -20 20)" \
    "$(awk -F, 'NR == 1 || $1 < -30 || $1 > 30' "$out/$method.csv" >"$out/beyond.csv"; root_mean beyond epistemic -40 40)" \
    "$(value "$method" architecture-diversity)"
done
rm -f "$out/beyond.csv"
