#!/bin/bash
# tutti report: a page that is well-formed and loads nothing, whose numbers are those of the other commands; of runs that lack
# something it says what; texts of a run are texts on the page.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/pages.sh"
make_table

regression_recipe >small.ini
tutti run small.ini --out small --quiet
expect_code 0
tutti report small --to small.html
expect_code 0
expect_out "small.html"
expect_page small.html
expect_in small.html "The search, trial by trial" "Its members" "<h1>small</h1>"

tutti status small --json
cp out status.json
expect_equal "losses of the trials" "$(of_json status.json '[t["loss"] for t in j["all_trials"]]')" \
  "$(column small.html.csv/small-history.csv loss)"
expect_equal "members" "$(of_json status.json '[m["trial"] for m in j["ensemble"]["members"]]')" \
  "$(column small.html.csv/small-members.csv trial)"
tutti curve small --members 1,2,3 --budgets 6 --json
cp out curve.json
expect_equal "the curve over sizes" \
  "$(of_json curve.json '[m["value"] for p in j for s in p["evaluation"] if s["split"] == "test" for m in s["metrics"] if m["name"] == "nll"]')" \
  "$(column small.html.csv/small-sizes.csv "test nll" | head -n 3)"

tutti evaluate small --json
cp out evaluation.json
expect_equal "metrics on test rows" \
  "$(of_json evaluation.json '[round(float(m["value"]), 12) for s in (j["evaluation"] if isinstance(j, dict) else j) if s["split"] == "test" for m in s["metrics"]]')" \
  "$(of_json <(column small.html.csv/small-metrics.csv test | sed 's/^/,/; 1s/^,/[/; $s/$/]/') '[round(float(v), 12) for v in j]')"
what="the front of loss and cost"
checks=$((checks + 1))
python3 - small.html small.html.csv/small-pareto.csv <<'PY' >out 2>err || complain "expected one front of models and ensembles, drawn last"
import csv, re, sys
rows = list(csv.DictReader(open(sys.argv[2], newline="")))
points = [(float(row["flops"]), float(row["validation loss"])) for row in rows]
for row, point in zip(rows, points):
    beaten = any(other != point and other[0] <= point[0] and other[1] <= point[1] for other in points)
    assert (row["in front"] == "1") != beaten, row
assert {"model", "member", "the ensemble", "cheaper ensemble"} == {row["what"] for row in rows}
assert any("ensemble" in row["what"] and row["in front"] == "1" for row in rows)
figure = re.search('<figure id="pareto".*?</svg>', open(sys.argv[1]).read(), re.S).group()
assert figure.index(">a member<") < figure.index(">cheaper ensembles<") < figure.index(">not beaten in both<")
PY
expect_in small.html "Which choices mattered" "The networks of the members" "A map of the models"

