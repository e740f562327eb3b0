# A worker's memory does not grow: RSS after 200 and after 2,000 trainings of small networks, and of a function.
# FLAT_TRIALS=N in the environment: N trainings in place of 2,000.
# shellcheck shell=bash disable=SC2034 # harness.sh uses them
# shellcheck source=tests/cli/harness.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
# shellcheck source=tests/cli/recipes.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
if [ "${TUTTI_TEST_WATCHED:-}" = sanitizers ]; then
  echo "sanitizers keep memory that was freed"
  exit 77
fi
make_table
most=${FLAT_TRIALS:-2000} early=200

# rss PID: its resident memory in kB; nothing when it has ended.
rss() { sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status" 2>/dev/null; }

# flat NAME: run NAME.ini with one worker, and look at its memory while it trains.
flat() {
  local worker='' now count first='' last=0 at=0
  what="tutti run $1.ini"
  "$TUTTI_PROGRAM" run "$1.ini" --out "$1" --workers 1 --quiet >out 2>err </dev/null &
  local manager=$!
  while kill -0 $manager 2>/dev/null; do
    [ -n "$worker" ] || worker=$(pgrep -P $manager -f ' worker ')
    "$TUTTI_PROGRAM" status "$1" --json >status 2>err </dev/null
    count=$("$json_value" status trials done 2>err)
    now=$([ -z "$worker" ] || rss "$worker")
    if [ -n "$now" ] && [ "${count:-0}" -ge "$early" ]; then
      [ -n "$first" ] || { first=$now && echo "$1: $first kB after $count trainings"; }
      last=$now at=$count
    fi
  done
  wait $manager
  code=$?
  expect_code 0
  echo "$1: $last kB after $at trainings"
  checks=$((checks + 1))
  [ "$at" -ge $((most * 3 / 4)) ] || complain "expected to see the worker after $early trainings and near the end"
  # What malloc keeps for later may move a little.
  checks=$((checks + 1))
  [ "$last" -le $((first + first / 20 + 512)) ] || complain "expected that memory stays as it is: $first kB, then $last kB"
}

regression_recipe | sed "s/^name = .*/name = networks/; s/^budget = .*/budget = $most/; s/^epochs = .*/epochs = 2/" >networks.ini
flat networks
function_recipe function 0.005 "$most" >function.ini
flat function
finish
