#!/bin/bash
# What a report and tutti status say of ensembles that are chosen anew for each shift: the numbers of the run's summary, beside those
# of the ensemble that is one for all shifts.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/pages.sh"
make_stripes
stripes_recipe | sed 's/^shift = .*/shift = 2 5/; s/^budget = .*/budget = 12\nseed = 4/; s/^size = .*/size = 3/' >stripes.ini
tutti run stripes.ini --out stripes --quiet
expect_code 0
tutti report stripes --to stripes.html
expect_code 0
expect_page stripes.html
what="ensembles chosen anew"
checks=$((checks + 1))
python3 - stripes/summary.json stripes.html <<'PY' >out 2>err || complain "expected the numbers of the summary"
import csv, json, re, sys
summary, page = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
rows = lambda name: list(csv.DictReader(open("stripes.html.csv/stripes-" + name + ".csv", newline="")))
value = lambda metrics, name: next(m["value"] for m in metrics if m["name"] == name)
once = {split["split"]: split["metrics"] for split in summary["evaluation"]}
anew = {split["split"]: split["metrics"] for shift in summary["shifts"] for split in shift["evaluation"]}
assert set(anew) == {"validation-2", "test-2", "validation-5", "test-5"}
members = lambda ensemble: [member["trial"] for member in ensemble["members"]]
assert members(summary["ensemble"]) != members(summary["shifts"][1]["ensemble"]), "the shift chooses the same"
for figure, metric in (("severity", "nll"), ("severity-2", "error")):
    shown = rows(figure)
    assert [row["severity"] for row in shown] == ["0", "2", "5"]
    for row in shown:
        split = "test" if row["severity"] == "0" else "test-" + row["severity"]
        assert abs(float(row[metric]) - value(once[split], metric)) < 1e-12, row
        if split == "test":
            assert row["chosen anew"] == "", row
        else:
            assert abs(float(row["chosen anew"]) - value(anew[split], metric)) < 1e-12, row
figure = re.search('<figure id="severity".*?</figure>', page, re.S).group()
assert figure.count(">chosen anew for each shift<") == 2 and figure.count(">ensemble<") == 2, "two lines in each chart"
assert [(row["chosen on"], row["trials"]) for row in rows("severity-3")] == [
    (shift["split"], " ".join(map(str, members(shift["ensemble"])))) for shift in summary["shifts"]]
for row in rows("metrics"):
    for split, metrics in anew.items():
        shown, said = row[split + ", chosen anew"], value(metrics, row["metric"])
        assert abs(float(shown) - said) < 1e-12 if said is not None else not shown, row
assert "test, chosen anew" not in row
words = re.search("On shifted rows \\(test-5\\) the negative log-likelihood of the ensemble is <b>([^<]*)</b> nats, and <b>([^<]*)</b> of", page)
assert words.groups() == tuple("%.4g" % value(of["test-5"], "nll") for of in (once, anew)), words
PY

# In one line for each shift.
tutti status stripes
expect_code 0
expect_equal "lines of shifts" "$(of_json stripes/summary.json '["chosen anew on %s: trials %s; nll %#.5g on %s, where the ensemble has %#.5g" % (s["split"], " ".join(str(m["trial"]) for m in s["ensemble"]["members"]), s["evaluation"][1]["metrics"][0]["value"], s["evaluation"][1]["split"], next(e["metrics"][0]["value"] for e in j["evaluation"] if e["split"] == s["evaluation"][1]["split"])) for s in j["shifts"]]')" \
  "$(grep -o 'chosen anew .*' out)"
expect_not_in out "Chosen anew for each shift"

# Of several runs, those that have shifts have both.
stripes_recipe | sed '/^shift/d' >plain.ini
tutti run plain.ini --out plain --quiet
expect_code 0
tutti status plain
expect_not_in out shifts
tutti report stripes plain --to both.html
expect_code 0
expect_page both.html
expect_equal "the severity, side by side" "$(column stripes.html.csv/stripes-severity.csv "chosen anew")" \
  "$(column both.html.csv/stripes-severity.csv "chosen anew")"
tutti report plain --to plain.html
expect_code 0
expect_not_in plain.html "chosen anew"
finish
