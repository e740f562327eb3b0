#!/bin/bash
# Warm starts beside cold ones (docs/search.md): NES-RE on boston, small dense networks, everything else equal.
#
#   warm-starts.sh DATA OUT      SEEDS="1 2 3 4 5" EPOCHS="10 80" BUDGET=60 WORKERS=2 in the environment
#
# DATA holds uci/boston/data.csv; OUT gets the runs. Prints, by epochs and seed, the ensemble's NLL on validation and test rows and its
# members' mean, cold and warm; then the mean differences, cold less warm, with their standard errors.
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
data=$(realpath "$1") out=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti}
seeds=${SEEDS:-1 2 3 4 5} epochs=${EPOCHS:-10 80} budget=${BUDGET:-60} workers=${WORKERS:-2}
mkdir -p "$out"
cat >"$out/nes-re.ini" <<INI
[run]
budget = $budget
window = 4
[data]
plugin = csv
path = $data/uci/boston/data.csv
target = y
split = 0.6 0.2 0.2
[space]
plugin = dense-skip
nodes = 3
[hyperparameters]
batch_size = 32
learning_rate = log-uniform 1e-3 3e-2
[builder]
plugin = nes-re
population = 12
parents = 4
[selector]
plugin = forward
size = 5
INI
for most in $epochs; do
  for seed in $seeds; do
    for warm in no yes; do
      where=$out/$most-$seed-$warm
      rm -rf "$where"
      "$tutti" run "$out/nes-re.ini" --out "$where" --quiet --workers "$workers" --set "run.seed=$seed" --set "hyperparameters.epochs=$most" \
        --set "builder.warm_start=$warm" >"$where.out"
      awk -v most="$most" -v seed="$seed" -v warm="$warm" '$1 == "nll" { v = $2; t = $3 } $1 == "average-nll" { a = $2; b = $3 }
        END { print most, seed, warm, v, t, a, b }' "$where.out"
    done
  done
done | tee "$out/rows.txt"
awk '
  $3 == "no" { for (i = 4; i <= 7; i++) cold[i] = $i; next }
  { n[$1]++; for (i = 4; i <= 7; i++) { d = cold[i] - $i; sum[$1, i] += d; squares[$1, i] += d * d } }
  END { split("4 5 6 7", of, " "); split("validation test average-validation average-test", name, " ")
    for (most in n) for (k = 1; k <= 4; k++) {
      mean = sum[most, of[k]] / n[most]; more = n[most] > 1 ? sqrt((squares[most, of[k]] / n[most] - mean * mean) / (n[most] - 1)) : 0
      printf "%s epochs, %s: %.4f +- %.4f\n", most, name[k], mean, more } }' "$out/rows.txt"
