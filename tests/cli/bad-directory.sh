#!/bin/bash
# A directory that cannot hold a run is refused before anything is written; one that holds a run, or what is left of one,
# is not written over.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
regression_recipe >small.ini
repeat() { printf "%0.s$1" $(seq "$2"); }

# nothing_was_made: there is only what this test made.
nothing_was_made() {
  checks=$((checks + 1))
  [ "$(ls)" = "$(printf '%s\n' err out small.ini table.csv)" ] || complain "expected no other files than before: $(ls)"
}
for out in "$(repeat a/ 2000)" "$(repeat bbbbbbbbbbbbbbbbbbb/ 25)"; do
  for command in "run small.ini" "ablate small.ini --seeds 1"; do
    # shellcheck disable=SC2086
    tutti $command --out "$out"
    expect_code 2
    expect_err "absolute path" "are the most" --out
    nothing_was_made
  done
done
tutti run small.ini --out "some/$(repeat a 256)"
expect_code 2
expect_err "256 bytes" "255 are the most"
nothing_was_made

# The longest path that is not refused holds a run, from which can be predicted.
room=$((486 - ${#PWD} - 1))
longest=$(repeat d/ 300 | head -c $((room - 1)))e
tutti run small.ini --out "$longest" --quiet --set run.budget=2 --set selector.size=1
expect_code 0
tutti predict "$longest" table.csv
expect_code 0
tutti run small.ini --out "${longest}f" --quiet
expect_code 2
rm -r d

# Trials without a catalogue: somebody's work, which is not begun anew.
tutti run small.ini --quiet
mv runs/small/catalogue.sqlite kept
for resume in "" --resume; do
  # shellcheck disable=SC2086
  tutti run small.ini $resume
  expect_code 1
  expect_err "runs/small has the trials of a run" "catalogue.sqlite is gone"
done
mv kept runs/small/catalogue.sqlite
tutti run small.ini --resume --quiet
expect_code 0

# A catalogue that somebody deletes while the run is at work: the run ends, and what was recorded is not lost.
"$TUTTI_PROGRAM" run small.ini --out robbed --quiet --set run.budget=60 --set backend.epochs=300 >out.robbed 2>err.robbed &
for i in $(seq 300); do
  tutti status robbed --json
  [ "$("$json_value" out trials 'done' 2>/dev/null || echo 0)" -ge 3 ] && break
  sleep 0.1
done
rm -f robbed/catalogue.sqlite*
what="tutti run, whose catalogue is deleted"
wait $!
code=$?
mv err.robbed err
expect_code 1
expect_err "catalogue.sqlite was deleted while the run was at work" "go on with --resume"
tutti status robbed --json
checks=$((checks + 1))
[ "$("$json_value" out trials 'done')" -ge 3 ] || complain "expected the trials that were done"
tutti run small.ini --out robbed --resume --quiet --set run.budget=60 --set backend.epochs=300
expect_code 0

# Two managers begin at once: one has the directory, the other is refused, and it holds one run.
"$TUTTI_PROGRAM" run small.ini --out both --quiet >/dev/null 2>err.first &
first=$!
tutti run small.ini --out both --quiet
second=$code
wait $first
first=$?
checks=$((checks + 1))
case $first,$second in
0,[12]) refused=err ;;
[12],0) refused=err.first ;;
*) refused='' && complain "expected one of two managers to be refused, found exit codes $first and $second" ;;
esac
[ -z "$refused" ] || grep -qE "in use by another|already holds a run" $refused || complain "expected a reason in $refused"
tutti status both --json
expect_json 6 trials 'done'
# A process that was killed in the middle of a change of the catalogue: who only reads undoes it first.
tutti run "$TUTTI_TEST_SRCDIR/ini/quickstart.ini" --set run.budget=6 --out half --quiet
expect_code 0
tutti status half --json
cp out before
what="a change of the catalogue that is left half made"
python3 - half <<'PY' || complain "expected a journal"
import os, shutil, sqlite3, sys
path = sys.argv[1] + "/catalogue.sqlite"
names = path, path + "-journal"
db = sqlite3.connect(path, isolation_level=None)
for statement in ("PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 1", "BEGIN IMMEDIATE",
                  "UPDATE trials SET candidate = candidate || hex(zeroblob(20000)), loss = 0"):
    db.execute(statement)
for name in names:
    shutil.copy(name, name + ".kept")
db.execute("ROLLBACK")
db.close()
for name in names:
    os.replace(name + ".kept", name)
PY
tutti status half --json
expect_code 0
checks=$((checks + 1))
cmp -s before out || complain "expected what was there before the change"

finish
