#!/bin/bash
# tutti fit: a surrogate on functions and on a table, its files, the same bits for any number of workers and after a kill,
# and what it refuses.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
ini=$TUTTI_TEST_SRCDIR/ini/nomu
tiny=(--set surrogate.units="8 8" --set surrogate.uncertainty_units="8 8" --set trainer.epochs=60)

printf 'x,y\n' >years.csv
for ((i = 0; i < 391; i++)); do echo "$((1610 + i)).5,$((i * i % 17))"; done >>years.csv
for recipe in "$ini"/[12f]*.ini "$ini"/bnn*.ini "$ini"/solar*.ini "$ini"/uci*.ini; do
  table=()
  case $recipe in */solar* | */uci*) table=(--set data.path=years.csv) ;; esac # data that the user brings
  tutti validate "$recipe" "${table[@]}"
  expect_code 0
  case $recipe in */solar*) expect_out "194 train, 0 validation, 197 test" ;; esac
done

tutti fit "$ini/1d.ini" --dry-run
expect_code 0
expect_out "The recipe is valid" "surrogate nomu" "8 train, 0 validation, 100 test" "5 to train"
expect_absent runs

# What it leaves, and what is seen of it.
tutti fit "$ini/1d.ini" "${tiny[@]}" --workers 1 --out one
expect_code 0
expect_out "5 of 5 done" "nll-min" "width-coverage-area" "coverage-0.95" "  fraction" "  nats" "Over 5 repeats" "Everything is in one"
for file in recipe.ini catalogue.sqlite summary.json trials/000000/train-points.npy trials/000000/test-points.npy \
  trials/000000/grid-points.npy trials/000000/picture.svg trials/000004/test-points.npy; do
  checks=$((checks + 1))
  [ -s "one/$file" ] || complain "expected one/$file"
done
expect_absent one/trials/000001/picture.svg
expect_in one/trials/000000/picture.svg "<title>nomu, 8 training rows" "prefers-color-scheme:dark" "true function"
tutti status one
expect_code 0
expect_out "not running" "5 of 5 done" "nll-common" "repeat"
tutti status one --json
expect_json nomu fit surrogate
expect_json 5 fit repeats
tutti select one
expect_usage_error "its trials are repeats of one fit"
tutti predict one "$ini/1d.ini"
expect_usage_error "its trials are repeats of one fit"

# Repeats differ in their data; the number of workers changes nothing, and neither does the effective recipe.
checks=$((checks + 1))
! cmp -s one/trials/000000/train-points.npy one/trials/000001/train-points.npy || complain "two repeats have the same data"
tutti fit one/recipe.ini --workers 2 --out two --quiet --json
expect_code 0
same() { # DIRECTORY DIRECTORY
  local file
  for file in "$1"/trials/*/*; do
    checks=$((checks + 1))
    cmp -s "$file" "$2/${file#*/}" || complain "expected the same bits in $file and in $2"
  done
  checks=$((checks + 1))
  cmp -s "$1/summary.json" "$2/summary.json" || complain "expected the same summary in $1 and $2"
}
same one two
tutti fit "$ini/1d.ini" "${tiny[@]}" --out one
expect_code 2
expect_err "already holds a run"

# Metrics can be recomputed from the files.
find_numpy
what="metrics by NumPy"
"$python" - one >out 2>err <<'PYTHON'
import json, sys, numpy as np
summary = json.load(open(sys.argv[1] + "/summary.json"))
rows = []
for repeat in summary["fit"]["repeats"]:
    points = np.load("%s/trials/%06d/test-points.npy" % (sys.argv[1], repeat["trial"]))
    y, m, s = points[:, -3], points[:, -2], points[:, -1]
    z, half = (y - m) / s, 0.5 * np.log(2 * np.pi)
    c, level = repeat["metrics"]["c"], 1.6448536269514722
    found = {"nll": np.mean(np.log(c * s) + (z / c) ** 2 / 2) + half,
             "nll-min": np.mean(np.log(s)) + np.log(np.sqrt(np.mean(z**2))) + 0.5 + half,
             "width-coverage-area": 2 * np.mean(s) * np.mean(abs(z)), "rmse": np.sqrt(np.mean((y - m) ** 2)),
             "coverage-0.9": np.mean(abs(z) <= level * c), "width-0.9": np.mean(2 * level * c * s)}
    for name, value in found.items():
        assert abs(value - repeat["metrics"][name]) <= 1e-9 * max(1, abs(value)), (name, value, repeat)
    rows.append((np.mean(np.log(s)), np.mean(z**2)))
