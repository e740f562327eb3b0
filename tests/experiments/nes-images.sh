#!/bin/bash
# Neural ensemble search on images under shift, in small: NES-RS, NES-RE and DeepEns(RS) on Fashion-MNIST, clean and at severity 5. The
# paper (Zaidi et al.) shifts CIFAR-10, CIFAR-100 and Tiny ImageNet; Fashion-MNIST is here because its networks are cheap.
#
#   nes-images.sh DATA OUT
#
# In the environment, with what they are by default:
#   BUDGET=24                 networks of a pool; paper: 400
#   ROWS="6000 2000 4000"     training, validation and test rows; paper: all
#   EPOCHS=3                  paper: 15
#   MEMBERS=5                 members of an ensemble
#   SEEDS="1"                 pools of each method
#   WORKERS=0                 processes; 0: one a core
#
# DATA is the folder with the four published files. OUT gets the runs, which are resumed if they are there. For a shift the
# ensemble is chosen on shifted validation rows, and so is the architecture of DeepEns(RS), which is trained from other
# initialisations; corruptions of the test are others. Prints, mean over seeds: test NLL, error and ECE of the ensemble, NLL of its
# average member and of its oracle.
set -euo pipefail
data=$(realpath "$1") out=$2
budget=${BUDGET:-24} rows=${ROWS:-6000 2000 4000} epochs=${EPOCHS:-3} members=${MEMBERS:-5} seeds=${SEEDS:-1}
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti} ini=$here/ini/nes workers=()
[ "${WORKERS:-0}" = 0 ] || workers=(--workers "$WORKERS")
mkdir -p "$out"

# search NAME RECIPE SEED [--set KEY=VALUE]...
search() {
  local name=$1 recipe=$2 seed=$3
  shift 3
  "$tutti" run "$ini/$recipe.ini" --out "$out/$name-$seed" --resume --quiet "${workers[@]}" --set "data.path=$data" \
    --set "data.limit=$rows" --set data.shift=5 --set data.split_seed="$seed" --set "hyperparameters.epochs=$epochs" "$@" >/dev/null
}

for seed in $seeds; do
  search nes-rs fashion-mnist-small "$seed" --set "run.seed=$seed" --set "run.budget=$budget" --set "selector.size=$members"
  search nes-re fashion-mnist-small-shift "$seed" --set "run.seed=$seed" --set "run.budget=$budget" --set "selector.size=$members" \
    --set "builder.population=$(((budget + 2) / 3))" --set "builder.parents=$(((budget + 5) / 6))"
  for severity in 0 5; do
    search "deepens-$severity" fashion-mnist-small-deepens "$seed" --set "run.seed=$((seed + 1000))" \
      --set "run.budget=$members" --set "builder.from=$out/nes-rs-$seed" --set "builder.severity=$severity"
  done
done

OUT=$out SEEDS=$seeds python3 - <<'END'
import json, os

def metrics(name, seed, split):
    summary = json.load(open(f"{os.environ['OUT']}/{name}-{seed}/summary.json"))
    chosen = [s for s in summary["shifts"] if s["split"] == split.replace("test", "validation")]
    evaluation = chosen[0]["evaluation"] if chosen else summary["evaluation"]
    return {m["name"]: m["value"] for e in evaluation if e["split"] == split for m in e["metrics"]}

columns = ["nll", "error", "ece", "average-nll", "oracle-nll"]
print(f"{'':28s}" + "".join(f"{c:>13s}" for c in columns))
for split, severity in ("test", 0), ("test-5", 5):
    for title, name in ("NES-RS", "nes-rs"), ("NES-RE", "nes-re"), ("DeepEns(RS)", f"deepens-{severity}"):
        found = [metrics(name, seed, split) for seed in os.environ["SEEDS"].split()]
        print(f"{split:8s} {title:19s}" + "".join(f"{sum(m[c] for m in found) / len(found):13.4f}" for c in columns))
END
