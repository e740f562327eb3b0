#!/bin/bash
# The head as a hyperparameter: plain members, members with NOMU's uncertainty, each with draws of dropout or without, and
# trees beside them, in one pool; their bits, files and predictions; what is refused.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
find_numpy
make_table
regression_recipe | sed 's/^budget = .*/budget = 24/; s/^plugin = mlp/plugin = mlp\ndropout = 0.2\nwidths = 8 16/; s/^plugin = cpu/plugin = mixed/
  /^epochs/d; s/^learning_rate.*/learner = choice cpu trees\ncpu.prediction_draws = choice 0 5\nhead.kind = choice gaussian nomu if learner = cpu\nhead.pi_exp = log-uniform 0.05 0.5 if head.kind = nomu/
  s/^plugin = forward/plugin = all/; /^size/d' >mixed.ini
printf '[cpu]\nepochs = 4\n[trees]\nmethod = random-forest\ntrees = 5\n[head]\nnoise = learnt\n' >>mixed.ini

tutti run mixed.ini --quiet --workers 1 --out run
expect_code 0
expect_out "24 of 24 done, 0 failed" "epistemic-within" "epistemic-between"
expect_in run/recipe.ini "head.kind = choice gaussian nomu if learner = cpu" "noise = learnt"
checks=$((checks + 1))
! sed -n '/^\[head\]/,/^$/p' run/recipe.ini | grep -q '^kind' || complain "expected head.kind once, in [hyperparameters]"
tutti run run/recipe.ini --quiet --workers 3 --out again
expect_code 0
checks=$((checks + 1))
diff -rq run/trials again/trials >differ || complain "the trials depend on the number of workers: $(head -n 1 differ)"
checks=$((checks + 1))
cmp -s run/summary.json again/summary.json || complain "the summary depends on the number of workers"

# Each family is there, each member ends in the head that its candidate says, and tells what its family can tell. The
# decomposition of each new row's prediction follows from the members' predictions of that row.
tutti predict run table.csv
expect_code 0
what="families and decomposition"
"$python" - out >found 2>err <<'PYTHON'
import csv, glob, json, os, re, sqlite3, sys
import numpy as np
found = {}
candidates = {n: json.loads(c) for n, c in sqlite3.connect("run/catalogue.sqlite").execute("select number, candidate from trials")}
for folder in sorted(glob.glob("run/trials/*")):
    values = candidates[int(os.path.basename(folder))]["hyperparameters"]
    told = os.path.exists(folder + "/test-epistemic.npy")
    if values["learner"] == "trees":
        family, ends = "trees", None
        assert not os.path.exists(folder + "/network.json") and "head.kind" not in values
    else:
        head, draws = values["head.kind"], values["cpu.prediction_draws"] != "0"
        family = head + ("-draws" if draws else "")
        with open(folder + "/network.json", encoding="utf-8") as file:
            assert '"head-%s"' % head in file.read(), folder
        assert told == (head == "nomu" or draws), folder
        assert ("head.pi_exp" in values) == (head == "nomu"), folder
    found[family] = found.get(family, 0) + 1
print(*sorted(found))

trials = sorted(glob.glob("run/trials/*"))
p = np.stack([np.load(t + "/test.npy") for t in trials]).astype(float)[:, :, 0]
own = np.zeros(p.shape[:2])
for i, t in enumerate(trials):
    if os.path.exists(t + "/test-epistemic.npy"):
        own[i] = np.load(t + "/test-epistemic.npy")[:, 0]
origin = json.load(open("run/data.json")).get("target_origin", 0)
mean = p[:, :, 0].mean(0)
within, aleatoric, between = own.mean(0), (p[:, :, 1] - own).mean(0), p[:, :, 0].var(0, ddof=1)
rows = np.load("run/splits/test-rows.npy").reshape(-1)
with open("out", encoding="utf-8") as file:
    table = list(csv.DictReader(file))
def column(name):
    return np.array([float(table[r][name]) for r in rows])
for name, expected in (("mean", mean + origin), ("epistemic_within", within ** 0.5), ("epistemic_between", between ** 0.5),
                       ("aleatoric", aleatoric ** 0.5), ("epistemic", (within + between) ** 0.5),
                       ("total", (within + between + aleatoric) ** 0.5)):
    worst = np.abs(column(name) - expected).max()
    assert worst < 2e-5, (name, worst)
assert within.min() > 0 and between.min() > 0
PYTHON
code=$?
expect_code 0
cp found out
expect_out "gaussian gaussian-draws nomu nomu-draws trees"

# A trial that is lost comes again with the same bits, of whatever family.
for file in again/trials/*/test-epistemic.npy; do lost=$(dirname "$file"); done
rm -r "$lost"
tutti run again/recipe.ini --quiet --resume --out again
expect_code 0
checks=$((checks + 1))
cmp -s "run/trials/$(basename "$lost")/weights.safetensors" "$lost/weights.safetensors" || complain "expected the same weights again"

# One value fixes it.
tutti run mixed.ini --quiet --out fixed --set run.budget=2 --set hyperparameters.head.kind=nomu --set hyperparameters.learner=cpu
expect_code 0
expect_in fixed/recipe.ini "kind = nomu"

# What cannot be is refused before anything is trained.
tutti validate mixed.ini --set "hyperparameters.head.kind=choice gaussian linear if learner = cpu"
expect_usage_error "hyperparameters.head.kind: members with a linear head have no variance" "leave linear out"
tutti validate mixed.ini --set "hyperparameters.head.kind=choice gaussian softmax if learner = cpu"
expect_usage_error "hyperparameters.head.kind: softmax takes classes, and the task is regression"
tutti validate mixed.ini --set "hyperparameters.head.kind=choice gaussian nomo"
expect_usage_error "hyperparameters.head.kind: expected one of" "nomo"
tutti validate mixed.ini --set "hyperparameters.head.kind=choice gaussian nomu"
expect_usage_error "expected softmax, gaussian or linear, found head-nomu"
tutti validate mixed.ini --set hyperparameters.head.pi_epx=3
expect_usage_error "hyperparameters.head.pi_epx: unknown key; did you mean 'pi_exp'?"
tutti validate mixed.ini --set hyperparameters.head.kind=nomu --set head.kind=nomu
expect_usage_error "it stands in [head], too"
finish
