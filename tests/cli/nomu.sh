#!/bin/bash
# NOMU's recipes; a search killed in the middle goes on as if nothing had happened, c of mw-ucb included; what its parts
# refuse.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
ini=$TUTTI_TEST_SRCDIR/ini/nomu
small=(--set surrogate.units="16 16" --set trainer.epochs=50 --set maximiser.evaluations=100 --set acquisition.points=500)

awk 'BEGIN { print "x,y"; for (i = 0; i < 40; i++) print i / 40 "," i * i }' >table.csv
for recipe in "$ini"/bo*.ini "$ini"/agebo*.ini; do
  data=()
  [[ $recipe != */agebo* ]] || data=(--set data.path="$PWD/table.csv")
  tutti validate "$recipe" "${data[@]}"
  expect_code 0
done

# The trainer's section starts with what the surrogate wants, and a recipe may change it.
tutti validate "$ini/bo.ini" --set trainer.epochs=7
expect_code 0
# The paper trains all networks alike, and they start alike (Appendix B.2.2).
for surrogate in nomu deep-ensemble mc-dropout hyper-deep-ensemble; do
  tutti inspect "surrogate/$surrogate"
  tr -s ' \n' ' ' <out >line
  expect_in line "cpu stands here with epochs = 1024; batch_size = 0; optimiser = adam; learning_rate = 0.001; l2_biases = yes;"
  expect_in line "initialiser = uniform; initialiser_range = 0.05"
done

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

# One core or several: the same search.
run_small deep-ensemble alone --workers 1
code=$?
expect_code 0
run_small deep-ensemble together --workers 3
code=$?
expect_code 0
trials alone >whole
trials together >again
checks=$((checks + 1))
cmp -s whole again || complain "with other numbers of workers, the search goes another way"

# A space over graphs has no vectors.
tutti run "$ini/agebo.ini" --set data.path="$PWD/table.csv" --set builder.surrogate=nomu --set builder.plugin=bo \
  --set space.plugin=layer-graph-mlp --out none
expect_usage_error "surrogate nomu needs vectors"

tutti run "$ini/bo.ini" --set surrogate.trainer=trees --out none
expect_usage_error "surrogate nomu: needs a trainer with networks, and backend trees has none"
tutti validate "$ini/bo.ini" --set surrogate.l_min=3
expect_usage_error "surrogate.l_min, the least uncertainty: expected at most surrogate.l_max = 2, found 3"
tutti validate "$ini/bo.ini" --set surrogate.noise=learnt --set surrogate.bounds=both
expect_usage_error "surrogate.noise = learnt: expected surrogate.bounds = symmetric with it, found both"
tutti validate "$ini/bo.ini" --set acquisition.delta_last=1
expect_usage_error "acquisition.delta_last: expected at most acquisition.delta_first = 0.0625, found 1"
tutti validate "$ini/bo-bnn.ini" --set backend.dimensions=3
expect_usage_error "backend.deviation: needs a value in 3 dimensions"
tutti run "$ini/bo.ini" --set surrogate.trainer=function --out none
expect_usage_error "its trainer: backend function does not predict"
tutti run "$ini/bo.ini" --set surrogate.pi_sqr=0 --out none
expect_usage_error "surrogate.pi_sqr: expected a number > 0"
finish
