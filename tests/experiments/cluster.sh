#!/bin/bash
# How many workers one manager keeps busy: ini/cluster/simulated.ini with growing numbers of simulated workers, and the
# manager alone (random search, which asks at once) up to 100,000 trials. Prints a line for each.
#   tests/experiments/cluster.sh [WORKERS...]        default: 10 100 1000 10000
# PACE=processor in the environment: on a machine that others use, too. MEAN=S: the mean duration (60). PER=N: trials for
# each worker (3). INITIAL=N: AgEBO's trials before it asks its model (as many as the window has).
set -euo pipefail
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tutti=${TUTTI_PROGRAM:-$source_folder/tutti}
work=$(mktemp -d "${TMPDIR:-/tmp}/tutti-cluster-XXXXXX")
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- 10 100 1000 10000
pace=${PACE:-real} mean=${MEAN:-60} per=${PER:-3}
initial=()
[ -z "${INITIAL-}" ] || initial=(--set builder.initial="$INITIAL")

# measure NAME WORKERS TRIALS ARGUMENTS...
measure() {
  local name=$1 workers=$2 trials=$3 window=$(($2 + $2 / 5 + 2)) log=$work/log
  shift 3
  rm -rf "$work/run"
  "$tutti" run "$source_folder/ini/cluster/simulated.ini" --out "$work/run" --quiet -v --set run.workers="$workers" \
    --set run.window="$window" --set run.budget="$trials" --set executor.pace="$pace" --set executor.mean="$mean" \
    --set executor.deviation="$((mean / 3))" "$@" >/dev/null 2>"$log" || { cat "$log" >&2; exit 1; }
  python3 - "$name" "$log" "$work/run/catalogue.sqlite" <<'PY'
import json, os, re, sys
name, log, catalogue = sys.argv[1:]
text = open(log).read()
m = re.search(r"manager: (\d+) asks in (\S+) s \((\S+) ms each\), \d+ results told in (\S+) s, (\d+) commits in (\S+) s, "
              r"(\d+) replies in (\S+) s, status in \S+ s, waited for \S+ s; the longest step took (\S+) s \(.*\), none more than (\S+) s of the processor; memory (\S+) MiB", text)
s = json.loads(re.search(r"executor simulated: (\{.*\})", text).group(1))
print(f"{name:8} {s['workers']:6} workers {s['trainings']:7} trials  used {100 * s['utilisation_until_last_request']:6.2f} %  "
      f"ask {float(m[3]):7.3f} ms  tell {1e3 * float(m[4]) / s['trainings']:6.3f} ms  commit {1e3 * float(m[6]) / s['trainings']:6.3f} ms  "
      f"replies {1e3 * float(m[8]) / s['trainings']:6.3f} ms a trial  longest step {float(m[9]):6.2f} s (processor {float(m[10]):6.3f} s)  memory {float(m[11]):6.1f} MiB  "
      f"catalogue {os.path.getsize(catalogue) / 2**20:6.1f} MiB", flush=True)
PY
}

for workers; do
  measure agebo "$workers" $((workers * per < 1000 ? 1000 : workers * per)) --set run.batch=$((workers < 40 ? 2 : workers / 20)) \
    "${initial[@]}"
done
for trials in 1000 100000; do
  measure nes-rs 1000 "$trials" --set builder.plugin=nes-rs --set run.batch=1
done
