#!/bin/bash
# What pruning saves, and what it costs: pruners none, asha and median, on AutoDEUQ's search on a UCI table and on NES-RS on
# Fashion-MNIST in small.
#
#   pruning.sh DATA OUT           train what is missing, then print
#   pruning.sh --print OUT        print what is there so far
#
# In the environment, with what they are by default:
#   SEEDS="1 2 3"             of each pruner
#   TASKS="autodeuq nes"      which experiments
#   PRUNERS="none asha median asha-more"   asha-more: asha with three times the budget; asha-training, median-training:
#                             by training losses
#   SET=boston                the UCI table: DATA/uci/SET/data.csv; seed s takes the s-th of its standard test rows
#   UCI_ROWS=N                of its training rows, and a quarter as many for validation; all by default
#   UCI_BUDGET=16             networks of AutoDEUQ's search; paper: 500, and batches from 1 row on, here from 16
#   REDUCTION=4               of asha in AutoDEUQ
#   ROWS="300 400 1000"       training, validation and test rows of Fashion-MNIST
#   NES_BUDGET=12             networks of a pool; paper: 400
#   EPOCHS=9                  of a network of NES; paper: 15
#   RUNGS="1 3"               of asha in NES; those that follow from its reduction, 3, by default
#   TUTTI=tutti               the program
#
# One worker, so that the processor's time is that of one process, and a window of two trials, so that results are known early.
# OUT gets the runs, with the processor seconds (user and system, of manager and worker together) in OUT/*.cpu; a run that was
# interrupted begins anew. Prints for each pruner, over seeds: mean test NLL of the ensemble with its standard error, processor
# seconds, and the share of trials that were pruned.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti} seeds=${SEEDS:-1 2 3} tasks=${TASKS:-autodeuq nes} pruners=${PRUNERS:-none asha median asha-more}
uci_budget=${UCI_BUDGET:-16} nes_budget=${NES_BUDGET:-12}

# search NAME BUDGET PRUNER RECIPE [--set KEY=VALUE]...
search() {
  local name=$1 budget=$2 pruner=$3 recipe=$4 by=()
  shift 4
  [ ! -e "$out/$name.cpu" ] || return 0
  rm -rf "${out:?}/$name"
  [ "$pruner" != asha-more ] || budget=$((3 * budget))
  [ "${pruner#*-}" != training ] || by=(--set pruner.losses=training)
  TIMEFORMAT='%U %S'
  { time "$tutti" run "$recipe" --out "$out/$name" --quiet --workers 1 --set run.window=2 --set "run.budget=$budget" \
    --set "pruner.plugin=${pruner%%-*}" "${by[@]}" "$@" >/dev/null 2>"$out/$name.err"; } 2>"$out/$name.time"
  awk '{ print $1 + $2 }' "$out/$name.time" >"$out/$name.cpu"
  rm "$out/$name.time"
}

search_uci() { # PRUNER SEED
  local more=() file=$data/uci/${SET:-boston}/data.csv
  [ -f "$file" ] || file=$file.gz
  [ "${1%%-*}" != asha ] || more+=(--set "pruner.reduction=${REDUCTION:-4}")
  [ -z "${UCI_ROWS:-}" ] || more+=(--set "data.limit=$UCI_ROWS $((UCI_ROWS / 4)) 1000000")
  search "autodeuq-$1-$2" "$uci_budget" "$1" "$here/ini/autodeuq/uci.ini" --set "run.seed=$2" --set "data.path=$file" \
    --set "data.split=0.8 0.2 0" --set "hyperparameters.batch_size=log-integer 16 256" \
    --set "data.test_rows=$(printf '%s/uci/%s/splits/test_%02d.txt' "$data" "${SET:-boston}" $(($2 - 1)))" "${more[@]}"
}

search_nes() { # PRUNER SEED
  local more=()
  [ "${1%%-*}" != asha ] || more=(--set pruner.reduction=3 --set "pruner.rungs=${RUNGS:-}")
  search "nes-$1-$2" "$nes_budget" "$1" "$here/ini/nes/fashion-mnist-small.ini" --set "run.seed=$2" \
    --set "data.path=$data/fashion-mnist" --set "data.limit=${ROWS:-300 400 1000}" --set data.split_seed=1 --set space.cells=2 \
    --set space.channels=4 --set "hyperparameters.epochs=${EPOCHS:-9}" --set hyperparameters.batch_size=50 "${more[@]}"
}

if [ "${1:-}" = --print ]; then
  out=$2
else
  [ $# -eq 2 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
  data=$(realpath "$1") out=$2
  mkdir -p "$out"
  for seed in $seeds; do
    for pruner in $pruners; do
      for task in $tasks; do
        case $task in autodeuq) search_uci "$pruner" "$seed" ;; nes) search_nes "$pruner" "$seed" ;; esac
      done
    done
  done
fi

python3 - "$out" <<'PY'
import glob, json, math, os, re, sys

out = sys.argv[1]
found = {}
for path in sorted(glob.glob(f"{out}/*.cpu")):
    task, pruner, _ = re.fullmatch(r"(autodeuq|nes)-(.*)-(\d+)", os.path.basename(path)[:-4]).groups()
    summary = json.load(open(path[:-4] + "/summary.json"))
    test = next(s for s in summary["evaluation"] if s["split"] == "test")
    name = "nll-moments" if task == "autodeuq" else "nll"
    nll = next(m["value"] for m in test["metrics"] if m["name"] == name)
    trials = summary["trials"]
    found.setdefault((task, pruner), []).append((nll, float(open(path).read()), trials.get("pruned", 0) / trials["done"]))


def mean(values):
    return sum(values) / len(values)


def error(values):
    m = mean(values)
    return math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - 1) / len(values)) if len(values) > 1 else math.nan


print(f"{'task':10} {'pruner':15} {'runs':>4} {'test NLL':>18} {'CPU s':>8} {'less CPU':>9} {'pruned':>7}")
for task in ("autodeuq", "nes"):
    base = mean([c for _, c, _ in found[task, "none"]]) if (task, "none") in found else math.nan
    for pruner in ("none", "asha", "asha-training", "median", "median-training", "asha-more"):
        if (task, pruner) not in found:
            continue
        nlls, seconds, shares = zip(*found[task, pruner])
        print(f"{task:10} {pruner:15} {len(nlls):4} {mean(nlls):8.3f} +- {error(nlls):6.3f} {mean(seconds):8.1f} "
              f"{base / mean(seconds):8.2f}x {100 * mean(shares):6.0f}%")
PY
