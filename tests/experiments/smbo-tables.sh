#!/bin/bash
# SMBO-ensemble and its rivals (Lacoste et al., UAI 2014, Tables 1 and 2, Figures 1 and 2) on the paper's seven spaces: the best model
# of a random search (RS) and of Bayesian optimisation (SMBO), ensembles by agnostic Bayes from the random pool (ERS) and from a search
# for them (ESMBO).
#
#   smbo-tables.sh run DATA OUT [SETS]     make the searches that are not there yet; stop it at any time, the same command goes on
#   smbo-tables.sh show OUT [SPACE]        the tables of what is there, beside the paper's
#   smbo-tables.sh figures OUT [SPACE]     expected rank and Poisson-binomial probability after 10, 20, ... models
#
# In the environment, with what they are by default:
#   SPACES="svm boosting forest mlp svr boostingr forestr"    recipes ini/smbo/SPACE-*.ini; mlpr is the eighth, which the paper has not
#   BUDGET=60                    models of a search; the paper's is 150
#   SEEDS=3                      splits of each set
#   ROWS="600 200 1000"          training, validation and test rows, at most
#   LAST=6                       show: the mean of so many last models; the paper's is 15 of 150
#   WORKERS=1
#
# DATA has a folder for each set with data.csv (or .gz), whose last column is `label` or `y`. A set of SETS is such a folder; of classes,
# ":A,B" behind it takes these two classes alone, and ":merge" merges classes to those of even and of odd number. The paper also has only two
# classes in each set.
#
# The order is: seed by seed, set by set as SETS says, space by space, all four methods. So the searches that are done can be compared
# at any time. RS and ERS share their pool: a set, a seed and a space cost three searches.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti} ini=${INI:-$here/ini/smbo}
spaces=${SPACES:-svm boosting forest mlp svr boostingr forestr}
budget=${BUDGET:-60} seeds=${SEEDS:-3} rows=${ROWS:-600 200 1000} last=${LAST:-6} workers=${WORKERS:-1}

usage() {
  sed -n '6,8s/^# *//p' "$0" >&2
  exit 2
}

# prepare DATA SET OUT: OUT/data/NAME.csv from a set; prints "NAME classification" or "NAME regression".
prepare() {
  local folder=${2%%:*} part='' file=$1/${2%%:*}/data.csv name task
  [ "$folder" = "$2" ] || part=${2#*:}
  [ -f "$file" ] || file=$file.gz
  case $(zcat -f "$file" | head -n 1) in
    *,label) task=classification ;;
    *,y) task=regression ;;
    *) echo "smbo-tables.sh: the last column of $file is neither label nor y" >&2; exit 2 ;;
  esac
  name=$(basename "$folder")${part:+-${part//,/-}}
  mkdir -p "$3/data"
  [ -f "$3/data/$name.csv" ] || {
    zcat -f "$file" | tr -d '\r' | awk -F, -v OFS=, -v part="$part" '
      BEGIN { split(part, wanted, ",") }
      NR > 1 && part == "merge" { $NF = $NF % 2 }
      NR == 1 || part == "" || part == "merge" || $NF == wanted[1] || $NF == wanted[2]' >"$3/data/$name.part"
    mv "$3/data/$name.part" "$3/data/$name.csv"
  }
  echo "$name $task"
}

is_regression() { case $1 in svr | *r) true ;; *) false ;; esac }

# search OUT NAME TASK SEED SPACE: the four methods.
search() {
  local folder=$1/runs/$5/$2-$4
  [ ! -f "$folder/done" ] || return 0
  if is_regression "$5"; then [ "$3" = regression ] || return 0; else [ "$3" = classification ] || return 0; fi
  mkdir -p "$1/runs/$5"
  "$tutti" ablate "$ini/$5"-{rs,ers,smbo,esmbo}.ini --seeds 1 --out "$folder" --resume --workers "$workers" --set "run.seed=$4" \
    --set "data.path=$1/data/$2.csv" --set "run.budget=$budget" --set "data.limit=$rows" --set run.keep_weights=no \
    >"$folder.txt" || { echo "smbo-tables.sh: $folder failed; see $folder.txt" >&2; return 0; }
  touch "$folder/done"
}

run() {
  local data out sets set name task seed space
  data=$(realpath "$1") out=$(realpath -m "$2")
  sets=${3:-"classification/iris:1,2 uci/boston classification/wine:0,1 uci/energy classification/ionosphere torgo/bank8FM
    classification/wdbc torgo/abalone classification/letter:merge torgo/cpu_small classification/waveform:0,1 torgo/puma8NH
    classification/segment:merge uci/concrete classification/spambase torgo/elevators classification/pendigits:merge
    torgo/delta_ailerons classification/optdigits:merge torgo/delta_elevators torgo/cal_housing"}
  mkdir -p "$out"
  for set in $sets; do prepare "$data" "$set" "$out"; done >"$out/sets"
  for ((seed = 1; seed <= seeds; seed++)); do
    while read -r name task; do
      for space in $spaces; do search "$out" "$name" "$task" "$seed" "$space" </dev/null; done
    done <"$out/sets"
  done
}

# compare OUT SPACE OPTION...: what is finished of a space, as tutti compare tells it.
compare() {
  local out=$1 space=$2 finished=()
  shift 2
  mapfile -t finished < <(find "$out/runs/$space" -maxdepth 2 -name done -printf '%h\n' 2>/dev/null | sort -V)
  [ ${#finished[@]} -gt 0 ] || return 1
  "$tutti" compare "${finished[@]}" --by builder.plugin --by selector.plugin --metric "$(is_regression "$space" && echo rmse || echo error)" "$@"
}

tables() { # show|figures OUT [SPACE]
  local what=$1 out=$2 space options=()
  for space in ${3:-$spaces}; do
    if [ "$what" = show ]; then options=(--last "$last"); else options=(--over-time 10 --reselect); fi
    compare "$out" "$space" "${options[@]}" --json >"$out/$space.json" || continue
    python3 "${0%.sh}.py" "$what" "$space" "$out/$space.json"
  done
}

[ $# -ge 2 ] || usage
case $1 in
  run) [ $# -ge 3 ] || usage; shift; run "$@" ;;
  show | figures) tables "$@" ;;
  *) usage ;;
esac
