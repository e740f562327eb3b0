#!/bin/bash
# Several targets: beside the metrics of all together, those of each alone, by the names of their columns: in the tables of run,
# evaluate and predict, in their JSON, and in the report. What predict writes of each row gives them again.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
awk -F, -v OFS=, 'NR == 1 { print $0, "a price, of all" } NR > 1 { print $0, 1000 * $1 - 300 * $4 + 50 * ($5 == "up") }' table.csv |
  sed '1s/a price, of all/"a price, of all"/' >two.csv
regression_recipe | sed 's/^path = .*/path = two.csv/; s/^target = .*/target = 3 5/; s/^ignore = .*/ignore = 4/' >two.ini
printf '[calibrator]\nplugin = variance-scaling\n' >>two.ini

# recompute PREDICTIONS ROWS: from the predictions of the rows of two.csv in PREDICTIONS, of which ROWS (numbers, one a line) count,
# print "METRIC TARGET VALUE" for what can be told from means, deviations and intervals of 95 %.
recompute() {
  python3 - "$@" <<'PY'
import csv, math, sys
predictions, table = (list(csv.DictReader(open(path, newline=""))) for path in (sys.argv[1], "two.csv"))
rows = [int(line) for line in open(sys.argv[2])]
for target in ("y", "a price, of all"):
    def of(what):
        return [float(predictions[row][f"{what}_{target}"]) for row in rows]
    values, mean, total = [float(table[row][target]) for row in rows], of("mean"), of("total")
    errors = [value - m for value, m in zip(values, mean)]
    middle, count = sum(values) / len(values), len(values)
    squares = sum(e * e for e in errors)
    metrics = {
        "rmse": math.sqrt(squares / count), "mae": sum(map(abs, errors)) / count,
        "r2": 1 - squares / sum((value - middle) ** 2 for value in values),
        "nll-moments": sum(0.5 * (e / s) ** 2 + math.log(s) + 0.5 * math.log(2 * math.pi) for e, s in zip(errors, total)) / count,
        "aleatoric": math.sqrt(sum(a * a for a in of("aleatoric")) / count),
        "epistemic": math.sqrt(sum(a * a for a in of("epistemic")) / count),
        "coverage-95": sum(a <= value <= b for a, value, b in zip(of("lower"), values, of("upper"))) / count,
        "interval-width": sum(b - a for a, b in zip(of("lower"), of("upper"))) / count,
    }
    for name, value in metrics.items():
        print(name, target.replace(" ", "_"), repr(value), sep="\t")
PY
}
# told FILE SPLIT KEY: the same lines from the JSON of an evaluation, for the metrics that recompute has.
told() {
  python3 - "$@" <<'PY'
import json, sys
root, split, key = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3]
part = next(part for part in root.get("evaluation", root) if part["split"] == split) if isinstance(root, dict) else \
    next(part for part in root if part["split"] == split)
for target in part["targets"]:
    for name in ("rmse", "mae", "r2", "nll-moments", "aleatoric", "epistemic", "coverage-95", "interval-width"):
        value = next(metric["value"] for metric in target[key] if metric["name"] == name)
        print(name, target["target"].replace(" ", "_"), repr(value), sep="\t")
PY
}
# expect_same WHAT EXPECTED FOUND: lines of both, with numbers that agree to what nine digits of a prediction give.
expect_same() {
  what=$1
  checks=$((checks + 1))
  paste "$2" "$3" | awk -F'\t' '
    { scale = $3 < 0 ? -$3 : $3; off = $3 - $6; off = off < 0 ? -off : off }
    $1 != $4 || $2 != $5 || off > 1e-6 * scale + 1e-9 { print; wrong = 1 }
    END { exit wrong || NR != 16 }' >out || complain "expected the same metrics of 16 kinds"
}

