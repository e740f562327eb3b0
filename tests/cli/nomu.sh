#!/bin/bash
# NOMU's recipes; a search killed in the middle goes on as if nothing had happened, c of mw-ucb included; what its parts
# refuse.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
ini=$TUTTI_TEST_SRCDIR/ini/nomu
small=(--set surrogate.units="16 16" --set trainer.epochs=50 --set maximiser.evaluations=100 --set acquisition.points=500)

for recipe in "$ini"/bo*.ini; do
  tutti validate "$recipe"
  expect_code 0
done

# The trainer's section starts with what the surrogate wants, and a recipe may change it.
tutti validate "$ini/bo.ini" --set trainer.epochs=7
expect_code 0
tutti inspect surrogate/nomu
expect_out "cpu stands here with epochs = 1024; batch_size = 0"

run_small() { # SURROGATE DIRECTORY [OPTION...]
  local surrogate=$1 directory=$2 two=()
  shift 2
  [ "$surrogate" != nomu ] || two=(--set surrogate.uncertainty_units="16 16" --set surrogate.artificial=50)
  "$TUTTI_PROGRAM" run "$ini/bo.ini" "${small[@]}" --set builder.surrogate="$surrogate" "${two[@]}" --set run.budget=16 \
    --out "$directory" --quiet "$@" >out 2>err </dev/null
}
trials() { "$TUTTI_PROGRAM" status "$1" --json | sed -n '/all_trials/,$p' | grep -vE '"(seconds|at)"'; }

for surrogate in nomu deep-ensemble mc-dropout hyper-deep-ensemble; do
  what="search with $surrogate"
  run_small "$surrogate" "$surrogate"
  code=$?
  expect_code 0
  trials "$surrogate" >whole
  expect_in whole "mw-ucb "
done

"$TUTTI_PROGRAM" run "$ini/bo.ini" "${small[@]}" --set surrogate.uncertainty_units="16 16" --set surrogate.artificial=50 \
  --set run.budget=16 --set backend.seconds=0.05 --out killed --quiet >/dev/null 2>&1 </dev/null &
run=$!
for ((i = 0; i < 1000; i++)); do
  "$TUTTI_PROGRAM" status killed 2>/dev/null | grep -qE "1[0-5] of 16 done" && break
  sleep 0.02
done
kill -9 "$run"
wait "$run" 2>/dev/null
run_small nomu killed --set backend.seconds=0.05 --resume
code=$?
what="resumed search"
expect_code 0
trials nomu >whole
trials killed >again
checks=$((checks + 1))
cmp -s whole again || complain "killed and resumed, the search goes another way"

tutti run "$ini/bo.ini" --set surrogate.trainer=trees --out none
expect_usage_error "surrogate nomu needs a trainer with networks, and backend trees has none"
tutti run "$ini/bo.ini" --set surrogate.pi_sqr=0 --out none
expect_usage_error "surrogate.pi_sqr: expected a number > 0"
finish
