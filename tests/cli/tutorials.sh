#!/bin/bash
# docs/tutorials.md: each command in it works as it stands, on the data that come with it, and what the text says of the results
# is so.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
cp -r "$TUTTI_TEST_SRCDIR/docs/examples" first
chmod -R u+w first
cd first || exit 99
PATH=$(dirname "$TUTTI_PROGRAM"):$PATH
sed -n '/^    /s/^    //p' "$TUTTI_TEST_SRCDIR/docs/tutorials.md" | grep -v '^cp -r' >commands
checks=$((checks + 1))
[ "$(grep -c '^tutti' commands)" -ge 9 ] || complain "docs/tutorials.md has fewer commands than expected"
# Fewer networks for images than in the tutorial, which has the time.
sed -i 's/^budget = 6/budget = 2/; s/^epochs = 5/epochs = 2/; s/^size = 3/size = 2/' shapes.ini
while read -r line; do
  what=$line
  bash -c "$line" >out 2>err </dev/null
  code=$?
  expect_code 0
  case $line in
  'tutti validate'*) expect_out "'listing': it has another text in every row; it is left out" "'currency': it has one value" ;;
  'tutti run flats'*) expect_out "30 of 30 done, 0 failed" "Ensemble of 5" "the ensemble stays as it is" ;;
  'tutti predict runs/flats'*)
    expect_out "2,,,,,,"
    expect_err "'large'" "1 of 3 rows cannot be read"
    checks=$((checks + 1))
    awk -F, 'NR == 2 {known = $7 - $6} NR == 3 {exit !($7 - $6 > known)}' out || complain "the second interval is not wider than the first"
    ;;
  'tutti report'*)
    checks=$((checks + 1))
    [ -s flats.html ] || complain "no page"
    ;;
  'tutti run shapes'*) expect_out "auroc-entropy" "Chosen anew for each shift" "calibrator  temperature, on 90 validation rows" ;;
  'tutti ablate'*)
    expect_out "8 runs: 4 variants" "nes-re          forward"
    expect_not_in err "nothing evolves" # it is asked whether evolution helps
    ;;
  'tutti compare'*) expect_out "mean rank" ;;
  esac
done <commands
checks=$((checks + 1))
[ "$(find flats-ablation -name catalogue.sqlite -type f | wc -l)" -eq 4 ] || complain "expected four searches"
finish
