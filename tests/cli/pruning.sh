#!/bin/bash
# Pruners: the same bits for any number of workers, after a kill, and after torn files; what is kept of pruned trials; errors.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
cat >asha.ini <<'INI'
[run]
budget = 24
window = 4
[data]
plugin = toy-sine
[space]
plugin = mlp
[hyperparameters]
epochs = 24
learning_rate = log-uniform 1e-4 1e-1
[pruner]
plugin = asha
reduction = 2
min_epochs = 4
[selector]
plugin = forward
size = 3
INI
{
  echo "extends = asha.ini"
  printf '[pruner]\nplugin = median\nwarmup = 3\n'
} >median.ini
{
  echo "extends = asha.ini"
  printf '[run]\nbudget = 16\n[space]\nplugin = dense-skip\nnodes = 2\n[builder]\nplugin = agebo\ninitial = 4\npopulation = 4\nsample = 2\n[surrogate]\ntrees = 5\n'
} >agebo.ini

# By training losses, which are told of, too: nothing is regularised, so the best train best.
{
  echo "extends = asha.ini"
  printf '[pruner]\nlosses = training\n'
} >training.ini

same() { # RUN RUN
  same_trials "$1" "$2"
  same_file "$1/ensemble.json" "$2/ensemble.json"
}
count() { sql "$1" "SELECT count(*) FROM trials WHERE $2"; }

for name in asha median agebo training; do
  tutti run $name.ini --out $name --workers 1 --quiet
  expect_code 0
  tutti run $name.ini --out $name-3 --workers 3 --quiet
  expect_code 0
  same $name $name-3
  checks=$((checks + 1))
  [ "$(count $name "state = 'pruned'")" -gt 2 ] || complain "expected pruned trials"
  # Killed on its way, and resumed with another number of workers.
  "$TUTTI_PROGRAM" run $name.ini --out $name-killed --workers 2 --quiet >out 2>err </dev/null &
  manager=$!
  for ((i = 0; i < 500; i++)); do
    [ "$(count $name-killed 'state IS NOT NULL' 2>/dev/null || echo 0)" -ge 7 ] && break
    sleep 0.01
  done
  kill -9 $manager 2>/dev/null
  wait $manager 2>/dev/null
  tutti run $name.ini --out $name-killed --workers 3 --quiet --resume
  expect_code 0
  same $name $name-killed
done

# Validation or training losses decide: other trials are pruned, each by the curve that it has.
trials asha | cut -d'|' -f1,6 >first.txt
trials training | cut -d'|' -f1,6 >second.txt
checks=$((checks + 1))
! cmp -s first.txt second.txt || complain "expected other pruned trials by training losses"
# least FILE COLUMN EPOCHS: the least number in a column of a curve, up to an epoch.
least() { awk -F, -v c="$2" -v e="$3" 'NR > 1 && $1 <= e && (m == "" || $c < m) { m = $c } END { printf "%.17g", m }' "$1"; }
# The first rung prunes trials whose best training loss is worse than that of one that went on and was told before.
for number in $(sql training "SELECT number FROM trials WHERE state = 'pruned' AND json_array_length(report, '$.curve') = 4"); do
  after=$(sql training "SELECT asked_after FROM trials WHERE number = $number")
  own=$(least "$(printf 'training/trials/%06d/curve.csv' "$number")" 4 4) better=0
  for other in $(sql training "SELECT number FROM trials WHERE told < $after"); do
    awk -v a="$(least "$(printf 'training/trials/%06d/curve.csv' "$other")" 4 4)" -v b="$own" 'BEGIN { exit !(a + 0 < b + 0) }' && better=$((better + 1))
  done
  checks=$((checks + 1))
  if [ $((2 * better)) -lt "$after" ] || [ "$better" -eq 0 ]; then
    complain "trial $number: $better of $after trained better, and it was pruned"
  fi
done

# Its report says at which rung it ended, what it had reached there, and what would have been enough; -v says so, too.
for name in asha median training; do
  checks=$((checks + 1))
  all=$(count $name "state = 'pruned'") curve=$([ $name = training ] && echo training_curve || echo curve)
  said=$(count $name "state = 'pruned' AND json_extract(report, '\$.pruned.reached') > json_extract(report, '\$.pruned.at_most')
    AND json_extract(report, '\$.pruned.epoch') = json_array_length(report, '\$.curve')
    AND json_extract(report, '\$.pruned.reached') = (SELECT min(value) FROM json_each(report, '\$.$curve'))")
  [ "$said" = "$all" ] || complain "$name: expected why each of $all trials was pruned, found it for $said"
  checks=$((checks + 1))
  [ "$(count $name "state = 'finished' AND json_extract(report, '\$.pruned') IS NOT NULL")" = 0 ] ||
    complain "$name: a trial that finished says why it was pruned"
done
TUTTI_VERBOSE=1 tutti run asha.ini --out told --workers 1 --quiet
expect_code 0
checks=$((checks + 1))
[ "$(grep -c "was pruned after epoch [48]: its best validation loss is .*, and at most .* goes on" err)" = "$(count asha "state = 'pruned'")" ] ||
  complain "expected a line for each trial that was pruned"

# A pruned trial has its network and its curve, up to the rung; no predictions, no weights, and is no member.
pruned=$(sql asha "SELECT min(number) FROM trials WHERE state = 'pruned'")
folder_of() { printf '%s/trials/%06d' "$1" "$2"; }
here=$(folder_of asha "$pruned")
for file in curve.csv network.json; do
  checks=$((checks + 1))
  [ -s "$here/$file" ] || complain "expected $here/$file"
done
expect_absent "$here/validation.npy"
expect_absent "$here/weights.safetensors"
checks=$((checks + 1))
rows=$(($(wc -l <"$here/curve.csv") - 1))
case $rows in 4 | 8) ;; *) complain "expected the curve of trial $pruned to end at a rung, found $rows epochs" ;; esac
tutti status asha --json
expect_json pruned all_trials "$pruned" state
tutti status asha
expect_out "24 of 24 done, 0 failed" "pruned"