# Rings of trials are seen on the ground of their figure, by day, by night and on paper: a contrast of 4.5, as of texts, and lines
# of a pixel.
what="rings of trials"
checks=$((checks + 1))
python3 - small.html <<'PY' >out 2>err || complain "expected rings that are seen"
import re, sys
page = open(sys.argv[1]).read()
def light(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
schemes = [dict(re.findall(r"--(\w+):(#\w+)", root)) for root in re.findall(r":root{([^}]*)}", page)]
assert len(schemes) == 3, schemes
for name in ("history", "pareto", "map"):
    figure = re.search(f'<figure id="{name}".*?</figure>', page, re.S).group()
    ring = re.search(r"href='#gpPt5'[^>]*color='var\(--(\w+)\)'", figure).group(1)
    for scheme in schemes:
        bright, dark = sorted((light(scheme[ring]), light(scheme["card"])), reverse=True)
        assert (bright + 0.05) / (dark + 0.05) >= 4.5, (name, ring, scheme)
symbol = re.search(r'<circle id="gpPt5"[^>]*>', page).group()
assert "non-scaling-stroke" in symbol and float(re.search(r'stroke-width="([^"]*)"', symbol).group(1)) >= 1, symbol
PY

# Texts of a run, from its columns and classes to its folder, are texts on the page and in the pictures.
hostile="a<b>&amp;'\"\`touch pwned\`"
awk -v OFS=, -F, -v name="$(printf %s "$hostile" | sed 's/"/""/g; s/&/\\&/g')" 'NR == 1 {$4 = "\"" name "\""} {print}' table.csv |
  sed "s/up$/<script>alert(1)<\/script>/; s/down$/=1+1'); system('touch pwned')/" >hostile.csv
regression_recipe | sed "s/^path = .*/path = hostile.csv/; s/^target = .*/target = 3/; s/^ignore = .*/ignore = 4/; s/^budget = .*/budget = 2/; s/^size = .*/size = 1/" >hostile.ini
tutti run hostile.ini --out "run '&<i>\`touch pwned\`" --quiet
expect_code 0
tutti report "run '&<i>\`touch pwned\`" --to hostile.html
expect_code 0
expect_page hostile.html
expect_not_in hostile.html "<i>"
expect_not_in hostile.html "<b>&amp;'"
expect_in hostile.html "The ensemble has a single member"
regression_recipe | sed "s/^path = .*/path = hostile.csv/; s/^target = .*/target = kind/; s/^ignore = .*/ignore = 3/; s/^budget = .*/budget = 2/; s/^size = .*/size = 2/; s/^split = .*/split = 0.7 0.3 0/" >classes.ini
tutti run classes.ini --out classes --quiet
expect_code 0
tutti report classes --to classes.html
expect_code 0
expect_page classes.html
expect_not_in classes.html "<script>"
expect_in classes.html "no test rows" "&#60;script&#62;alert(1)" "Which classes are taken for which"
what="commands in texts"
[ -z "$(find . -name 'pwned*')" ] || complain "a text was run as a command"
expect_in classes.html.csv/classes-classes.csv "'=1+1"

# A run that is not finished; one without data.
cp -r small stopped
rm stopped/summary.json stopped/ensemble.json
tutti report stopped --to stopped.html
expect_code 0
expect_page stopped.html
expect_in stopped.html "is not finished" "There is no ensemble"
tutti run "$TUTTI_TEST_SRCDIR/ini/bo-branin.ini" --out branin --quiet --set run.budget=12
expect_code 0
tutti report branin --to branin.html
expect_code 0
expect_page branin.html
expect_in branin.html "There are no data"

# Several runs: what is of all of them, and each chart of both.
tutti report small classes --to both.html
expect_code 0
expect_out "2 runs"
expect_page both.html
expect_in both.html "2 runs, side by side" "<h4>small</h4>" "<h4>classes</h4>" "The searches"
# Whichever comes first, each has its own metrics, and none of the other's.
metrics_of() { # RUN: those of both kinds that tutti evaluate gives, of the rows that are shown
  tutti evaluate "$1" --json
  of_json out '["%s %.12g" % (m["name"], m["value"]) for n in ("rmse", "error", "epistemic", "disagreement") for m in j[-1]["metrics"] if m["name"] == n]'
}
in_results() { # PAGE RUN: the same from the page
  python3 - "$1.csv/runs-results.csv" "$2" <<'PY'
import csv, sys
row = next(row for row in csv.DictReader(open(sys.argv[1], newline="")) if row["run"] == sys.argv[2])
for name in ("rmse", "error", "epistemic", "disagreement"):
    if row[name]:
        print(name, "%.12g" % float(row[name]))
PY
}
tutti report classes small --to turned.html
expect_code 0
expect_page turned.html
for run in small classes; do
  expect_equal "metrics of $run" "$(metrics_of $run)" "$(in_results both.html $run)"
  expect_equal "metrics of $run, turned" "$(metrics_of $run)" "$(in_results turned.html $run)"
done
expect_equal "metrics of a run" 2 "$(metrics_of classes | wc -l)"
# Figures of several data sets have no mean.
awk -F, -v OFS=, 'NR > 1 { $4 = 1000 + 100 * $4 } { print }' table.csv >large.csv
tutti ablate small.ini --swap data.path=table.csv,large.csv --out data --quiet
expect_code 0
tutti report data --to data.html
expect_code 0
expect_in data.html "The runs differ in their data alone, 2 sets: none can be ahead."
# A long value leaves room for the picture: its label is cut and has a number, and the table has all of it.
tutti ablate small.ini --swap "hyperparameters.learning_rate=choice 0.001 0.002 0.003 0.004 0.005,choice 0.001 0.002 0.003 0.004 0.006" --set run.budget=3 --out long --quiet
expect_code 0
tutti report long --to long.html
expect_code 0
expect_page long.html
expect_in long.html "1. choice 0.001 0.002 0.003 0.004...<" "2. choice 0.001 0.002 0.003 0.004...<"
expect_equal "the whole value" "['choice 0.001 0.002 0.003 0.004 0.005', 'choice 0.001 0.002 0.003 0.004 0.006']" "$(column long.html.csv/runs-standings.csv variant | python3 -c 'import sys; print(sys.stdin.read().splitlines())')"
tutti ablate small.ini --swap data.path=table.csv,large.csv --swap selector.size=1,3 --out sizes --quiet
expect_code 0
tutti report sizes --to sizes.html
expect_code 0
expect_page sizes.html
tutti compare sizes --json
cp out comparison.json
expect_equal "ranks over data sets" "$(of_json comparison.json '["%g" % p["rank"] for m in j["metrics"] if m["name"] == "nll" for p in m["placings"]]')" \
  "$(column sizes.html.csv/runs-standings.csv "mean rank")"
for set in 0 1; do
  expect_equal "means of a data set" "$(of_json comparison.json '[p["mean"] for m in j["metrics"] if m["name"] == "nll" for p in m["data_sets"]['$set']]')" \
    "$(column sizes.html.csv/runs-standings.csv "$(of_json comparison.json '[j["data_sets"]['$set']["name"]]')")"
done
tutti ablate small.ini --swap selector.size=1,3 --seeds 2 --out ablation --quiet
expect_code 0
tutti report ablation --to ablation.html
expect_code 0
expect_out "4 runs"
expect_page ablation.html
tutti compare ablation --json
cp out comparison.json
expect_equal "means of the variants" \
  "$(of_json comparison.json '[p["mean"] for m in j["metrics"] if m["name"] == "nll" for p in m["placings"]]')" \
  "$(column ablation.html.csv/runs-standings.csv nll)"

# Runs that share a search have one line, which names them; the numbers have all runs.
what="lines of shared searches"
checks=$((checks + 1))
python3 - ablation.html ablation.html.csv/runs- ablation/runs <<'PY' >out 2>err || complain "expected a line for each of two searches"
import csv, os, re, sys
page = open(sys.argv[1]).read()
rows = lambda name: list(csv.DictReader(open(sys.argv[2] + name + ".csv", newline="")))
names = sorted(os.listdir(sys.argv[3]))
assert len(names) == 4
pairs = [[name for name in names if name.endswith(seed)] for seed in sorted({name[-1] for name in names})]
figure = re.search('<figure id="searches".*?</figure>', page, re.S).group()
keys = re.findall(r"<text>([^<]*seed-[^<]*)</text>", figure)
assert sorted(keys) == [", ".join(pair) for pair in pairs], keys
assert len(re.findall("<path stroke='var\(--ink[0-7]\)'", figure)) == 2
assert "Runs that share a search have one line; " in figure
assert [row["runs that share it"] for row in rows("searches-2")] == [", ".join(pair) for pair in pairs]
shown = rows("searches")
assert sorted({row["name"] for row in shown}) == names
of = lambda name: [row["best so far"] for row in shown if row["name"] == name]
assert all(of(a) == of(b) for a, b in pairs) and of(pairs[0][0]) != of(pairs[1][0])
PY
expect_not_in both.html "Runs that share a search"

# Backends that look values up, without data, train no networks, and architectures are all that matters there.
python3 - >cells.csv <<'PY'
import itertools
print("arch,c10_val_e12,c10_test_e12,c10_test_e200")
operations = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
for cell in itertools.product(operations, repeat=6):
    accuracy = 30 + 20 * (cell[0] == "nor_conv_3x3")
    print("|%s~0|+|%s~0|%s~1|+|%s~0|%s~1|%s~2|" % cell, accuracy, accuracy, accuracy, sep=",")
PY
tutti run "$TUTTI_TEST_SRCDIR/ini/nes/nasbench201.ini" --set backend.path=cells.csv --set run.budget=60 --out cells --quiet
expect_code 0
tutti report cells --to cells.html
expect_code 0
expect_page cells.html
expect_equal "what matters in the cells" edge0-1 "$(column cells.html.csv/cells-importance.csv dimension | head -n 1)"

# A few wild trials do not flatten the others: they are above the frame, and no logarithm is needed for them.
awk -F, -v OFS=, 'NR > 1 { $2 = $3 = $4 = NR % 20 == 0 ? 0 : 98 + NR % 100 / 101 } 1' cells.csv >wild.csv
tutti run "$TUTTI_TEST_SRCDIR/ini/nes/nasbench201.ini" --set backend.path=wild.csv --set run.budget=60 --set builder.plugin=nes-rs --out wild --quiet
expect_code 0
tutti report wild --to wild.html
expect_code 0
expect_page wild.html
above=$(column wild.html.csv/wild-history.csv loss | awk '$1 > 50' | wc -l)
checks=$((checks + 1))
[ "$above" -gt 1 ] || complain "expected wild trials"
expect_in wild.html "<p class=\"note\">$above of 60 trials are above the frame.</p>"
# Nor does a search that begins with one flatten those beside it.
for seed in $(seq 1 200); do
  rm -rf far
  tutti run "$TUTTI_TEST_SRCDIR/ini/nes/nasbench201.ini" --set backend.path=wild.csv --set run.seed="$seed" --set run.budget=20 \
    --set builder.plugin=nes-rs --out far --quiet
  expect_code 0
  tutti status far --json
  cp out far.json
  [ "$(of_json far.json '[j["all_trials"][0]["loss"] > 50]')" != True ] || break
done
beyond="Where a search begins far from where it ends, its first steps are above the frame."
tutti report wild far --to far.html
expect_code 0
expect_page far.html
expect_in far.html "$beyond"
expect_not_in both.html "$beyond"

# Where the single model is better than the ensemble, the page says so: an ensemble of everything is as bad as its worst.
cp -r small everything
tutti select everything --set selector.plugin=all --keep
expect_code 0
tutti report everything --to everything.html
expect_code 0
expect_in everything.html "less than the ensemble"
for page in small everything; do
  what="$page.html: the single model beside the ensemble"
  python3 - $page.html >out 2>err <<'PY'
import re, sys
page = open(sys.argv[1]).read()
ensemble = float(re.search(r"it is off by <b>([^<]*)</b>", page)[1])
single, rest = re.search(r"has a root of the mean squared error of <b>([^<]*)</b>(.{40})", page, re.S).groups()
assert (float(single) < ensemble) == ("less than the ensemble" in rest), (single, ensemble, rest)
PY
  code=$?
  expect_code 0
done

# One input: the prediction as a function of it, which predict gives.
tutti run "$TUTTI_TEST_SRCDIR/ini/quickstart.ini" --out line --quiet --set run.budget=3 --set hyperparameters.epochs=5 --set selector.size=2
expect_code 0
tutti report line --to line.html
expect_code 0
expect_page line.html
{ echo x0; column line.html.csv/line-bands.csv input; } >grid.csv
tutti predict line grid.csv --json
expect_code 0
expect_equal "predictions on the grid" "$(of_json out '[round(v, 6) for v in j["mean"]]')" \
  "$(of_json <(column line.html.csv/line-bands.csv mean | sed 's/^/,/; 1s/^,/[/; $s/$/]/') '[round(float(v), 6) for v in j]')"

# A fit has its metrics and its function, and no word of an ensemble.
tutti fit "$TUTTI_TEST_SRCDIR/ini/nomu/1d-gp.ini" --out fit --quiet --set run.budget=2
expect_code 0
tutti report fit --to fit.html
expect_code 0
expect_page fit.html
expect_not_in fit.html "There is no ensemble"
tutti status fit --json
expect_equal "means of the repeats" "$(of_json out '[round(float(m["value"]), 12) for m in j["evaluation"][0]["metrics"]]')" \
  "$(of_json <(column fit.html.csv/fit-repeats.csv mean | sed 's/^/,/; 1s/^,/[/; $s/$/]/') '[round(float(v), 12) for v in j]')"

# Trainings of three workers, short beside what their manager does: bars as long as they took, which end when their results came at
# the latest, and none of a worker over another.
tutti run small.ini --out workers --quiet --workers 3 --set run.budget=40 --set run.window=6
expect_code 0
tutti report workers --to workers.html
expect_code 0
expect_page workers.html
expect_in workers.html 'class="large crossed"' ".crossed text{paint-order:stroke;stroke:var(--card)" # texts that lines run through
tutti status workers --json
cp out status.json
what="bars of three workers"
checks=$((checks + 1))
python3 - status.json workers.html.csv/workers-workers.csv <<'PY' >out || complain "expected bars that stand apart"
import csv, json, sys
trials = {t["trial"]: t for t in json.load(open(sys.argv[1]))["all_trials"]}
lines, wrong = {}, []
for row in csv.DictReader(open(sys.argv[2], newline="")):
    trial, begin, end = trials[int(row["trial"])], float(row["begin (s)"]), float(row["end (s)"])
    lines.setdefault(row["worker"], []).append((begin, end))
    if abs(end - begin - trial["seconds"]) > 1e-9 or end > trial["at"]:
        wrong.append(row)
for bars in lines.values():
    bars.sort()
    wrong += [(a, b) for a, b in zip(bars, bars[1:]) if a[1] > b[0] + 1e-9]
print(len(lines), wrong)
sys.exit(len(lines) < 2 or sum(map(len, lines.values())) != 40 or bool(wrong))
PY

# Without the programs that draw, the tables are there, and both places say so.
mkdir nothing
what="tutti report without gnuplot"
PATH=$PWD/nothing "$TUTTI_PROGRAM" report small --to bare.html >out 2>err </dev/null
code=$?
expect_code 0
expect_err "gnuplot" "apt-get install"
expect_page bare.html
expect_in bare.html "Without pictures" "gnuplot"
expect_equal "losses without pictures" "$(column small.html.csv/small-history.csv loss)" \
  "$(column bare.html.csv/small-history.csv loss)"

# A program that draws and fails costs its pictures alone.
mkdir failing
printf '#!/bin/sh\necho "no memory left" >&2\nexit 1\n' >failing/dot
chmod +x failing/dot
what="tutti report with a dot that fails"
PATH=$PWD/failing:$PATH "$TUTTI_PROGRAM" report small --to half.html >out 2>err </dev/null
code=$?
expect_code 0
expect_err "tables without pictures" "dot failed with exit code 1: no memory left"
expect_page half.html
expect_in half.html "<svg"
expect_not_in half.html "Without pictures"

# One model without a variance: no diagrams of what it does not give, and no empty lines of metrics.
regression_recipe | sed 's/^\[space\]/[head]\nkind = linear\n[space]/; s/^plugin = forward/plugin = top-m/; s/^size = .*/size = 1/' >point.ini
tutti run point.ini --out point
expect_code 0
expect_out "  without a value: nll " " coverage-95"
expect_equal "lines of metrics in vain" "$(grep -c '^  nll\|^  coverage' out)" 0
tutti evaluate point --json
expect_json null 0 metrics 0 value
tutti report point --to point.html
expect_code 0
expect_page point.html
expect_in point.html "The ensemble is as sure of one row as of any other." "The members give no variance, so there are no intervals." \
  "own ensemble has 1 member."
expect_not_in point.html ">outside<" "quantile of the prediction"
expect_equal "metrics without a value" "$(column point.html.csv/point-metrics.csv metric | grep -c nll)" 0

# On the standard output, alone.
tutti report small --to -
expect_code 0
checks=$((checks + 1))
cmp -s out small.html || complain "the page on the standard output is another one"

# Cross-validation is told as such, of a table its columns, and numbers are written out.
regression_recipe | sed 's/^split = .*/split = 0.6 0.2 0.2\nfolds = 3/; s/^budget = .*/budget = 12/' >pool.ini
awk -F, -v OFS=, 'NR > 1 { $4 *= 100000 } 1' table.csv >wide.csv
tutti run pool.ini --set data.path=wide.csv --set backend.plugin=mixed --set "hyperparameters.learner=choice cpu trees" --set trees.trees=5 --set selector.plugin=all --out pool --quiet
expect_code 0
tutti report pool --to pool.html
expect_code 0
expect_page pool.html
expect_in pool.html "by cross-validation: 3 trainings of each candidate" \
  "A trial has 3 models, one for each fold; parameters and flops are of all of them together." \
  "A trial has 3 models, one for each fold; parameters and flops are of one of them, as it is drawn."
expect_not_in pool.html "e+0"
expect_equal "the band of the reliability" "$(column pool.html.csv/pool-reliability.csv "standard error of what is said" | cut -c1-8 | sed -n 10p)" \
  "$(python3 -c 'print(str((0.5 * 0.5 / 24) ** 0.5)[:8])')"
members=$(column pool.html.csv/pool-members.csv trial | wc -l)
networks=$(column pool.html.csv/pool-architectures.csv trial | wc -l)
expect_equal "members" 12 "$members"
expect_in pool.html "$((members - networks)) of the 12 members are no networks"
# Learning curves are those of networks, none of which is kept out by a member without one. Trees have no parameters.
what="learning curves of a mixed pool"
checks=$((checks + 1))
python3 - pool.html pool.html.csv/pool- <<'PY' || complain "expected curves of the networks, and parameters of these alone"
import csv, re, sys
page, rows = open(sys.argv[1]).read(), lambda name: list(csv.DictReader(open(sys.argv[2] + name + ".csv", newline="")))
figure = re.search('<figure id="learning".*?</figure>', page, re.S).group()
drawn = re.findall(r'text-anchor="start">\s*<text>(\d+)</text>', figure)
networks = [row["trial"] for row in rows("architectures")]
with_parameters = {row["trial"] for row in rows("members") if row["parameters"] != ""}
size_of = lambda row, models: [models * float(row[name]) for name in ("parameters", "flops")]
members = {row["trial"]: row for row in rows("members")}
assert all(size_of(members[row["trial"]], 1) == size_of(row, 3) for row in rows("architectures"))
sys.exit(drawn != networks[:8] * 2 or networks == [str(i) for i in range(len(networks))] or with_parameters != set(networks))
PY

# How different architectures are is told of the networks alone: as of an ensemble of these. Hyperparameters are all members'.
python3 - pool >networks.json <<'PY'
import json, os, sys
ensemble = json.load(open(sys.argv[1] + "/ensemble.json"))
ensemble["members"] = [m for m in ensemble["members"] if os.path.exists(f"{sys.argv[1]}/trials/{m['trial']:06d}/network.json")]
print(json.dumps(ensemble))
PY
diversity='["%s %.12g" % (m["name"], m["value"]) for m in j[0]["metrics"] if m["name"].startswith("architecture-")]'
tutti evaluate pool --json
cp out all.json
tutti evaluate pool --ensemble networks.json --json
cp out networks.evaluated
expect_equal "diversity of networks" 2 "$(of_json all.json "$diversity" | wc -l)"
expect_equal "diversity of networks" "$(of_json networks.evaluated "$diversity")" "$(of_json all.json "$diversity")"
expect_equal "hyperparameters of all members" 1 "$(of_json all.json '[1 for m in j[0]["metrics"] if m["name"] == "hyperparameter-distance"]')"

# Where no learner takes networks, nothing is said of architectures; and some choice is drawn, with what chance gives.
tutti run pool.ini --set data.path=wide.csv --set backend.plugin=mixed --set "hyperparameters.learner=choice trees svm" --set "hyperparameters.trees.trees=integer 2 30" --out bare --quiet \
  --set "hyperparameters.trees.features=uniform 0.3 1" --set "hyperparameters.svm.c=log-uniform 1 100" --set "hyperparameters.svm.gamma=log-uniform 0.01 1"
expect_code 0
for text in architecture depth width1; do
  expect_not_in out $text
  expect_not_in bare/summary.json $text
done
expect_in bare/summary.json "hyperparameter-distance"
tutti report bare --to bare.html
expect_code 0
expect_page bare.html
expect_in bare.html "the longest bar would pass 0."
for text in architecture depth width1; do
  expect_not_in bare.html.csv/bare-members.csv $text
  expect_not_in bare.html.csv/bare-parallel-2.csv $text
  expect_not_in bare.html.csv/bare-metrics.csv $text
done
# What all trials have stands on the first axis, and what the same trials have side by side.
what="order of the axes"
checks=$((checks + 1))
python3 - bare.html.csv/bare-parallel.csv <<'PY' || complain "expected the axes of a learner side by side"
import csv, sys
axes = {}
for row in csv.DictReader(open(sys.argv[1], newline="")):
    axes.setdefault(row["trial"], set()).add(int(row["axis"]))
sys.exit(len(axes) != 12 or {tuple(sorted(of)) for of in axes.values()} != {(0, 1, 2), (0, 3, 4)})
PY
what="importance without networks"
checks=$((checks + 1))
python3 - bare.html.csv/bare-importance.csv <<'PY' || complain "expected shares of hyperparameters alone"
import csv, sys
share = {row["dimension"]: float(row["share explained"]) for row in csv.DictReader(open(sys.argv[1], newline=""))}
sys.exit("depth" in share or "width1" in share or not {"learner", "trees.trees"} <= set(share) or not share["trees.trees"] > 0)
PY

# One ensemble out of two runs: which search gave which member.
tutti run small.ini --out other --quiet --set run.seed=2 --set data.split_seed=1 --set builder.plugin=nes-re --set builder.population=3 --set builder.parents=2
expect_code 0
sed "s/^\[data\]/[data]\nsplit_seed = 1/" small.ini >first.ini
tutti run first.ini --out first --quiet
expect_code 0
tutti select first other --out both --set selector.plugin=all
expect_code 0
tutti report both --to pools.html
expect_code 0
expect_page pools.html
expect_equal "builders of the members" "nes-re nes-rs" "$(column pools.html.csv/both-members.csv builder | sort -u | paste -sd' ')"

# Errors.
tutti report
expect_usage_error "run directories"
tutti report nowhere
expect_usage_error "nowhere" "expected a run directory"
tutti report small --to /nowhere/page.html
expect_code 1
expect_err "/nowhere/page.html"

# One is no plural.
regression_recipe | sed 's/^budget = .*/budget = 1/; s/^size = .*/size = 1/' >single.ini
for seed in 1 2 3; do
  tutti run single.ini --set run.seed=$seed --out "single-$seed" --quiet
  expect_code 0
done
rm single-3/{summary,ensemble}.json
tutti report single-1 single-2 single-3 --to singles.html
expect_code 0
expect_in singles.html "1 trial has finished; with fewer" "single-3 is left out: not finished"

# A calibrator of intervals leaves the likelihood as it is, and nothing is said of that.
for calibrator in conformal variance-scaling; do
  tutti select single-1 --keep --set calibrator.plugin=$calibrator --set evaluation.folds=0
  expect_code 0
  tutti report single-1 --to $calibrator.html
  expect_code 0
  expect_in $calibrator.html "The calibrated ensemble's intervals of 95 % held" "The calibrator <b>$calibrator</b> was fitted"
done
expect_not_in conformal.html "After the calibrator"
expect_in variance-scaling.html "After the calibrator"
finish
