#!/bin/bash
# NES-RS against a deep ensemble of one architecture picked by validation (Zaidi et al., 2021, Section 5: DeepEns (RS)).
#
#   nes-rs-vs-deep-ensemble.sh DATA OUT [SETS]
#
# DATA holds uci/NAME/data.csv with splits/test_NN.txt (regression) and classification/NAME/data.csv; OUT gets the runs,
# which are resumed if they are there. For each set and seed: 60 networks, of which forward selection takes 5; and the
# single best of these 60 by validation loss, trained again from 5 fresh seeds. Prints, for each set, the mean over the
# seeds of the test NLL and of the RMSE or error of both, with the standard error.
set -euo pipefail
data=$(realpath "$1") out=$2
sets=${3:-"uci/concrete uci/energy classification/segment classification/waveform"}
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti}
seeds=${SEEDS:-"1 2 3"}
mkdir -p "$out"

# recipe SET SEED BUDGET: what both runs share.
recipe() {
  local set=$1 seed=$2 budget=$3 split
  split=$(printf 'splits/test_%02d.txt' $((seed - 1)))
  echo "[run]"
  printf 'seed = %s\nbudget = %s\n' "$seed" "$budget"
  echo "[data]"
  echo "path = $data/$set/data.csv"
  case $set in
    uci/*) printf 'target = y\ntest_rows = %s/%s/%s\nsplit = 0.8 0.2 0\n' "$data" "$set" "$split" ;;
    *) printf 'target = label\ntask = classification\nsplit = 0.6 0.2 0.2\n' ;;
  esac
  echo "[hyperparameters]"
  printf '%s\n' "epochs = 200" "batch_size = 32" "optimiser = adam" "learning_rate = 3e-3" "schedule = cosine" "early_stopping = 40"
}

# value FILE METRIC: the ensemble's value on the test rows.
value() {
  awk -v metric="$2" '
    /"split": "test"/ { test = 1 }
    test && $0 ~ "\"name\": \"" metric "\"" { found = 1 }
    found && /"value":/ { gsub(/[^0-9.eE+-]/, "", $2); print $2; exit }' "$1"
}

printf '%-26s %-10s %18s %18s\n' set metric "NES-RS" "deep ensemble"
for set in $sets; do
  name=${set//\//-} results=$out/${set//\//-}.txt
  : >"$results"
  for seed in $seeds; do
    nes=$out/$name-nes-$seed deep=$out/$name-deep-$seed
    { recipe "$set" "$seed" 60; printf '%s\n' "[space]" "plugin = mlp" "[selector]" "size = 5"; } >"$nes.ini"
    "$tutti" run "$nes.ini" --out "$nes" --resume --quiet >/dev/null
    best=$(awk '/"best": \{/ { b = 1 } b && /"trial":/ { gsub(/[^0-9]/, "", $2); print $2; exit }' "$nes/summary.json")
    network=$(printf '%s/trials/%06d/network.json' "$(realpath "$nes")" "$best")
    { recipe "$set" "$seed" 5; printf '%s\n' "[space]" "plugin = fixed" "network = $network" "[selector]" "plugin = all"; } >"$deep.ini"
    "$tutti" run "$deep.ini" --out "$deep" --resume --quiet --set "run.seed=$((seed + 1000))" \
      --set "data.split_seed=$seed" >/dev/null
    for metric in nll rmse error; do
      a=$(value "$nes/summary.json" "$metric") b=$(value "$deep/summary.json" "$metric")
      [ -z "$a" ] || echo "$metric $a $b" >>"$results"
    done
  done
  for metric in nll rmse error; do
    awk -v set="$set" -v metric="$metric" '$1 == metric { n++; a += $2; aa += $2 * $2; b += $3; bb += $3 * $3 }
      function error(s, ss) { return n > 1 ? sqrt((ss - s * s / n) / (n - 1) / n) : 0 }
      END { if (n) printf "%-26s %-10s %9.4f +-%6.4f %9.4f +-%6.4f\n", set, metric, a / n, error(a, aa), b / n, error(b, bb) }' \
      "$results"
  done
done
