#!/bin/bash
# A run that has a time (docs/pruning.md): does it end in it, with an ensemble? AutoDEUQ on tables, ini/autodeuq/uci.ini.
#
#   time-budget.sh DATA OUT [SETS]      TIME=60 WORKERS=2 UNFINISHED="leave stop" in the environment
#
# DATA holds uci/NAME/data.csv (or .gz); OUT gets the runs. Prints, for each set and for each way with trainings that are unfinished
# when the time is over: seconds from the command to its end, the share by which that is more or less than the time, processor
# seconds of the manager and of all, networks that finished, were stopped and were left out, members, and the test RMSE.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
data=$(realpath "$1") out=$2
sets=${3:-"boston concrete energy wine-quality-red power-plant"}
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti}
time=${TIME:-60} workers=${WORKERS:-2} ways=${UNFINISHED:-leave stop}
mkdir -p "$out"
TIMEFORMAT='%R %U %S'

# run SET WAY
run() {
  local set=$1 way=$2 file where=$out/$1-$2
  file=$data/uci/$set/data.csv
  [ -f "$file" ] || file=$file.gz
  rm -rf "$where"
  { time "$tutti" run "$here/ini/autodeuq/uci.ini" --out "$where" --verbose --workers "$workers" --set run.budget=0 --set "run.time=$time" \
    --set "run.unfinished=$way" --set "data.path=$file" >"$where.out" 2>"$where.err"; } 2>"$where.time"
}

# The numbers of `-v`: what the manager did, but for waiting.
worked() { sed -n 's/.*manager: [0-9]* asks in \([0-9.e+-]*\) s.* told in \([0-9.e+-]*\) s.* commits in \([0-9.e+-]*\) s.* replies in \([0-9.e+-]*\) s.*/\1 \2 \3 \4/p' "$1"; }

printf '%-18s %-6s %8s %7s %10s %7s %5s %5s %5s %8s %10s\n' set way seconds beyond manager all done stop left members rmse
for set in $sets; do
  for way in $ways; do
    run "$set" "$way"
    where=$out/$set-$way
    "$tutti" status "$where" --json >"$where.json"
    trials() { sed -n "s/.*trials  *\([0-9]*\) done, \([0-9]*\) failed\(, \([0-9]*\) pruned\)\{0,1\}.*/\\$1/p" "$where.out"; }
    stopped=$(trials 4)
    left=$(sed -n 's/.*left out: \([0-9]*\),.*/\1/p' "$where.err")
    members=$(sed -n 's/^Ensemble of \([0-9]*\),.*/\1/p' "$where.out")
    rmse=$(awk '$1 == "rmse" { print $3 }' "$where.out")
    awk -v set="$set" -v way="$way" -v time="$time" -v took="$(cat "$where.time")" -v manager="$(worked "$where.err")" \
      -v ended="$(trials 1)" -v stopped="${stopped:-0}" -v left="${left:-0}" -v members="$members" -v rmse="$rmse" 'BEGIN {
        split(took, t, " "); split(manager, m, " ")
        printf "%-18s %-6s %8.1f %+6.1f%% %10.2f %7.1f %5d %5d %5d %8s %10s\n", set, way, t[1], 100 * (t[1] / time - 1), m[1] + m[2] + m[3] + m[4],
          t[2] + t[3], ended - stopped, stopped, left, members, rmse }'
  done
done