logs, squares = np.array(rows).T
c2 = np.mean(squares)
common = logs + 0.5 * np.log(c2) + squares / (2 * c2) + 0.5 * np.log(2 * np.pi)
# No other c has a lower mean: it is the paper's search over c, in closed form.
assert all(np.mean(logs + 0.5 * np.log(f * c2) + squares / (2 * f * c2)) > np.mean(common) - 0.9189386 for f in (0.9, 1.1))
metrics = {m["name"]: m for m in summary["evaluation"][0]["metrics"]}
# As docs/metrics.md has them, and no others.
known = {"nll": "nats lower", "nll-min": "nats lower", "nll-common": "nats lower", "width-coverage-area": "target lower", "rmse": "target lower",
         "c": " neither", "c-min": " neither", **{"coverage-" + level: "fraction neither" for level in ("0.5", "0.9", "0.95")},
         **{"width-" + level: "target lower" for level in ("0.5", "0.9", "0.95")}}
assert {name: m["unit"] + " " + m["better"] for name, m in metrics.items()} == known, metrics
shown = metrics["nll-common"]
half = 1.959963984540054 * np.std(common, ddof=1) / np.sqrt(len(common))
assert abs(shown["value"] - np.mean(common)) < 1e-9 and abs(shown["interval"][1] - np.mean(common) - half) < 1e-9, shown
mins = [r["metrics"]["nll-min"] for r in summary["fit"]["repeats"]]
low, high = metrics["nll-min"]["median_interval"]
assert metrics["nll-min"]["median"] == np.median(mins) and min(mins) <= low <= np.median(mins) <= high <= max(mins)
PYTHON
code=$?
expect_code 0

# Killed in the middle, it goes on as if nothing had happened.
slow=(--set surrogate.units="32 32" --set surrogate.uncertainty_units="32 32" --set trainer.epochs=1500 --repeats 6)
tutti fit "$ini/1d.ini" "${slow[@]}" --out whole --quiet
expect_code 0
"$TUTTI_PROGRAM" fit "$ini/1d.ini" "${slow[@]}" --out killed --quiet --workers 2 >/dev/null 2>&1 </dev/null &
run=$!
for ((i = 0; i < 3000; i++)); do
  "$TUTTI_PROGRAM" status killed 2>/dev/null | grep -qE "[1-4] of 6 done" && break
  sleep 0.02
done
kill -9 "$run"
wait "$run" 2>/dev/null
rm -f killed/trials/000000/test-points.npy # and a file is lost
tutti fit "$ini/1d.ini" "${slow[@]}" --out killed --quiet --resume
expect_code 0
same whole killed

# A finished fit goes on with more repeats, as if it had been given them at once; never with fewer than it has.
tutti fit "$ini/1d.ini" "${tiny[@]}" --repeats 2 --out grown --quiet
tutti fit "$ini/1d.ini" "${tiny[@]}" --repeats 4 --out grown --quiet --resume
expect_code 0
tutti status grown
expect_out "4 of 4 done"
tutti fit "$ini/1d.ini" "${tiny[@]}" --repeats 4 --out at-once --quiet
same at-once grown
tutti fit "$ini/1d.ini" "${tiny[@]}" --repeats 3 --out grown --quiet --resume
expect_usage_error "grown has 4 repeats already, and 3 are asked for"
# A fit that is to go on is left out of comparisons, since its recipe is not what its results are of.
timeout -s INT 1 "$TUTTI_PROGRAM" fit "$ini/1d.ini" "${tiny[@]}" --repeats 100000 --out grown --resume --quiet >out 2>err
tutti compare grown at-once --metric nll-min
expect_code 0
expect_out "grown: not finished: its fits go on" "tutti fit --resume ends them"

# Artificial points lie on a grid where there is one variable; of two it would be none.
tutti fit "$ini/1d.ini" "${tiny[@]}" --set surrogate.points=grid --repeats 1 --out grid --quiet
expect_code 0
tutti fit "$ini/1d.ini" "${tiny[@]}" --set surrogate.points=grid --set data.function=styblinski2d --repeats 1 --out no-grid --quiet
expect_usage_error "surrogate.points = grid: expected one variable, found 2; take surrogate.points = random"

# Two inputs: fields. Other surrogates.
tutti fit "$ini/1d.ini" "${tiny[@]}" --set data.function=styblinski2d --set fit.grid=9 --repeats 1 --out plane --quiet
expect_code 0
expect_in plane/trials/000000/picture.svg deviation x1
for surrogate in gp random-forest deep-ensemble mc-dropout hyper-deep-ensemble; do
  small=()
  case $surrogate in *-ensemble | mc-*) small=(--set surrogate.units="8 8" --set trainer.epochs=20) ;; esac
  [ "$surrogate" != hyper-deep-ensemble ] || small+=(--set surrogate.draws=6)
  tutti fit "$ini/1d.ini" --set surrogate.plugin="$surrogate" "${small[@]}" --repeats 2 --out "$surrogate" --quiet --json
  expect_code 0
  expect_json "$surrogate" fit surrogate
