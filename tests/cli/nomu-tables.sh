#!/bin/bash
# The scripts that make NOMU's tables: fits of Gaussian processes, of which the row "all" has the median over all runs,
# and the ranks of recorded regrets.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
experiments=$TUTTI_TEST_SRCDIR/tests/experiments

# fits WHAT...: runs nomu-tables.sh.
fits() {
  what="nomu-tables.sh $*"
  TUTTI=$TUTTI_PROGRAM DIR=fits REPEATS=3 METHODS=gp FUNCTIONS="abs levy" PLANES="sphere2d camel2d" DIMENSIONS="1 5" \
    bash "$experiments/nomu-tables.sh" "$@" >out 2>err </dev/null
  code=$?
}

fits 1d 2d gaussian show
expect_code 0
expect_out "| all | 0." "; 1; 0.33 | 6 |" "; 1; -1.74 | 6 |" "; 1; 0.36 | 6 |" "; 1; -1.07 | 6 |"
expect_out "NLL at one c, test-bed with normal inputs" "; 1; -1.13 | 3 |" "; 1; -0.72 | 3 |"
for group in 1d:abs,levy:width-coverage-area 2d:sphere2d,camel2d:nll-min; do
  IFS=: read -r dimensions functions metric <<<"$group"
  checks=$((checks + 1))
  python3 - "$dimensions" "$functions" "$metric" >difference 2>&1 <<'PYTHON' || complain "$group: $(cat difference)"
import json, math, statistics, sys
dimensions, functions, metric = sys.argv[1:]
values = []
for function in functions.split(","):
    with open(f"fits/{dimensions}-{function}-gp/summary.json", encoding="utf-8") as file:
        values += [r["metrics"][metric] for r in json.load(file)["fit"]["repeats"]]
expected = statistics.median(values) - (math.log(2 * math.pi) / 2 if metric == "nll-min" else 0)
rows = [line.split("\t") for line in open("fits/tables.tsv", encoding="utf-8")]
found = [row for row in rows if row[:3] == [f"{dimensions}-all", "gp", metric]]
assert len(values) == 6 and len(found) == 1 and found[0][6].strip() == "6", (values, found)
value, low, high = map(float, found[0][3:6])
assert abs(value - expected) < 1e-4 * abs(expected), (expected, found)
assert min(values) - 1 <= low <= value <= high <= max(values), found
PYTHON
done
# A method that lacks a function has no median over all.
mv fits/1d-levy-gp away
mkdir fits/1d-levy-nomu
cp away/summary.json fits/1d-levy-nomu
fits show
expect_code 0
expect_out "| all | - | - | 0 |"

# Ranks of regrets: one place down for each method whose interval lies wholly below; the means over functions have none.
{
  printf 'function\tdimensions\tmethod\tseed\tregret-24\tregret-64\n'
  for function in levy g; do
    for seed in 1 2 3; do
      printf '%s\t5\t%s\t%s\t0.5\t%s\n' "$function" nomu $seed 0.1$seed "$function" gp $seed 0.15 \
        "$function" random $seed 0.9$seed
    done
  done
} >regrets.tsv
tutti_out=$(python3 "$experiments/nomu-bo.py" regrets.tsv)
code=$?
what="nomu-bo.py regrets.tsv"
printf '%s\n' "$tutti_out" >out
expect_code 0
expect_out "| levy | 0.120 ± 0.0248; 1; 1.5e-03 | 0.150 ± 0; 2; 8.8e-03 | 0.920 ± 0.0248; 3; 0.0544 |" \
  "| mean | 0.120; 0.0287 |" "| g | 0.500 ± 0; 1 | 0.500 ± 0; 1 | 0.500 ± 0; 1 |"
finish
