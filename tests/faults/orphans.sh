# shellcheck shell=bash
# A manager that is killed takes its workers with it, also when they are at work; and when it ends, none is left.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
function_recipe slow 300 8 >slow.ini
function_recipe quick 0 8 >quick.ini

# workers_of PID: their numbers, when there are two.
workers_of() {
  local i
  for ((i = 0; i < 300; i++)); do
    mapfile -t workers < <(pgrep -P "$1" -f ' worker ')
    [ ${#workers[@]} -eq 2 ] && return
    sleep 0.1
  done
  complain "expected two workers of $1"
}
expect_gone() {
  local i worker
  checks=$((checks + 1))
  for ((i = 0; i < 300; i++)); do
    for worker in "${workers[@]}"; do
      # A zombie has ended, whoever has to bury it.
      grep -qE '^State:[[:space:]]+[^ZX]' "/proc/$worker/status" 2>/dev/null && sleep 0.1 && continue 2
    done
    return
  done
  complain "expected that the workers ${workers[*]} are gone"
  kill -9 "${workers[@]}"
}

: >out
: >err
what="tutti run slow.ini, killed"
"$TUTTI_PROGRAM" run slow.ini --workers 2 --out slow --quiet &
manager=$!
workers_of "$manager"
kill -9 "$manager"
wait "$manager" 2>/dev/null
expect_gone

what="tutti run slow.ini, interrupted"
env --default-signal=INT "$TUTTI_PROGRAM" run slow.ini --workers 2 --out slow --quiet --resume >/dev/null 2>&1 &
manager=$!
workers_of "$manager"
kill -INT "$manager"
wait "$manager"
code=$?
expect_code 130
expect_gone

tutti run quick.ini --workers 2 --out quick --quiet
expect_code 0
checks=$((checks + 1))
! pgrep -f "worker quick( |\$)" >left || complain "expected no worker: $(cat left)"
finish