done
tutti compare gp random-forest --metric nll-min
expect_code 0
expect_out surrogate.plugin random-forest

tutti ablate "$ini/1d.ini" --set run.budget=2 --swap surrogate.plugin=gp,random-forest --swap data.function=abs,step \
  --out ablation --quiet
expect_code 0
tutti compare ablation --metric nll-min
expect_code 0
expect_out "4 runs: 2 variants, 2 data sets" random-forest "nll-min (lower is better)"
# Cells that were stopped are ended by the ablation, and not each by a fit of its own.
"$TUTTI_PROGRAM" ablate "$ini/1d.ini" "${tiny[@]}" --set run.budget=100000 --swap data.function=abs,step \
  --out stopped --quiet >/dev/null 2>&1 &
for _ in $(seq 300); do
  [ ! -e stopped/runs/function=abs_seed-1/trials/000000 ] || break
  sleep 0.1
done
kill -INT $!
wait $!
tutti compare stopped --metric nll-min
expect_code 2
expect_err "function=abs_seed-1: not finished: its fits have not ended; tutti ablate --resume ends them"

# A table: c from the validation rows, then a fit to these, too; gaps in one input after the other.
{ echo 'a,b<&>,y'; for ((i = 0; i < 60; i++)); do echo "$((i % 7)),$((i * i % 11)),$((i % 7 * 2 + i % 3))"; done; } >table.csv
cat >table.ini <<'INI'
[run]
budget = 2
[data]
path = table.csv
split = 0.7 0.2 0.1
[fit]
refit = yes
[surrogate]
plugin = gp
INI
tutti fit table.ini --json --quiet
expect_code 0
expect_in runs/table/trials/000000/picture.svg 'b&#60;&#38;&#62;'
checks=$((checks + 1))
[ "$("$json_value" out fit repeats 0 metrics c)" != 1.0 ] || complain "expected c from the validation rows"
# Other targets of the last 6 rows, the test rows, change nothing of c; of the 12 before them, the validation rows, they do.
c_of() { # FROM TO: c when the targets of these lines are others
  awk -F, -v OFS=, -v from="$1" -v to="$2" 'NR >= from && NR <= to { $3 = 40 - $3 } 1' table.csv >other.csv
  tutti fit table.ini --json --quiet --out "c-$1-$2" --set data.path=other.csv --set data.split_order=file --set run.budget=1
  expect_code 0
  "$json_value" out fit repeats 0 metrics c
}
c=$(c_of 0 0)
checks=$((checks + 2))
[ "$(c_of 56 61)" = "$c" ] || complain "expected that c does not depend on test rows"
[ "$(c_of 44 55)" != "$c" ] || complain "expected that c depends on validation rows"
# The box of the second fit holds the validation rows: the artificial points are drawn in it.
tutti fit table.ini --set surrogate.plugin=nomu "${tiny[@]}" --repeats 4 --out again --quiet
expect_code 0
expect_out "4 of 4 done, 0 failed"
tutti fit table.ini --set fit.gaps=yes --set fit.refit=no --set data.standardise=no --out gaps --quiet
expect_code 0
"$python" - >out 2>err <<'PYTHON'
import numpy as np
for k in range(2):
    train, test = (np.load("gaps/trials/%06d/%s-points.npy" % (k, s)) for s in ("train", "test"))
    assert len(test) == 20 and not ((train[:, k] > test[:, k].min()) & (train[:, k] < test[:, k].max())).any(), k
PYTHON
code=$?
expect_code 0

# Gaussian inputs leave [-1, 1], where the artificial points stay.
for d in 1 5 20; do
  tutti fit "$ini/bnn-gaussian.ini" "${tiny[@]}" --set data.dimensions="$d" --repeats 4 --out "gaussian-$d" --quiet
  expect_code 0
  expect_out "4 of 4 done, 0 failed"
  expect_in "gaussian-$d/recipe.ini" "inputs = gaussian" "box = -1 1" "margin = 0"
done

# Published splits: repeat k tests on the rows of the k-th file by name.
mkdir -p splits
printf '%s\n' 3 1 4 15 9 >splits/test_00.txt
printf '%s\n' 2 7 18 28 >splits/test_01.txt
for workers in 1 2; do
  tutti fit table.ini --set fit.test_rows='splits/test_*.txt' --set data.standardise=no --out "split-$workers" \
    --workers "$workers" --quiet
  expect_code 0
  "$python" - "split-$workers" >out 2>err <<'PYTHON'
