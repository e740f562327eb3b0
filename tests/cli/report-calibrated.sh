#!/bin/bash
# What a report says of a calibrated ensemble is what tutti predict and tutti evaluate say of it.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/pages.sh"
make_table

# expect_same RUN PREDICTED FIGURE COLUMN=COLUMN...: columns of a figure and of what tutti predict wrote are equal, row by row.
expect_same() {
  what="$3 of $1 as predicted"
  checks=$((checks + 1))
  python3 - "$1.html.csv/$1-$3.csv" "$2" "${@:4}" >out 2>err <<'PY' || complain "expected the numbers of tutti predict"
import csv, sys
figure, predicted = (list(csv.DictReader(open(path, newline=""))) for path in sys.argv[1:3])
predicted = {row["row"]: row for row in predicted}
assert len(figure) > 10
for row in figure:
    for pair in sys.argv[3:]:
        a, b = pair.split("=")
        x, y = float(row[a]), float(predicted[row["row"]][b])
        assert abs(x - y) <= 1e-6 * (1 + abs(x)), (row, predicted[row["row"]])
for pair in sys.argv[3:]:
    assert len({row[pair.split("=")[0]] for row in figure}) > 5, "all rows are alike"
PY
}

# run RUN RECIPE SETTING...: a run without folds, so that its calibrator is taken in any case; page RUN: its report.
run() {
  local settings=() setting
  for setting in "${@:3}"; do settings+=(--set "$setting"); done
  tutti run "$2" --out "$1" --quiet --set evaluation.folds=0 "${settings[@]}"
  expect_code 0
}
page() {
  tutti report "$1" --to "$1.html"
  expect_code 0
  expect_page "$1.html"
}

# Of classes, doubts keep their shares under any calibrator.
classification_recipe >classes.ini
run classes classes.ini calibrator.plugin=temperature calibrator.least_rows=10
page classes
tutti predict classes table.csv --out classes.csv
expect_code 0
expect_same classes classes.csv doubts aleatoric=expected_entropy epistemic=mutual_information

# A calibrator that changes labels: what is said of the classes is said before it and after, and the two agree with the table of
# confusion and with tutti evaluate.
awk 'BEGIN { srand(3); print "a,b,y"; for (i = 0; i < 400; i++) { a = rand(); b = rand(); print a "," b "," (rand() < .35 * (a > b) ? "odd" : rand() < .4 ? "some" : "most") } }' >uneven.csv
classification_recipe | sed 's/^path = .*/path = uneven.csv/; s/^target = .*/target = y/; /^ignore/d' >uneven.ini
run uneven uneven.ini calibrator.plugin=vector-scaling calibrator.unseen_errors=0
page uneven
tutti evaluate uneven --json
what="classes before and after the calibrator"
checks=$((checks + 1))
python3 - out uneven.html <<'PY' >said 2>err || complain "expected the classes of tutti evaluate, before the calibrator and after"
import csv, json, re, sys
page = open(sys.argv[2]).read()
rows = lambda name: list(csv.DictReader(open("uneven.html.csv/uneven-" + name + ".csv", newline="")))
test = next(split for split in json.load(open(sys.argv[1])) if split["split"] == "test")
for shown, before, after in zip(rows("classes"), test["tables"]["classes"], test["calibrated_tables"]["classes"], strict=True):
    for name in ("precision", "recall", "f1"):
        for part, column in ((before, name), (after, name + ", calibrated")):
            assert abs(float(shown[column] or "nan") - part[name]) < 1e-9 if part[name] is not None else not shown[column]
confusion = rows("confusion")
for shown in rows("classes"):
    mine = [row for row in confusion if row["observed"] == shown["class"]]
    found = sum(float(row["rows"]) for row in mine if row["predicted"] == shown["class"])
    assert abs(found / sum(float(row["rows"]) for row in mine) - float(shown["recall, calibrated"])) < 1e-9
assert any(shown["recall"] != shown["recall, calibrated"] for shown in rows("classes")), "the calibrator changes nothing"
value = lambda metrics, name: next(m["value"] for m in metrics if m["name"] == name)
wrong = re.findall(r"it is wrong for <b>([^ ]*) %</b>", page)
assert wrong == ["%.3g" % (100 * value(test[part], "error")) for part in ("metrics", "calibrated")], wrong
assert wrong[0] != wrong[1]
assert "What the calibrated ensemble said of its own certainty was off by <b>%.3g</b>" % value(test["calibrated"], "ece") in page
assert re.search('<figure id="confusion".*?with its calibrator', page, re.S)
PY

