#!/bin/bash
# Images, clean and shifted: trials predict every split, and ensembles are chosen anew for each shift.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
export XDG_CACHE_HOME=$folder/caches

# 90 images of 20 x 20 pixels of three kinds of stripes, and their labels.
{
  printf '\0\0\10\3\0\0\0\132\0\0\0\24\0\0\0\24'
  for i in $(seq 30); do
    head -c 400 < <(yes "$(printf 'Az0%.0s' $(seq $((i % 7 + 5))))")
    head -c 400 < <(yes "$(printf '~~~~~!!!!!%.0s' $(seq $((i % 3 + 1))))")
    head -c 400 < <(yes "$(printf 'P%.0s' $(seq $((i % 5 + 9))))")
  done
} >images.idx
{
  printf '\0\0\10\1\0\0\0\132'
  printf '\0\1\2%.0s' $(seq 30)
} >labels.idx
cat >stripes.ini <<'END'
[run]
budget = 4
window = 2
[data]
plugin = idx
path = images.idx
target_path = labels.idx
split = 1 1 1
shift = 1 5
[space]
plugin = mlp
[hyperparameters]
epochs = 2
[selector]
plugin = forward
size = 2
END

# It is clear what is wrong.
tutti validate stripes.ini --set data.shift=6
expect_usage_error data.shift "each in [0, 5]"
tutti validate stripes.ini --set data.shift_test=frots
expect_usage_error data.shift_test "did you mean 'frost'"
tutti validate stripes.ini --set data.shift_path="$folder/none"
expect_usage_error data.shift_path "$folder/none"
tutti validate stripes.ini --set data.target_path=images.idx
expect_usage_error "data.target_path: expected the IDX file with the labels"
head -c 20000 images.idx >torn.idx
tutti validate stripes.ini --set data.path="$folder/torn.idx"
expect_usage_error "torn.idx: torn: the header promises 90 images, and it breaks off after 49"

tutti run stripes.ini --quiet --json
expect_code 0
expect_json 6 evaluation
expect_json validation-5 evaluation 4 split
expect_json 2 shifts
expect_json validation-1 shifts 0 split
expect_json test-5 shifts 1 evaluation 1 split
expect_json 2 shifts 1 ensemble members
cp out first.json
for file in trials/000003/test-5.npy splits/validation-1-labels.npy data.json; do
  checks=$((checks + 1))
  [ -s "runs/stripes/$file" ] || complain "expected runs/stripes/$file"
done
checks=$((checks + 1))
[ "$(find caches/tutti -name 'shift-*.npy' | wc -l)" = 4 ] || complain "expected 4 sets in the cache"

# Without the cache, and with other workers: the same bits.
rm -r caches
tutti run stripes.ini --quiet --json --out again --workers 2
expect_code 0
cmp -s first.json again/summary.json || complain "expected the same summary"
cmp -s runs/stripes/trials/000002/test-5.npy again/trials/000002/test-5.npy || complain "expected the same predictions"
tutti run stripes.ini --out third
expect_code 0
expect_out "Chosen anew for each shift" "on validation-5" "test-5"

# A deep ensemble of the best on shifted rows, which is another than on clean ones.
cat >deep.ini <<'END'
extends = stripes.ini
[run]
seed = 3
budget = 1
[builder]
plugin = deepens
from = pool
[selector]
plugin = all
END
# best_on SPLIT: the trial of the pool with the least loss there.
best_on() {
  tutti select pool --split "$1" --set selector.plugin=top-m --set selector.size=1 --json
  "$json_value" out members 0 trial
}
# configuration RUN TRIAL: without its seed.
configuration() {
  sed 's/"seed.*//' "$1/trials/00000$2/network.json"
}
tutti run stripes.ini --quiet --out pool --set run.budget=8 --set run.seed=3
clean=$(best_on validation) shifted=$(best_on validation-5)
checks=$((checks + 1))
[ "$clean" != "$shifted" ] || complain "expected different trials to be the best on clean and on shifted rows"
tutti run deep.ini --quiet --out deep-0
expect_code 0
tutti run deep.ini --quiet --out deep-5 --set builder.severity=5
expect_code 0
checks=$((checks + 2))
[ "$(configuration deep-0 0)" = "$(configuration pool "$clean")" ] || complain "not the best on clean rows"
[ "$(configuration deep-5 0)" = "$(configuration pool "$shifted")" ] || complain "not the best on shifted rows"
# Its own shifts may be others, as long as the rows to train, choose and test on are those of the pool.
tutti run deep.ini --quiet --out deep-other --set data.shift=1,2
expect_code 0
checks=$((checks + 1))
[ "$(configuration deep-other 0)" = "$(configuration pool "$clean")" ] || complain "not the best on clean rows"
tutti run deep.ini --out bad --set data.shift=1,2 --set data.split_seed=77
expect_code 2
expect_err "pool has other data or splits"
tutti run deep.ini --out bad --set data.shift=2 --set builder.severity=2
expect_code 2
expect_err "severity 2" "have to be the same" "pool has other data or splits"
tutti run deep.ini --out bad --set builder.severity=3
expect_code 2
expect_err "severity 3" "validation-3" "data.shift"

