#!/bin/bash
# What calibrators do on tables: the coverage of intervals against what they promise, and calibration errors before and after.
#
#   calibration.sh DATA OUT [SETS]      SEEDS="1 2 3" NETWORKS=10 EPOCHS=60 WORKERS=1 in the environment
#
# DATA holds uci/NAME, torgo/NAME and classification/NAME, each with data.csv or data.csv.gz, whose last column is the target (of
# classification: the class). SETS are such names ("uci/boston classification/wdbc"); by default all of them. Each set is split at
# random by each seed: 70 % training, of which a fifth is kept apart for the calibrator, 10 % validation, 20 % test, at most 4000, 600
# and 2000 rows. The same ensemble of five of NETWORKS random networks is calibrated by every calibrator. OUT gets the runs; the same
# command goes on with them.
# Prints, over the seeds together: for regression, the share of test rows inside the intervals of 90 and 95 % that tutti predict gives,
# without a calibrator and with each; `*` where it is further from the goal than two standard errors 2 sqrt(p (1 - p) (1/test + 1/cal)),
# which count the rows that were tested and those that the interval was fitted to; mean calibration error and interval score. For classes
# the mean NLL and ECE. Each calibrator has two lines: taken in any case, and `judged`, what a user gets: cross-validation takes it
# (evaluation.folds = 5) in so many of the seeds, and in the others the ensemble stays as it is.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
data=$(realpath "$1") out=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti}
seeds=${SEEDS:-"1 2 3"} networks=${NETWORKS:-10} epochs=${EPOCHS:-60} workers=${WORKERS:-1}
sets=${3:-$(cd "$data" && for folder in uci/* torgo/* solar classification/*; do ls "$folder"/data.csv* >/dev/null 2>&1 && echo "$folder"; done)}
mkdir -p "$out"

# train SET SEED: the run, in OUT/SET/SEED.
train() {
  local folder=$out/${1//\//-}-$2 file task=auto
  file=$(find "$data/$1" -maxdepth 1 -name 'data.csv*' | sort | head -n 1)
  [ "${1%%/*}" != classification ] || task=classification
  [ ! -e "$folder/summary.json" ] || return 0
  local resume=()
  [ ! -e "$folder" ] || resume=(--resume)
  "$tutti" run "$here/ini/csv-regression.ini" --quiet --out "$folder" "${resume[@]}" --set run.workers="$workers" \
    --set run.seed="$2" --set run.budget="$networks" --set data.path="$file" --set data.target=-1 --set data.task=$task \
    --set head.kind=auto --set data.split="0.7 0.1 0.2" --set data.limit="4000 600 2000" --set data.calibration=0.2 \
    --set hyperparameters.epochs="$epochs" >/dev/null
}

# judge SET SEED NAME SETTING...: the choice with a calibrator, in OUT/SET/SEED-NAME.json, forced and as it is judged.
judge() {
  local folder=$out/${1//\//-}-$2 name=$3 setting settings=()
  for setting in "${@:4}"; do settings+=(--set "calibrator.$setting"); done
  "$tutti" select "$folder" "${settings[@]}" --set evaluation.folds=0 --json >"$folder-$name.json" 2>/dev/null
  "$tutti" select "$folder" "${settings[@]}" --json >"$folder-$name-judged.json" 2>/dev/null
}

for set in $sets; do
  for seed in $seeds; do
    train "$set" "$seed"
    if [ "${set%%/*}" = classification ]; then
      for name in temperature vector-scaling isotonic; do judge "$set" "$seed" $name plugin=$name; done
    else
      judge "$set" "$seed" variance plugin=variance-scaling
      judge "$set" "$seed" variance-apart plugin=variance-scaling apart=yes
      judge "$set" "$seed" conformal plugin=conformal
      judge "$set" "$seed" conformal-absolute plugin=conformal normalise=no
    fi
  done
  python3 - "$out/${set//\//-}" "$set" "$seeds" <<'END'
import json, math, os, sys
prefix, name, seeds = sys.argv[1], sys.argv[2], sys.argv[3].split()
classes = name.startswith("classification")
kinds = ["temperature", "vector-scaling", "isotonic"] if classes else ["variance", "variance-apart", "conformal", "conformal-absolute"]
shown = ["nll", "ece"] if classes else ["coverage-90", "coverage-95", "calibration-error", "interval-score"]

def load(seed, kind):
    with open(f"{prefix}-{seed}-{kind}.json") as file:
        return json.load(file)

def part(split, key):
    found = {metric["name"]: metric["value"] for metric in split.get(key) or split["metrics"]}
    return [found[metric] if found[metric] is not None else math.nan for metric in shown]

def line(label, rows, tested, fitted, taken):
    means, text = [sum(column) / len(rows) for column in zip(*rows)], f"  {label:20}"
    for metric, mean in zip(shown, means):
        goal = float(metric[-2:]) / 100 if metric.startswith("coverage") else None
        far = goal and abs(mean - goal) > 2 * math.sqrt(goal * (1 - goal) * (1 / tested + (1 / fitted if fitted else 0)))
        text += f" {mean:12.4f}" + ("*" if far else " ")
    print(text + taken)

print(f"{name}\n  {'':20}" + "".join(f" {metric:>12} " for metric in shown))
tests = [next(s for s in load(seed, kinds[0])["evaluation"] if s["split"] == "test") for seed in seeds]
tested = sum(split["rows"] for split in tests)
line("none", [part(split, "metrics") for split in tests], tested, 0, "")
for kind in kinds:
    rows, chosen, taken, fitted = [], [], 0, 0
    for seed in seeds:
        forced, judged = load(seed, kind), load(seed, kind + "-judged")
        fitted += forced["calibration"]["rows"]
        taken += "fit" in judged["calibration"]
        rows.append(part(next(s for s in forced["evaluation"] if s["split"] == "test"), "calibrated"))
        chosen.append(part(next(s for s in judged["evaluation"] if s["split"] == "test"), "calibrated"))
        if "refused" in forced["calibration"]:
            print(f"  {kind}: seed {seed}: {forced['calibration']['refused']}")
    line(kind, rows, tested, fitted, "")
    line("  judged", chosen, tested, fitted, f"  taken {taken} of {len(seeds)}")
END
done