# The band of chance is that of what predicts, the calibrated ensemble, whose bins have other rows: it has its corners there.
what="the band of a calibrated reliability"
checks=$((checks + 1))
python3 - uneven.html uneven.html.csv/uneven-reliability <<'PY' >said 2>err || complain "expected the band of the calibrated bins"
import csv, re, sys
page = open(sys.argv[1]).read()
tables = [[row for row in csv.DictReader(open(sys.argv[2] + end + ".csv", newline="")) if row["confidence"]] for end in ("", "-2")]
figure = re.search('<figure id="reliability".*?</figure>', page, re.S).group()
band, diagonal = re.search(">chance, calibrated<(.*?)>as it should be<(.*?)'/>", figure, re.S).groups()
points = [tuple(map(float, point.split(","))) for point in re.findall("points = '([^']*)'", band)[1].split()]
diagonal = [tuple(map(float, point)) for point in re.findall(r"[ML]([\d.]+),([\d.]+)", diagonal)][2:]
(left, low), (right, high) = diagonal[0], diagonal[-1]
inside = 0
for row in tables[1]:
    said, error = float(row["confidence"]), float(row["standard error of what is said"])
    for end in (said - 2 * error, said + 2 * error):
        if 0 < end < 1:
            x, y = left + said * (right - left), low + end * (high - low)
            assert any(abs(a - x) < 0.1 and abs(b - y) < 0.1 for a, b in points), (row, x, y, points)
            inside += 1
assert inside > 2 and [row["rows"] for row in tables[0]] != [row["rows"] for row in tables[1]]
assert "The band is of the calibrated ensemble" in figure
PY

# Of values, they are the calibrator's.
regression_recipe >values.ini
run values values.ini calibrator.plugin=variance-scaling calibrator.apart=yes
page values
tutti predict values table.csv --out values.csv
expect_code 0
expect_same values values.csv doubts aleatoric=aleatoric epistemic=epistemic
expect_same values values.csv observed predicted=mean lower=lower upper=upper

# Quantiles of a calibrator of intervals are those that it gives, and not those of the moments, which it leaves as they are.
run intervals values.ini calibrator.plugin=conformal
page intervals
levels=$(column intervals.html.csv/intervals-reliability.csv level | paste -sd,)
tutti predict intervals table.csv --quantiles "$levels" --out intervals.csv
expect_code 0
what="quantiles of a calibrator"
checks=$((checks + 1))
python3 - intervals.html.csv/intervals- intervals.csv table.csv <<'PY' >out 2>err || complain "expected the share of rows below the quantiles of tutti predict"
import csv, sys
rows = lambda path: list(csv.DictReader(open(path, newline="")))
levels, metrics = rows(sys.argv[1] + "reliability.csv"), rows(sys.argv[1] + "metrics.csv")
tested = {row["row"] for row in rows(sys.argv[1] + "doubts.csv")}
predicted = {row["row"]: row for row in rows(sys.argv[2])}
table = rows(sys.argv[3])
error = 0
for level in levels:
    name = "q%g" % float(level["level"])
    below = sum(float(table[int(row)]["y"]) <= float(predicted[row][name]) for row in tested) / len(tested)
    assert abs(below - float(level["below, calibrated"])) < 1e-9, (level, below)
    error += abs(below - float(level["level"])) / len(levels)
assert any(level["below"] != level["below, calibrated"] for level in levels)
said = next(row for row in metrics if row["metric"] == "calibration-error")
assert abs(float(said["test, calibrated"]) - error) < 1e-9, (said, error)
PY

# Members without a variance get intervals from the calibrator alone: the report shows what these hold, of which nothing stood before.
regression_recipe >points.ini
run points points.ini head.kind=linear calibrator.plugin=conformal calibrator.normalise=no
# Its refusal names it once.
tutti select points --set calibrator.normalise=yes
expect_code 0
expect_err "warning: calibrator conformal: the ensemble stays as it is: the members give no variance"
expect_not_in out "calibrator conformal:"
tutti select points --set calibrator.plugin=by-task
expect_code 0
expect_err "warning: calibrator by-task: the ensemble stays as it is: the members give no variance"
page points
tutti evaluate points --json
what="intervals of the calibrator alone"
checks=$((checks + 1))
python3 - out points.html.csv/points- <<'PY' >said 2>err || complain "expected the coverage of tutti evaluate, and no column before it"
import csv, json, sys
rows = lambda name: list(csv.DictReader(open(sys.argv[2] + name + ".csv", newline="")))
test = next(split for split in json.load(open(sys.argv[1])) if split["split"] == "test")
of = {metric["name"]: metric["value"] for metric in test["calibrated"]}
assert list(rows("coverage")[0]) == ["promised", "found, calibrated", "standard error of what is promised"]
assert len(rows("coverage")) == 4
for row in rows("coverage"):
    assert abs(float(row["found, calibrated"]) - of["coverage-%g" % (100 * float(row["promised"]))]) < 1e-9
assert "below" not in rows("reliability")[0]
shown = {row["metric"]: row for row in rows("metrics")}
for name in ("coverage-95", "interval-score", "calibration-error"):
    assert not shown[name]["test"] and abs(float(shown[name]["test, calibrated"]) - of[name]) < 1e-9
assert all(float(row["lower"]) < float(row["predicted"]) < float(row["upper"]) for row in rows("observed"))
PY
finish
