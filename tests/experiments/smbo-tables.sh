#!/bin/bash
# SMBO-ensemble and its rivals (Lacoste et al., UAI 2014, Tables 1 and 2): random search (RS) and Bayesian optimisation (SMBO) with
# the best model of each, ensembles by agnostic Bayes from the random pool (ERS) and from a search for them (ESMBO).
#
#   smbo-tables.sh DATA OUT [SETS]
#
# In the environment, with what they are by default:
#   LEARNER=mlp                  recipes ini/smbo/LEARNER-*.ini for classes, LEARNERr-*.ini (of svm: svr-*.ini) for numbers
#   BUDGET=60                    models of a search; the paper's is 150
#   SEEDS=3                      splits of each set
#   ROWS="1500 500 2000"         training, validation and test rows, at most
#   WORKERS=0                    processes; 0: one a core
#
# DATA holds the sets as SETS names them, each a folder with data.csv (or .gz) whose last column is `label` or `y`. OUT gets two
# ablations, `classification` and `regression`, which are resumed if they are there; RS and ERS share their pool, so that
# each set and seed costs three searches. Then all is compared: with the paper's names, nes-rs with top-m is RS, nes-rs with
# agnostic-bayes ERS, bo SMBO, smbo-ensemble ESMBO.
set -euo pipefail
data=$(realpath "$1") out=$2
sets=${3:-"classification/ionosphere classification/wdbc classification/segment classification/waveform
  classification/spambase classification/letter torgo/abalone torgo/bank8FM torgo/cpu_small torgo/puma8NH"}
learner=${LEARNER:-mlp} budget=${BUDGET:-60} seeds=${SEEDS:-3} rows=${ROWS:-1500 500 2000} workers=${WORKERS:-0}
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti} ini=$here/ini/smbo
mkdir -p "$out"

# The sets' files by task, divided by commas.
classes='' numbers=''
for set in $sets; do
  file=$data/$set/data.csv
  [ -f "$file" ] || file=$file.gz
  case $(zcat -f "$file" | head -n 1) in
    *,label) classes+=${classes:+,}$file ;;
    *,y) numbers+=${numbers:+,}$file ;;
    *) echo "smbo-tables.sh: the last column of $file is neither label nor y" >&2; exit 2 ;;
  esac
done

# search NAME RECIPES FILES: the four methods on sets of one task.
search() {
  local name=$1 recipes=$2 files=$3 options=()
  [ -n "$files" ] || return 0
  [ "$workers" = 0 ] || options+=(--workers "$workers")
  "$tutti" ablate "$ini/$recipes"-{rs,ers,smbo,esmbo}.ini --swap "data.path=$files" --seeds "$seeds" \
    --set "run.budget=$budget" --set "data.limit=$rows" --out "$out/$name" --resume "${options[@]}" >"$out/$name.txt"
  found+=("$out/$name")
}

found=()
search classification "$learner" "$classes"
search regression "$([ "$learner" = svm ] && echo svr || echo "${learner}r")" "$numbers"
"$tutti" compare "${found[@]}" --by builder.plugin --by selector.plugin --metric error,rmse
