#!/bin/bash
# Results told in batches: what the builder is asked for, whoever trains; lies for one batch alone; a run that stopped inside one.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
cat >recipe.ini <<'INI'
[run]
budget = 22
window = 4
[backend]
plugin = function
function = branin
[hyperparameters]
x0 = uniform -5 10
x1 = uniform 0 15
[builder]
plugin = bo
design = random
initial = 4
surrogate = random-forest
acquisition = lcb
maximiser = sample
[selector]
plugin = all
INI

# search NAME SETTING...: the run's candidates go to NAME.txt, and how many results had been told to NAME.told.
search() {
  local name=$1 settings=()
  shift
  for setting; do settings+=(--set "$setting"); done
  tutti run recipe.ini --quiet --out "$name" "${settings[@]}"
  expect_code 0
  list "$name"
}
list() {
  python3 - "$1" <<'PY' >"$1.txt"
import sqlite3, sys
for number, candidate, told in sqlite3.connect(sys.argv[1] + "/catalogue.sqlite").execute(
        "SELECT number, candidate, asked_after FROM trials ORDER BY number"):
    print(number, told, candidate)
PY
  cut -d' ' -f1,3- "$1.txt" >"$1.candidates"
  cut -d' ' -f2 "$1.txt" | tr '\n' ' ' >"$1.told"
}
# same|different A B
same() { checks=$((checks + 1)); cmp -s "$1" "$2" || complain "expected $1 and $2 to be the same"; }
different() { checks=$((checks + 1)); ! cmp -s "$1" "$2" || complain "expected $1 and $2 to differ"; }

search batches run.batch=4 builder.pending=liar-batch run.workers=1
echo -n "0 0 0 0 4 4 4 4 8 8 8 8 12 12 12 12 16 16 16 16 20 20 " >expected
same expected batches.told
search workers run.batch=4 builder.pending=liar-batch run.workers=4
same batches.txt workers.txt
# Nothing else is outstanding when a batch is asked for, so that lies for all that is outstanding are lies for the batch.
search all run.batch=4 builder.pending=liar
same batches.candidates all.candidates
search none run.batch=4 builder.pending=none
different batches.candidates none.candidates

# One by one, no other trial is asked for between two results: lies for a batch are none.
search single builder.pending=liar-batch
search single-none builder.pending=none
same single.candidates single-none.candidates
search single-all builder.pending=liar
different single.candidates single-all.candidates

# A run that stopped when half of a batch had been asked for goes on with the other half.
cp -r batches half
python3 - half <<'PY'
import sqlite3, sys
with sqlite3.connect(sys.argv[1] + "/catalogue.sqlite") as catalogue:
    catalogue.executescript("DROP TABLE sums; DROP TABLE fact_sums")
    catalogue.execute("DELETE FROM trials WHERE number >= 14")
    catalogue.execute("UPDATE trials SET state = NULL, loss = NULL, told = NULL, seconds = NULL, worker = NULL, "
                      "failure = NULL, report = NULL WHERE told >= 12")
PY
rm half/summary.json
tutti run half/recipe.ini --out half --resume --quiet
expect_code 0
list half
same batches.txt half.txt

tutti run recipe.ini --out wide --set run.batch=5
expect_code 2
expect_err "batch" "window = 4" "found 5"
finish
