#!/bin/bash
# What a report says in words: of which data, recipe and program it is, and how much its figures can tell.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/pages.sh"
make_table

# The data's file, all targets, also that of classes, the recipe, its seed and the program that made the run.
classification_recipe >classes.ini
tutti run classes.ini --out one --quiet
expect_code 0
tutti report one --to one.html
expect_code 0
expect_page one.html
program=$(sed -n '1s/.*, by \(Tutti [^,]*\), plugin ABI.*/\1/p' one/recipe.ini)
checks=$((checks + 1))
[ -n "$program" ] || complain "expected the program in recipe.ini"
expect_in one.html "/table.csv; target kind. Recipe classes, seed 3; $program.</p>"
expect_in one.html "There are only $(of_json one/summary.json '[j["data"]["rows"]["test"]]') test rows" "by up to <b>20 percentage points</b>"

# A single member disagrees with none: there is no picture of a doubt that is 0 in every row, but a sentence.
for kind in classification regression; do
  ${kind}_recipe | sed 's/^size = .*/size = 1/' >alone.ini
  tutti run alone.ini --out alone --quiet
  expect_code 0
  tutti report alone --to alone.html
  expect_code 0
  expect_page alone.html
  expect_in alone.html "The epistemic part is 0 in every row, since a single member has none to disagree with."
  what="doubts of one member"
  checks=$((checks + 1))
  [ ! -e alone.html.csv/alone-doubts.csv ] || complain "expected no figure"
  rm -r alone
done
expect_not_in one.html "The epistemic part is 0 in every row"

# One row says nothing of others, and its errors are counted.
tutti run classes.ini --out single --quiet --set "data.split=60 59 1"
expect_code 0
expect_equal "test rows" 1 "$(of_json single/summary.json '[j["data"]["rows"]["test"]]')"
tutti report single --to single.html
expect_code 0
expect_page single.html
expect_in single.html "There is only 1 test row: " "by up to <b>100 percentage points</b>" " of 1</b> row,"
expect_not_in single.html "</b> of the rows"
tutti run classes.ini --out many --quiet --set "data.split=0.3 0.2 0.5"
expect_code 0
tutti report many --to many.html
expect_code 0
expect_not_in many.html "percentage points"
expect_in many.html "</b> of the rows"

# Without data nothing is said of rows, nor of validation rows where a fit has none.
expect_in one.html ">nll, validation rows<"
tutti run "$TUTTI_TEST_SRCDIR/ini/bo-branin.ini" --out branin --quiet --set run.budget=6
expect_code 0
tutti report branin --to branin.html
expect_code 0
expect_in branin.html "There are no data" "valued; the least value counts" "; that took "
expect_not_in branin.html "validation rows" ">validation loss<" "trained;"
tutti fit "$TUTTI_TEST_SRCDIR/ini/nomu/1d-gp.ini" --out fit --quiet --set run.budget=2
expect_code 0
tutti report fit --to fit.html
expect_code 0
expect_not_in fit.html "for choosing" "validation rows"
# Repeats search nothing, and a surrogate has no members: the figures of a fit say what they are of.
expect_page fit.html
expect_not_in fit.html "more trials may help" "best so far" "The search" "members disagree" ">a trial<"
expect_in fit.html "Repeat by repeat" "The bounds are those of the surrogate" ">a repeat<"
tutti status fit --json
expect_equal "losses of the repeats" "$(of_json out '[t["loss"] for t in j["all_trials"]]')" "$(column fit.html.csv/fit-losses.csv "nll, test rows")"
tutti fit "$TUTTI_TEST_SRCDIR/ini/nomu/1d-gp.ini" --out refit --quiet --set run.budget=2 --set run.seed=2
expect_code 0
tutti report fit refit --to fits.html
expect_code 0
expect_page fits.html
expect_not_in fits.html "so many trials of each run" "What the ensemble of each run does" "more trials may help"
expect_in fits.html "Repeat by repeat"
tutti report fit one --to mixed.html
expect_code 0
expect_page mixed.html
expect_equal "searches beside a fit" one "$(column mixed.html.csv/runs-searches.csv name | sort -u)"
expect_in mixed.html "Repeat by repeat" "The search, trial by trial" "more trials may help"
expect_not_in one.html "Repeat by repeat"