import sys
import numpy as np
for k, rows in enumerate(([3, 1, 4, 15, 9], [2, 7, 18, 28])):
    test = np.load("%s/trials/%06d/test-points.npy" % (sys.argv[1], k))[:, :2]
    wanted = [(i % 7, i * i % 11) for i in rows]
    assert sorted(map(tuple, test)) == sorted(wanted), (k, test, wanted)
PYTHON
  code=$?
  expect_code 0
done
rm -rf runs
tutti fit table.ini --set fit.test_rows='splits/test_*.txt' --repeats 3 --out more
expect_usage_error "fit.test_rows: 3 repeats need as many files of test rows, and 2 are called"
tutti fit table.ini --set fit.test_rows='splits/test_*.txt' --set fit.gaps=yes --out gaps2
expect_usage_error "fit.test_rows says which rows each repeat tests on, and so does fit.gaps"
tutti fit table.ini --set fit.test_rows='splits/test_*.txt' --set data.test_rows=splits/test_00.txt --out rows2
expect_usage_error "fit.test_rows says which rows each repeat tests on, and so does data.test_rows"
# The files of all repeats are looked at before the first: other ones are other data, and a folder's name is no pattern.
tutti fit table.ini --set fit.test_rows='splits/test_*.txt' --set data.standardise=no --out split-1 --resume --repeats 2 --quiet
expect_code 0
echo 5 >splits/test_005.txt
tutti fit table.ini --set fit.test_rows='splits/test_*.txt' --set data.standardise=no --out split-1 --resume --repeats 3 --quiet
expect_usage_error "the data have changed since the run"
rm splits/test_005.txt
echo 60 >>splits/test_01.txt
tutti validate table.ini --set fit.test_rows='splits/test_*.txt'
expect_usage_error "splits/test_01.txt:5: row 60 is out of range: the data have rows 0 to 59"
mkdir 'f[1]'
cp splits/test_00.txt table.csv table.ini 'f[1]'
tutti fit 'f[1]/table.ini' --set fit.test_rows="$PWD/f[1]/test_*.txt" --repeats 1 --out brackets --quiet
expect_code 0
tutti fit table.ini --set fit.test_rows='splits/none_*.txt' --out none
expect_usage_error "fit.test_rows: expected files of row numbers, and none is called"

# Refused, before anything is written.
printf '[builder]\n[fit]\n[data]\npath = table.csv\n' >builder.ini
tutti fit builder.ini
expect_usage_error "builder.ini:1: [builder] is for tutti run" "is for tutti fit"
tutti fit "$ini/bo.ini"
expect_usage_error "expected a recipe with a section [fit]" "use tutti run"
tutti run "$ini/1d.ini"
expect_usage_error "this one has a section [fit]" "use tutti fit"
printf '[fit]\n' >no-data.ini
tutti fit no-data.ini
expect_usage_error "there is no [data]"
tutti fit "$ini/1d.ini" --set surrogate.pi_sqr=0
expect_usage_error "surrogate.pi_sqr: expected a number > 0"
tutti fit "$ini/1d.ini" --set surrogate.c_exp=-1
expect_usage_error "surrogate.c_exp: expected a number > 0"
tutti fit "$ini/1d.ini" --set fit.box="-0.1 0.1"
expect_usage_error "fit.box: narrower than the data" "input x0"
tutti fit "$ini/bnn-gaussian.ini" --set fit.outside=refuse --set data.dimensions=5
expect_usage_error "fit.box: narrower than the data" "fit.outside = keep"
tutti fit "$ini/1d.ini" --set fit.box="1 -1"
expect_usage_error "expected a lower and an upper end, found 1 and -1"
tutti fit "$ini/1d.ini" --set fit.box="1 2 3"
expect_usage_error "fit.box: expected two ends for all inputs"
tutti fit "$ini/1d.ini" --set data.rows=1
expect_usage_error "expected at least 2 training rows, found 1"
tutti fit "$ini/1d.ini" --set data.test_points=0 --set data.split="1 0 0"
expect_usage_error "a fit is measured on test rows, and there are none"
tutti fit "$ini/1d.ini" --set surrogate.trainer=trees
expect_usage_error "surrogate nomu: needs a trainer with networks, and backend trees has none"
sed 's/,\([0-9]*\)$/,class\1/' table.csv >classes.csv
tutti fit table.ini --set data.path=classes.csv
expect_usage_error "tutti fit is for regression, and these data have classes"
tutti fit table.ini --set data.target="a y"
expect_usage_error "a surrogate has one target, and here are 2"
tutti fit table.ini --set fit.levels=1
expect_usage_error "fit.levels"

# A training that diverges is repeated from other seeds; then the repeat fails, and says on how many points.
tutti fit "$ini/1d.ini" "${tiny[@]}" --set trainer.learning_rate=1e30 --set trainer.optimiser=sgd --repeats 1 --out diverged --quiet
expect_code 1
expect_err "on 8 observations"
finish