tutti run two.ini --out two
expect_code 0
expect_out "Each target alone, on the test rows"
cp out terminal
seq 0 119 >all
# The numbers of the test rows, uint32 behind the header of an array.
tail -c 96 two/splits/test-rows.npy | od -An -v -tu4 -w4 | tr -d ' ' >tested
for way in metrics:--uncalibrated calibrated:; do
  # shellcheck disable=SC2086
  tutti predict two two.csv ${way#*:} --out predictions.csv
  expect_code 0
  expect_out "Each target alone, on the new rows"
  # shellcheck disable=SC2086
  tutti predict two two.csv ${way#*:} --json
  expect_code 0
  cp out predicted.json
  recompute predictions.csv tested >expected
  told two/summary.json test "${way%:*}" >found
  expect_same "${way%:*} of summary.json" expected found
  recompute predictions.csv all >expected
  told predicted.json new "${way%:*}" >found
  expect_same "${way%:*} of predict --json" expected found
done

# The table in the terminal, and that in the report.
what="the table of each target"
checks=$((checks + 1))
told two/summary.json test metrics | awk -F'\t' '$1 == "rmse" { printf "%s ", $3 }' >expected
sed -n '/^Each target alone/,$p' terminal | awk '$1 == "rmse" { print $2, $4 }' >found
[ "$(awk '{ for (i = 1; i <= NF; i++) printf "%.3f ", $i }' expected)" = "$(awk '{ for (i = 1; i <= NF; i++) printf "%.3f ", $i }' found)" ] ||
  complain "expected $(cat expected), found $(cat found)"
tutti report two --to two.html
expect_code 0
python3 "$TUTTI_TEST_SRCDIR/tests/cli/report.py" two.html csv >out 2>err
code=$?
expect_code 0
# The doubts of each target alone, whose errors are its own; nothing is said of rows that were not measured.
what="the doubts of each target"
checks=$((checks + 1))
python3 - <<'PY' || complain "other doubts"
import csv
for target in range(2):
    rows = list(csv.DictReader(open(f"csv/two-doubts{'-2' if target else ''}.csv", newline="")))
    seen = list(csv.DictReader(open(f"csv/two-observed{'-2' if target else ''}.csv", newline="")))
    assert len(rows) == len(seen) > 0
    for row, other in zip(rows, seen):
        assert row["epistemic"] == other["epistemic"]
        assert abs(float(row["absolute error"]) - abs(float(other["observed"]) - float(other["predicted"]))) < 1e-9
PY
expect_in two.html "At the top are the rows on which the members disagree"
expect_not_in two.html "unlike the training data"
# What quantiles and intervals hold of each target: on the mean over the targets as of both together, the coverage that its metrics
# have; a picture for each.
what="the levels of each target"
checks=$((checks + 1))
python3 - two/summary.json two.html <<'PY' || complain "other levels"
import csv, json, math, re, sys
split = next(split for split in json.load(open(sys.argv[1]))["evaluation"] if split["split"] == "test")
names = [target["target"] for target in split["targets"]]
assert len(names) == 2
rows = {name: list(csv.DictReader(open(f"csv/two-{name}.csv", newline=""))) for name in ("reliability", "coverage")}
assert len(rows["reliability"]) == 19 and len(rows["coverage"]) == 4
for end, tables, metrics in ("", "tables", "metrics"), (", calibrated", "calibrated_tables", "calibrated"):
    shares = [[float(row[name + end]) for name in names] for row in rows["reliability"]]
    together = [row["below"] for row in split[tables]["reliability"]]
    assert all(abs(sum(two) / 2 - both) < 1e-9 for two, both in zip(shares, together))
    assert any(one != other for one, other in shares)
    for row in rows["coverage"]:
        for target in split["targets"]:
            name = "coverage-%d" % round(100 * float(row["promised"]))
            value = next(metric["value"] for metric in target[metrics] if metric["name"] == name)
            assert abs(float(row[target["target"] + end]) - value) < 1e-9
for row in rows["reliability"]:  # of the rows of a target, not of all numbers
    level = float(row["level"])
    assert abs(float(row["standard error of what is said"]) - math.sqrt(level * (1 - level) / split["rows"])) < 1e-9
page = open(sys.argv[2], encoding="utf-8").read()
for figure in "reliability", "coverage":
    assert re.search(f'<figure id="{figure}".*?</figure>', page, re.S).group(0).count('role="img"') == 2
PY
# The words at its head say of each target how far off it is, and of many that there are more.
what="the words of the report"
words=$(python3 - two/summary.json <<'PY'
import json, sys
split = next(split for split in json.load(open(sys.argv[1]))["evaluation"] if split["split"] == "test")
errors = [next(m["value"] for m in target["metrics"] if m["name"] == "rmse") for target in split["targets"]]
print("it is off by <b>%.4g</b> in y, <b>%.4g</b> in a price, of all (roots" % tuple(errors))
PY
)
expect_in two.html "<b>2 numbers</b> were to be predicted: <b>y</b>, <b>a price, of all</b>, from" "$words"
expect_not_in two.html "A number was" "squared error, in the target's unit" "a root of the mean squared error of"
for way in metrics: "calibrated:, calibrated"; do
  told two/summary.json test "${way%%:*}" >expected
  python3 - csv/two-metrics-2.csv "${way#*:}" <<'PY' >found
import csv, sys
rows = {row["metric"]: row for row in csv.DictReader(open(sys.argv[1], newline=""))}
for target in ("y", "a price, of all"):
    for name in ("rmse", "mae", "r2", "nll-moments", "aleatoric", "epistemic", "coverage-95", "interval-width"):
        print(name, target.replace(" ", "_"), rows[name][target + sys.argv[2]], sep="\t")
PY
  expect_same "${way%%:*} of the report" expected found
done

awk -F, -v OFS=, '{ for (i = 1; i <= 12; i++) $(NF + 1) = NR == 1 ? "t" i : i * $1 + $2; print }' table.csv >many.csv
regression_recipe | sed 's/^path = .*/path = many.csv/; s/^target = .*/target = 5 6 7 8 9 10 11 12 13 14 15 16/; s/^ignore = .*/ignore = 3 4/' >many.ini
tutti run many.ini --out many --quiet
expect_code 0
tutti report many --to many.html
expect_code 0
expect_in many.html "<b>12 numbers</b> were to be predicted: <b>t1</b>" "<b>t5</b>, and 7 more, from" " in t5, and 7 more (roots"
expect_not_in many.html "<b>t6</b>"
expect_in many.html "Of all 12 targets together, as if they were independent; up to 6 are shown each alone."

# A single target has no table of its own, nor have classes.
regression_recipe | sed 's/^budget = .*/budget = 2/; s/^size = .*/size = 1/' >one.ini
tutti run one.ini --out one
expect_code 0
expect_not_in out "Each target alone"
expect_not_in one/summary.json '"targets"'
classification_recipe | sed 's/^budget = .*/budget = 2/; s/^size = .*/size = 1/' >classes.ini
tutti run classes.ini --out classes
expect_code 0
expect_not_in out "Each target alone"
expect_not_in classes/summary.json '"targets"'
finish