# Choosing on a shifted split gives what the run chose there.
tutti select runs/stripes --split validation-5 --json
expect_code 0
trial=$("$json_value" out members 0 trial)
cp first.json out
expect_json "$trial" shifts 1 ensemble members 0 trial
for split in test train validation-3 validation5 nonsense; do
  tutti select runs/stripes --split $split
  expect_code 2
  expect_err "expected a validation split" "'$split'"
done
# What is kept is chosen on each shift, too, by the same selector.
tutti select runs/stripes --set selector.plugin=top-m --set selector.size=1 --keep --json
expect_code 0
expect_json top-m plugins selector
expect_json 1 ensemble members
expect_json 2 shifts
for shift in 0 1; do
  expect_json top-m shifts $shift ensemble selector
  expect_json 1 shifts $shift ensemble members
done
cmp -s out runs/stripes/summary.json || complain "expected the text of summary.json"
tutti status runs/stripes --json
expect_json top-m plugins selector

# Curves over the budget and the size, from the finished pool.
tutti curve runs/stripes
expect_code 0
expect_out "On test" budget members oracle-nll
tutti curve runs/stripes --split validation-5 --budgets 2,4 --members 1,3 --json
expect_code 0
expect_json 3
expect_json 2 0 budget
expect_json 1 0 members
expect_json 3 2 members
expect_json validation-5 2 evaluation 0 split
expect_json test-5 2 evaluation 1 split
# Points beyond the run are refused; those within it that lack finished trials are left out.
tutti curve runs/stripes --members 5
expect_code 2
expect_empty out
expect_err "expected ensembles of at most 4 members, the finished trials of runs/stripes; found 5"
tutti curve runs/stripes --budgets 4,100
expect_code 2
expect_empty out
expect_err "expected budgets of at most 4, the trials of runs/stripes; found 100"
tutti curve runs/stripes --budgets 2 --members 3
expect_code 0
expect_out "No ensemble: none of these budgets has enough trials that may be members."
expect_err "runs/stripes: no ensemble of 3 from the first 2 trials: of these, 2 may be members"
tutti curve runs/stripes --budgets 0
expect_code 2
expect_err "--budgets: expected positive numbers"
tutti curve runs/stripes --members 1,x
expect_code 2
expect_err "--members: expected positive numbers"
tutti curve runs/stripes --split test
expect_code 2
expect_err "expected a validation split"
tutti curve runs/none
expect_code 2

# Inputs out of distribution: how unsure the ensemble is.
tutti run stripes.ini --set data.ood_noise=40 --set data.ood_path="$folder/images.idx" --set data.shift= --quiet --json \
  --out outside
expect_code 0
expect_json 4 evaluation
expect_json ood evaluation 2 split
expect_json ood-noise evaluation 3 split
expect_json auroc-entropy evaluation 3 metrics 3 name
tutti evaluate outside
expect_code 0
expect_out ood ood-noise auroc-confidence
tutti select outside --split ood
expect_code 2

# New images, through the kept scale.
tutti predict runs/stripes images.idx
expect_code 0
checks=$((checks + 1))
[ "$(wc -l <out)" = 91 ] || complain "expected a line for each image"

# Other images, other data.
printf 'x' | dd of=images.idx bs=1 seek=20000 conv=notrunc 2>dd.log
tutti run stripes.ini --resume
expect_code 2
expect_err images.idx "the data have changed" fingerprint
finish