# Errors that join several targets are called that: of the members, of other sizes, and of the rows that are surest.
regression_recipe | sed 's/^target = .*/target = y x2/' >two.ini
tutti run two.ini --out two --quiet
expect_code 0
tutti report two --to two.html
expect_code 0
expect_page two.html
expect_in two.html "targets x2, y. Recipe small" "The mean absolute error is of all 2 targets together, as if they had one unit."
expect_equal "joined errors" 2 "$(grep -o 'The rmse is of all 2 targets together' two.html | wc -l)"
expect_not_in one.html "targets together"
# The curve of the surest rows is the mean of both targets' curves, each in its own order, so that its mean is aurc.
what="aurc of two targets"
checks=$((checks + 1))
python3 - >out 2>err <<'PY' || complain "expected the mean of the curve"
import csv, json
curve = [float(row["mean absolute error"]) for row in csv.DictReader(open("two.html.csv/two-risk.csv", newline=""))]
test = next(split for split in json.load(open("two/summary.json"))["evaluation"] if split["split"] == "test")
(aurc,) = (metric["value"] for metric in test["metrics"] if metric["name"] == "aurc")
assert len(curve) == test["rows"] and abs(sum(curve) / len(curve) - aurc) < 1e-9 * aurc, (curve, aurc)
PY

# Two epistemic deviations and the interval are of different kinds.
tutti run "$TUTTI_TEST_SRCDIR/ini/quickstart.ini" --out line --quiet --set run.budget=3 --set hyperparameters.epochs=5 --set selector.size=2
expect_code 0
tutti report line --to line.html
expect_code 0
expect_in line.html "twice of it may reach beyond the interval"

# Side by side, a calibrated likelihood has a column where some run has a calibrator.
tutti report one many --to both.html
expect_code 0
expect_page both.html
expect_not_in both.html.csv/runs-results.csv calibrated
expect_not_in both.html "calibrated-nll"
tutti select many --keep --set calibrator.plugin=temperature --set calibrator.least_rows=10 --set evaluation.folds=0
expect_code 0
tutti report one many --to both.html
expect_code 0
expect_page both.html
expect_in both.html.csv/runs-results.csv "nll, calibrated"
expect_in both.html "calibrated-nll"
expect_in both.html "this would have been its error"

# Runs of several losses: no run is missing among the searches, whose loss says each chart, and no column mixes losses. What a
# calibrator changes stands beside what was before it: of conformal, intervals and not the likelihood.
for kind in gaussian linear; do
  regression_recipe | sed "s/^name = .*/name = $kind/" >$kind.ini
  printf '[head]\nkind = %s\n[calibrator]\nplugin = conformal\nnormalise = no\nleast_rows = 5\n[evaluation]\nfolds = 0\n' $kind >>$kind.ini
  tutti run $kind.ini --out $kind --quiet
  expect_code 0
done
tutti report gaussian linear --to losses.html
expect_code 0
expect_page losses.html
expect_in losses.html "Runs that minimise another loss, or one of classes beside one of values, have a chart of their own."
what="two losses side by side"
checks=$((checks + 1))
python3 - >out 2>err <<'PY' || complain "expected each loss by itself, and metrics before the calibrator and after"
import csv, json
def rows(name): return list(csv.DictReader(open("losses.html.csv/runs-" + name + ".csv", newline="")))
for figure, run in (("searches", "gaussian"), ("searches-2", "linear")):
    names = {row["name"] for row in rows(figure)}
    assert names == {run}, (figure, names)
gaussian, linear = rows("results")
for run, row, loss, other in (("gaussian", gaussian, "nll", "mse"), ("linear", linear, "mse", "nll")):
    summary = json.load(open(run + "/summary.json"))
    assert abs(float(row["best trial, " + loss]) - summary["best"]["loss"]) < 1e-9 and not row["best trial, " + other], row
    test = next(split for split in summary["evaluation"] if split["split"] == "test")
    for key, of in (("metrics", ""), ("calibrated", ", calibrated")):
        (value,) = (metric["value"] for metric in test[key] if metric["name"] == "coverage-95")
        shown = row["coverage-95" + of]
        assert abs(float(shown) - value) < 1e-9 if value is not None else not shown, (row, value)
assert not any(name in gaussian for name in ("best trial", "nll, calibrated", "rmse, calibrated")), gaussian
PY
finish
