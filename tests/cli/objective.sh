#!/bin/bash
# What builders are told: the loss of the weights that are kept, or the last epoch's (run.objective).
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
cat >objective.ini <<'INI'
[run]
budget = 4
[data]
plugin = toy-sine
[space]
plugin = dense-skip
nodes = 2
[hyperparameters]
epochs = 12
learning_rate = log-uniform 1e-3 1e-1
INI

# close A B: equal within float32.
close() {
  checks=$((checks + 1))
  awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(d < 1e-6 && d > -1e-6) }' || complain "expected $2, found $1"
}

tutti run objective.ini --out kept
expect_code 0
tutti run objective.ini --out last --set run.objective=last-epoch
expect_code 0
tutti status last --json
expect_code 0
different=0
for trial in 0 1 2 3; do
  folder=trials/$(printf %06d "$trial")
  checks=$((checks + 1)) # random search: the same networks, whatever is told
  cmp -s "kept/$folder/validation.npy" "last/$folder/validation.npy" || complain "$folder: expected equal predictions"
  curve=$(tail -n 1 "last/$folder/curve.csv" | cut -d, -f5)
  close "$("$json_value" out all_trials "$trial" loss)" "$curve"
  least=$(tail -n +2 "last/$folder/curve.csv" | cut -d, -f5 | sort -g | head -n 1)
  [ "$least" = "$curve" ] || different=$((different + 1))
done
checks=$((checks + 1))
[ "$different" -gt 0 ] || complain "every last epoch was the best: nothing was tested"
finish
