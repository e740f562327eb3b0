#!/bin/bash
# What numbers of 16 bits cost in loss: the same random networks, from the same seeds, with them and in float32. For tables
# precision = bfloat16, on ini/autodeuq/uci.ini; for images the same, and storage = half, on ini/nes/fashion-mnist-small.ini.
#
#   precision.sh DATA OUT [SETS]      SEEDS="1 2 3 4 5" NETWORKS=12 EPOCHS=30 WORKERS=1 ROWS=4000 in the environment
#
# DATA holds uci/NAME/data.csv (or .gz) and fashion-mnist; SETS are such names, uci/boston say, and such with another space than the
# recipe's behind: uci/boston/mlp, fashion-mnist/nasbench201. The same command goes on with what is in OUT. KINDS, "bfloat16" or "half", says which
# of them images are trained with, IMAGES how many are for training, validation and testing (the recipe's). Prints, for each set and kind: the test NLL of the
# ensembles, mean and standard error over the seeds, in float32, with 16 bits, and of the difference; of the networks the median
# difference in validation loss, and how many differ at all, and are worse with 16 bits.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
data=$(realpath "$1") out=$2
sets=${3:-"uci/boston uci/concrete uci/energy uci/wine-quality-red uci/power-plant uci/naval-propulsion uci/protein fashion-mnist"}
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti}
seeds=${SEEDS:-"1 2 3 4 5"} networks=${NETWORKS:-12} epochs=${EPOCHS:-30} workers=${WORKERS:-1} rows=${ROWS:-4000} of_images=${KINDS:-"half bfloat16"}
images=${IMAGES:-}
mkdir -p "$out"

# train SET SEED NAME SETTING...
train() {
  local set=$1 seed=$2 name=$3 where=$out/${1//\//-}-$2-$3 file space table resume=() own=()
  [ ! -e "$where/summary.json" ] || return 0
  [ ! -e "$where" ] || resume=(--resume)
  if [ "${set%%/*}" = fashion-mnist ]; then
    own=("$here/ini/nes/fashion-mnist-small.ini" --set "data.path=$data/fashion-mnist")
    [ -z "$images" ] || own+=(--set data.limit="$images")
    [ "$set" = fashion-mnist ] || own+=(--set space.plugin="${set#*/}")
    [ "$set" != fashion-mnist/layer-graph-cnn ] || own+=(--set space.max_units=16 --set space.max_layers=20)
  else
    space=${set#*/*/} table=$set
    if [ "$space" != "$set" ]; then table=${set%/*} own+=(--set space.plugin="$space"); fi
    file=$(find "$data/$table" -maxdepth 1 -name 'data.csv*' | sort | head -n 1)
    own+=("$here/ini/autodeuq/uci.ini" --set "data.path=$file" --set data.limit="$rows 1000 2000" --set builder.plugin=nes-rs
      --set selector.size=5)
  fi
  "$tutti" run "${own[@]}" --out "$where" "${resume[@]}" --quiet --workers "$workers" --set run.seed="$seed" --set run.budget="$networks" \
    --set hyperparameters.epochs="$epochs" "${@:4}" >/dev/null
}

declare -A settings=([half]=backend.storage=half [bfloat16]=backend.precision=bfloat16)

for set in $sets; do
  kinds=bfloat16
  [ "${set%%/*}" != fashion-mnist ] || kinds=$of_images
  for seed in $seeds; do
    train "$set" "$seed" float
    for kind in $kinds; do
      train "$set" "$seed" "$kind" --set "${settings[$kind]}"
    done
    for name in float $kinds; do
      "$tutti" status "$out/${set//\//-}-$seed-$name" --json >"$out/${set//\//-}-$seed-$name.json"
    done
  done
  for kind in $kinds; do
    python3 - "$set" "$out/${set//\//-}" "$seeds" "$kind" <<'PY'
import json, math, statistics, sys
name, prefix, seeds, kind = sys.argv[1], sys.argv[2], sys.argv[3].split(), sys.argv[4]

def load(seed, kind):
    with open(f"{prefix}-{seed}-{kind}.json") as file:
        whole = json.load(file)
    with open(f"{prefix}-{seed}-{kind}/summary.json") as file:
        test = next(split["metrics"] for split in json.load(file)["evaluation"] if split["split"] == "test")
    return next(m["value"] for m in test if m["name"] == "nll"), [t.get("loss") for t in whole["all_trials"]]

def line(values):
    return f"{statistics.mean(values):8.4f} +- {statistics.stdev(values) / math.sqrt(len(values)):.4f}"

pairs = [(load(seed, "float"), load(seed, kind)) for seed in seeds]
of_networks = [b - a for one, other in pairs for a, b in zip(one[1], other[1]) if a is not None and b is not None]
print(f"{name:26} float {line([a[0] for a, b in pairs])}   {kind} {line([b[0] for a, b in pairs])}   difference {line([b[0] - a[0] for a, b in pairs])}   "
      f"networks: median {statistics.median(of_networks):+.4f}, {sum(d != 0 for d in of_networks)} of {len(of_networks)} differ, {sum(d > 0 for d in of_networks)} are worse", flush=True)
PY
  done
done