# Torn files of a pruned and of a finished trial are made again, by the rules that these trials had.
cp -r asha torn
: >"$(folder_of torn "$pruned")/curve.csv"
finished=$(sql asha "SELECT max(number) FROM trials WHERE state = 'finished'")
rm "$(folder_of torn "$finished")/validation.npy"
tutti run asha.ini --out torn --resume --quiet
expect_code 0
expect_err "trial $pruned is trained again" "trial $finished is trained again"
expect_not_in err "another machine"
same asha torn
checks=$((checks + 1))
cmp -s "$here/curve.csv" "$(folder_of torn "$pruned")/curve.csv" || complain "expected the same curve again"

# With keep_pruned they predict, and selectors may take them: here all of them.
tutti run asha.ini --out kept --quiet --set run.keep_pruned=yes --set selector.plugin=all --json
expect_code 0
expect_json 24 ensemble members
checks=$((checks + 1))
[ -s "$(folder_of kept "$pruned")/validation.npy" ] || complain "expected predictions of the pruned trial $pruned"
trials asha | sed 's/|[^|]*$//' >first.txt
trials kept | sed 's/|[^|]*$//' >second.txt
checks=$((checks + 1))
cmp -s first.txt second.txt || complain "expected the same search whether pruned trials are kept or not"
tutti run asha.ini --out left --quiet --set selector.plugin=all --json
expect_json "$(count asha "state = 'finished'")" ensemble members

# Its loss is what that of a finished trial is: of the weights that it had, on the validation rows.
checks=$((checks + 1))
awk -v a="$(sql kept "SELECT loss FROM trials WHERE number = $pruned")" \
  -v b="$(sql kept "SELECT json_extract(report, '\$.losses.validation.nll') FROM trials WHERE number = $pruned")" \
  'BEGIN { exit !(a == b && a != "") }' || complain "expected the loss of its predictions"

# With folds, a pruned trial has the model of its first fold alone: its loss is that of the best weights of its curve.
tutti run asha.ini --out folded --quiet --set data.folds=3
expect_code 0
pruned=$(sql folded "SELECT min(number) FROM trials WHERE state = 'pruned'")
checks=$((checks + 1))
awk -F, -v loss="$(sql folded "SELECT loss FROM trials WHERE number = $pruned")" '
  NR == 1 { for (i = 1; i <= NF; i++) if ($i == "validation_loss") column = i; next }
  NR == 2 || $column < least { least = $column }
  END { exit !(NR > 4 && loss != "" && loss - least < 1e-5 && least - loss < 1e-5) }' "$(folder_of folded "$pruned")/curve.csv" ||
  complain "expected the least loss of the curve of trial $pruned"
tutti validate asha.ini --set data.folds=3 --set run.keep_pruned=yes
expect_usage_error "run.keep_pruned: a trial that is pruned has a model of its first fold alone"

# Bad input.
tutti validate asha.ini --set pruner.min_epochs=24
expect_usage_error "pruner.min_epochs: the rung at epoch 24" "at most 24 epochs"
tutti validate asha.ini --set hyperparameters.epochs=1 --set pruner.min_epochs=0
expect_usage_error "trials have 1 epoch, so that none could be pruned before its end"
tutti validate asha.ini --set "pruner.rungs=6 30"
expect_usage_error "pruner.rungs: the rung at epoch 30"
tutti validate median.ini --set pruner.min_epochs=30
expect_usage_error "pruner.min_epochs: trials have at most 24 epochs"
tutti run median.ini --out nowhere --set pruner.min_epochs=30
expect_usage_error "pruner.min_epochs"
expect_absent nowhere
tutti validate asha.ini --set pruner.reduction=1
expect_usage_error "[2, 1000]"
tutti validate asha.ini --set pruner.plugin=ashes
expect_usage_error asha
tutti validate asha.ini --set run.window=24
expect_code 0
expect_err "run.window = 24: all 24 trials are asked for before one result is known, so pruner asha prunes nothing"
tutti validate asha.ini --set run.window=23
expect_not_in err "prunes nothing"
# The last of 24 trials is asked for when 20 are told: one more than that never are.
for name in asha median; do
  tutti validate $name.ini --set pruner.warmup=21
  expect_code 0
  expect_err "pruner.warmup = 21: nothing is pruned before so many trials are told" "at most 20 are, so this run prunes nothing"
  tutti validate $name.ini --set pruner.warmup=20
  expect_not_in err "prunes nothing"
  tutti validate $name.ini --set pruner.warmup=21 --set run.order=completion
  expect_not_in err "prunes nothing"
  tutti validate $name.ini --set pruner.warmup=24 --set run.order=completion
  expect_err "at most 23 are, so this run prunes nothing"
  tutti validate $name.ini --set pruner.warmup=21 --set run.budget=0 --set run.time=60
  expect_not_in err "prunes nothing"
done
cat >trees.ini <<'INI'
[data]
plugin = toy-sine
[backend]
plugin = trees
[pruner]
plugin = median
INI
tutti validate trees.ini
expect_usage_error "pruner.plugin: median judges trials by their losses after each epoch, and backend trees reports none"
tutti run asha.ini --out asha --resume --set pruner.plugin=none
expect_code 2
expect_err "asha holds another run" "[pruner]"

finish
