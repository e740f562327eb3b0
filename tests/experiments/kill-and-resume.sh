#!/bin/bash
# A long run, and the same run killed at random instants and resumed: the same bits. And how much of the time the manager takes.
#
#   kill-and-resume.sh OUT RECIPE [OPTION...]        KILLS=10 WORKERS=2 SEED=1 in the environment
#
# RECIPE and OPTIONs are those of `tutti run`. OUT/whole is run without interruption (and kept if it is there already); its
# manager's CPU time is set against that of manager and workers together. OUT/killed gets kill -9 at KILLS instants, drawn
# evenly over the time that the whole run took, and is resumed after each; then the catalogues (but for times), the
# ensembles and the summaries of both have to be equal.
set -euo pipefail
out=$1 recipe=$2
shift 2
here=$(cd "$(dirname "$0")/../.." && pwd)
tutti=${TUTTI:-$here/tutti} kills=${KILLS:-10} workers=${WORKERS:-2}
RANDOM=${SEED:-1}
mkdir -p "$out"
ticks=$(getconf CLK_TCK)

# begin DIRECTORY [OPTION...]: start the run in the background; its process is $manager.
begin() {
  local directory=$1
  shift
  "$tutti" run "$recipe" --out "$directory" --workers "$workers" --resume --quiet "$@" >/dev/null &
  manager=$!
}

if [ ! -e "$out/whole/summary.json" ]; then
  begin "$out/whole" "$@"
  start=$(date +%s.%N) own=0
  while { read -r -a stat <"/proc/$manager/stat"; } 2>/dev/null && [ "${stat[2]}" != Z ]; do
    own=$((stat[13] + stat[14]))
    sleep 0.2
  done
  wait "$manager"
  seconds=$(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { print b - a }')
  # CPU time of this shell's children: the manager and, as it waits for them, its workers.
  times >"$out/times.txt"
  awk -v own="$own" -v ticks="$ticks" -v seconds="$seconds" '
    function minutes(text, parts) { split(text, parts, "m"); sub("s", "", parts[2]); return 60 * parts[1] + parts[2] }
    NR == 2 { all = minutes($1) + minutes($2); m = own / ticks
      printf "whole run: %.0f s; manager %.2f s of %.1f s of CPU time: %.2f %%\n", seconds, m, all, 100 * m / all }' "$out/times.txt" |
    tee "$out/cpu.txt"
  echo "$seconds" >"$out/seconds.txt"
fi
seconds=$(cat "$out/seconds.txt")

for ((kill = 1; kill <= kills; kill++)); do
  begin "$out/killed" "$@"
  wait_for=$(awk -v r="$RANDOM" -v s="$seconds" -v k="$kills" 'BEGIN { print 0.2 + r / 32768 * 1.6 * s / (k + 1) }')
  sleep "$wait_for"
  if kill -9 "$manager" 2>/dev/null; then
    wait "$manager" 2>/dev/null || true
    done=$(sqlite3 "$out/killed/catalogue.sqlite" "SELECT count(*) FROM trials WHERE loss IS NOT NULL" 2>/dev/null || echo 0)
    printf 'kill %d after %.1f s: %s trials recorded\n' "$kill" "$wait_for" "$done"
  else
    wait "$manager" || true
    echo "kill $kill: the run was done before"
  fi
done
begin "$out/killed" "$@"
wait "$manager"

equal=yes
for file in summary.json ensemble.json; do
  cmp "$out/whole/$file" "$out/killed/$file" || equal=no
done
rows="SELECT number, candidate, parent, origin, state, loss, told, failure FROM trials ORDER BY number"
cmp <(sqlite3 "$out/whole/catalogue.sqlite" "$rows") <(sqlite3 "$out/killed/catalogue.sqlite" "$rows") || equal=no
for folder in "$out"/whole/trials/*; do
  for file in validation.npy test.npy weights.safetensors; do
    cmp "$folder/$file" "$out/killed/trials/$(basename "$folder")/$file" || equal=no
  done
done
echo "equal after $kills kills, bit for bit: $equal"
[ $equal = yes ]
