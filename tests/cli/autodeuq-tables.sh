#!/bin/bash
# The scripts that make AutoDEUQ's table and figures: the mean ranks of Table I from its own numbers, and small runs of both.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
experiments=$TUTTI_TEST_SRCDIR/tests/experiments recipes=$TUTTI_TEST_SRCDIR/ini/autodeuq

# script NAME [ARGUMENT...]: runs it as `tutti` does the program.
script() {
  what="$*"
  TUTTI=$TUTTI_PROGRAM KNOWN=${KNOWN-} "$experiments/$1" "${@:2}" >out 2>err </dev/null
  code=$?
}

# Ranks. Set, NLL of six methods, RMSE of the same, from the paper.
names="pbp dropout deepens df hyperens autodeuq"
while read -r set numbers; do
  read -ra number <<<"$numbers"
  i=0
  for name in pbp dropout deepens hyperens df autodeuq; do
    mkdir -p "paper/$set-$name-1"
    printf '{\n"split": "test",\n"name": "nll-moments",\n"value": %s,\n"name": "rmse",\n"value": %s\n}\n' \
      "${number[i]}" "${number[i + 6]}" >"paper/$set-$name-1/summary.json"
    i=$((i + 1))
  done
done <<'END'
boston 2.57 2.46 2.41 2.15 2.74 2.46 3.01 2.97 3.28 2.87 3.38 3.09
concrete 3.16 3.04 3.06 4.09 3.10 2.86 5.67 5.23 6.03 4.7 5.76 4.38
energy 2.04 1.99 1.38 0.9 1.62 0.61 1.8 1.66 2.09 1.72 2.30 0.39
kin8nm -0.9 -0.95 -1.2 6.89 -1.14 -1.40 0.1 0.1 0.09 0.26 0.09 0.06
naval-propulsion -3.73 -3.8 -5.63 -3.03 -5.73 -8.24 0.01 0.01 0 0.01 0.00 0.00
power-plant 2.84 2.8 2.79 5.24 2.83 2.66 4.12 4.02 4.11 4.38 4.10 3.43
protein 2.97 2.89 2.83 21.12 3.12 2.48 4.73 4.36 4.71 5.09 4.98 3.52
wine-quality-red 0.97 0.93 0.94 1.92 1.15 1.00 0.64 0.62 0.64 0.73 0.65 0.62
yacht 1.63 1.55 1.18 0.48 0.76 -0.17 1.02 1.11 1.58 1.86 1.00 0.44
yearprediction 3.6 3.59 3.35 7.44 3.58 3.22 8.88 8.85 8.89 16.84 9.30 7.91
END
mkdir data
SEEDS=1 METHODS=$names script autodeuq-uci.sh --print data paper \
  "boston concrete energy kin8nm naval-propulsion power-plant protein wine-quality-red yacht yearprediction"
expect_code 0
expect_out "mean rank of pbp          NLL 4.90 RMSE 3.70 over 10 sets" "mean rank of dropout      NLL 3.40 RMSE 2.60" \
  "mean rank of deepens      NLL 2.50 RMSE 3.80" "mean rank of hyperens     NLL 4.70 RMSE 4.60" \
  "mean rank of df           NLL 3.90 RMSE 4.00" "mean rank of autodeuq     NLL 1.50 RMSE 1.30"

# A set of our own, by recipes that take a second; it has one split of the two that are asked for.
mkdir -p own data/uci/boston/splits
for name in uci toy; do
  printf 'extends = %s/%s.ini\n[hyperparameters]\nepochs = 2\nearly_stopping = 2\nbatch_size = 64\n' "$recipes" "$name" >"own/$name.ini"
done
awk -v OFS=, 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) print i / 10, sin(i / 10) + i % 7 / 20 }' >data/uci/boston/data.csv
printf '%s\n' 3 10 17 24 31 38 >data/uci/boston/splits/test_00.txt
INI=own BUDGET=4 SEEDS="1 2" script autodeuq-uci.sh data runs-uci boston
expect_code 0
expect_err "boston has no split 2: skipped"
expect_out "test NLL (moments)" "2.46(0.09)" "3.09(0.31)"
checks=$((checks + 2))
[ "$(awk '$1 == "boston" { print $2, $3 }' out)" = "autodeuq 1" ] || complain "expected one split of autodeuq"
[[ $(awk '$1 == "boston" { print $4, $5, $6, $7 }' out) =~ ^[-0-9.]+\ 2\.46\(0\.09\)\ [0-9.]+\ 3\.09\(0\.31\)$ ]] || complain "expected the run's numbers beside the paper's"
cp out first
INI=own BUDGET=4 SEEDS=1 script autodeuq-uci.sh --print data runs-uci boston
expect_code 0
cmp -s out first || complain "expected the same table from finished runs"


# What is recorded is not trained again, and gives the same table without the runs; of another budget it is.
KNOWN=known.tsv INI=own BUDGET=4 SEEDS=1 script autodeuq-uci.sh --record data runs-uci boston
KNOWN=known.tsv INI=own BUDGET=4 SEEDS=1 script autodeuq-uci.sh --record data runs-uci boston
expect_code 0
checks=$((checks + 4))
[ "$(wc -l <known.tsv)" -eq 1 ] || complain "expected one line for one run, recorded twice"
KNOWN=known.tsv INI=own BUDGET=4 SEEDS=1 script autodeuq-uci.sh data nothing-here boston
cmp -s out first || complain "expected the same table from a recorded run"
[ -z "$(ls nothing-here)" ] || complain "trained what is recorded"
KNOWN=known.tsv INI=own BUDGET=3 SEEDS=1 script autodeuq-uci.sh data nothing-here boston
[ -d nothing-here/boston-autodeuq-1 ] || complain "did not train a budget that is not recorded"

INI=own BUDGET=4 METHODS=toy script autodeuq-toy.sh runs-toy
expect_code 0
expect_out members aleatoric epistemic diversity
checks=$((checks + 2))
[ "$(wc -l <runs-toy/toy.csv)" -eq 162 ] || complain "expected a row each half unit from -40 to 40"
head -n 1 runs-toy/toy.csv | grep -q "^x0,row,mean,aleatoric,epistemic,total" || complain "expected the bands as columns"
finish
