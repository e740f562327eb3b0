#!/bin/bash
# How busy real worker processes are: as many as you like, which sleep in place of training, under executor local and under
# mpi (four agents). On a machine with nothing else to do: two cores serve 500 workers that sleep for a second.
#   tests/experiments/sleepers.sh [WORKERS [SECONDS [TIMES]]]      default: 500 1 60
# Prints for each executor what share of the time from the first start to the last end the workers slept, all starts counted,
# and of the whole run.
set -euo pipefail
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tutti=${TUTTI_PROGRAM:-$source_folder/tutti} workers=${1:-500} seconds=${2:-1} times=${3:-60} agents=4
work=$(mktemp -d "${TMPDIR:-/tmp}/tutti-sleepers-XXXXXX")
trap 'rm -rf "$work"' EXIT
cat >"$work/sleep.ini" <<INI
[run]
budget = $((workers * times))
window = $((workers + workers / 5 + 2))
order = completion
[space]
plugin = fixed
[hyperparameters]
x0 = uniform -5 10
x1 = uniform 0 15
seconds = $seconds
[backend]
plugin = function
[builder]
plugin = nes-rs
INI

# measure NAME COMMAND...
measure() {
  local name=$1
  shift
  local begin=$EPOCHREALTIME
  "$@" "$tutti" run "$work/sleep.ini" --out "$work/$name" --quiet --set executor.plugin="$name" "${own[@]}" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
  python3 - "$name" "$work/$name/catalogue.sqlite" "$workers" "$begin" "$EPOCHREALTIME" <<'PY'
import sqlite3, sys
name, catalogue, workers, begin, end = sys.argv[1:]
rows = sqlite3.connect(catalogue).execute("SELECT seconds, at, worker FROM trials JOIN times USING (number)").fetchall()
slept, used = sum(r[0] for r in rows), len({r[2] for r in rows})
span = max(r[1] for r in rows) - min(r[1] - r[0] for r in rows)
print(f"{name:6} {used} of {workers} workers, {len(rows)} trials: {100 * slept / int(workers) / span:.1f} % of {span:.1f} s from the first start "
      f"to the last end; {100 * slept / int(workers) / (float(end) - float(begin)):.1f} % of the whole run", flush=True)
PY
}

own=(--set run.workers="$workers")
measure local env
if command -v mpirun >/dev/null; then
  own=(--set executor.workers_per_rank=$((workers / agents)))
  measure mpi mpirun --allow-run-as-root --oversubscribe --bind-to none -n $((agents + 1))
fi
