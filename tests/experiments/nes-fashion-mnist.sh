#!/bin/bash
# Neural ensemble search on Fashion-MNIST without shift (Zaidi et al., Figures 7 to 9 of the appendix and Table 2), in small: NES-RS,
# NES-RE and DeepEns(RS), several pools of each.
#
#   nes-fashion-mnist.sh DATA OUT           train what is missing, then print
#   nes-fashion-mnist.sh --print OUT        print what is there so far
#
# In the environment, with what they are by default:
#   BUDGET=20                 networks of a pool; paper: 400
#   MEMBERS="3 5 10"          sizes of ensembles; paper: up to 30
#   SEEDS="1 2 3"             pools of each method; all have the same rows
#   ROWS="2000 1000 2000"     training, validation and test rows; paper: 50000 10000 10000
#   CELLS=3 CHANNELS=8        paper: 8 and 16, its program: 5 and 8
#   EPOCHS=4 BATCH=50         paper: 15 and 100
#   POPULATION=7 PARENTS=3    of NES-RE; paper: 50 and 10
#   TUTTI=tutti               the program, with its recipes in RECIPES (default: those of this tree)
#
# DATA is the folder with the four published files. OUT gets the runs, one worker each; the same command goes on where it was
# interrupted. Prints, on the test rows, mean +- standard error over seeds.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti} ini=${RECIPES:-$here/ini/nes}
budget=${BUDGET:-20} members=${MEMBERS:-3 5 10} seeds=${SEEDS:-1 2 3} rows=${ROWS:-2000 1000 2000}
largest=$(tr ' ' '\n' <<<"$members" | sort -n | tail -n 1)

# search NAME RECIPE SEED NETWORKS [--set KEY=VALUE]...: train unless it is there; the split is the same in all.
search() {
  local name=$1 recipe=$2 seed=$3 networks=$4
  shift 4
  "$tutti" run "$ini/$recipe.ini" --out "$out/$name-$seed" --resume --quiet --workers 1 --set "run.seed=$seed" \
    --set "run.budget=$networks" --set "data.path=$data" --set "data.limit=$rows" --set data.split_seed=1 \
    --set "space.cells=${CELLS:-3}" --set "space.channels=${CHANNELS:-8}" --set "hyperparameters.epochs=${EPOCHS:-4}" \
    --set "hyperparameters.batch_size=${BATCH:-50}" "$@" >/dev/null
}

train() {
  local seed
  for seed in $seeds; do
    search nes-rs fashion-mnist-small "$seed" "$budget"
    search nes-re fashion-mnist-small-re "$seed" "$budget" --set "builder.population=${POPULATION:-7}" \
      --set "builder.parents=${PARENTS:-3}"
  done
  for seed in $seeds; do
    search deepens fashion-mnist-small-deepens "$((seed + 1000))" "$largest" --set "builder.from=$out/nes-rs-$seed"
  done
}

# curve NAME: the ensembles of all sizes, as JSON; a deep ensemble is of the first networks, as far as they are trained.
curve() {
  local sizes="" size done
  case $1 in
  deepens-*)
    done=$("$tutti" status "$out/$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["trials"]["done"])')
    for size in $members; do [ "$size" -gt "$done" ] || sizes+=,$size; done
    [ -z "$sizes" ] || "$tutti" curve "$out/$1" --budgets "${sizes#,}" --json
    ;;
  *) [ ! -e "$out/$1/summary.json" ] || "$tutti" curve "$out/$1" --budgets "$budget" --members "${members// /,}" --json ;;
  esac
}

print() {
  local seed name folder
  folder=$(mktemp -d)
  for seed in $seeds; do
    for name in "nes-rs-$seed" "nes-re-$seed" "deepens-$((seed + 1000))"; do
      [ ! -e "$out/$name" ] || curve "$name" >"$folder/$name.json"
      [ -s "$folder/$name.json" ] || rm -f "$folder/$name.json"
    done
  done
  MEMBERS=$members python3 - "$folder" <<'END'
import glob, json, os, statistics, sys

COLUMNS = ["nll", "error", "ece", "average-nll", "average-error", "average-ece", "oracle-nll", "oracle-error", "oracle-ece",
           "disagreement"]

def metrics(point):
    return {m["name"]: m["value"] for m in point["evaluation"][-1]["metrics"]}

def shown(values):
    if len(values) < 2:
        return f"{values[0]:.4f}" if values else "-"
    return f"{statistics.mean(values):.4f} +- {statistics.stdev(values) / len(values) ** 0.5:.4f}"

print(f"{'M':>3s} {'method':12s} {'pools':>5s}" + "".join(f"{c:>18s}" for c in COLUMNS))
for size in map(int, os.environ["MEMBERS"].split()):
    for title, name in ("NES-RS", "nes-rs"), ("NES-RE", "nes-re"), ("DeepEns(RS)", "deepens"):
        points = [p for f in sorted(glob.glob(f"{sys.argv[1]}/{name}-*.json")) for p in json.load(open(f)) if p["members"] == size]
        found = [metrics(p) for p in points]
        print(f"{size:3d} {title:12s} {len(found):5d}" +
              "".join(f"{shown([m[c] for m in found if c in m]):>18s}" for c in COLUMNS))
END
  rm -r "$folder"
}

if [ "$1" = --print ]; then
  out=$2
else
  data=$(realpath "$1") out=$2
  mkdir -p "$out"
  train
fi
print
