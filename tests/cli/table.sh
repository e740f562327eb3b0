#!/bin/bash
# Searches in a table of results: NAS-Bench-201's cells in a table of our own, which lacks some; ensembles without predictions.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
ini=$TUTTI_TEST_SRCDIR/ini/nes

# All cells without avg_pool_3x3 on the last edge. The more convolutions of 3 x 3, the better; the tests' numbers are one higher.
awk 'BEGIN {
  split("none skip_connect nor_conv_1x1 nor_conv_3x3 avg_pool_3x3", name, " ")
  print "arch,c10_val_e12,c10_test_e12,c10_test_e200"
  for (i = 0; i < 12500; i++) {
    rest = i; good = 0
    for (e = 6; e >= 1; e--) {
      o = e == 6 ? int(i / 3125) : rest % 5
      if (e < 6) rest = int(rest / 5)
      edge[e] = name[o + 1]
      good += o == 3 ? 3 : o == 2 ? 2 : o == 1 ? 1 : 0
    }
    printf "|%s~0|+|%s~0|%s~1|+|%s~0|%s~1|%s~2|,%d,%d,%d\n", edge[1], edge[2], edge[3], edge[4], edge[5], edge[6],
      70 + good, 71 + good, 72 + good
  }
}' | gzip >cells.csv.gz

# A random search fails where there is no entry, and says which and in what file; the rest is a result.
tutti run "$ini/nasbench201.ini" --set backend.path=cells.csv.gz --set run.budget=60 --out rs
expect_code 0
expect_out "builder nes-rs, space nasbench201, backend table, selector top-m" "Ensemble of 5, chosen by top-m (value)" \
  "backend table gives no predictions" "c10_test_e200" "mean" ": no entry for |"
tutti status rs --json
failure=$("$json_value" out all_trials 0 failure)
for trial in $(seq 59); do
  [ -n "$failure" ] || failure=$("$json_value" out all_trials "$trial" failure)
done
checks=$((checks + 1))
case $failure in
"no entry for |"*"|avg_pool_3x3~2| in column 'arch' of "*cells.csv.gz) ;;
*) complain "expected a failure that names the cell and the file, found '$failure'" ;;
esac

# Evolution finds the best cell in 400 trials, each told before the next is asked for.
for how in re evolution; do
  tutti run "$ini/nasbench201-$how.ini" --set backend.path=cells.csv.gz --out "$how" --json
  expect_code 0
  checks=$((checks + 1))
  [ "$("$json_value" out trials done)" = 400 ] || complain "expected 400 trials"
  [ "$("$json_value" out best measures c10_val_e12)" = 88.0 ] || complain "$how: expected the best cell of the table"
  # The members are different cells, in the order of their losses, with numbers of their own.
  checks=$((checks + 1))
  for member in 0 1 2 3 4; do "$json_value" out values members "$member" architecture; done | sort | uniq -d | grep . &&
    complain "a cell is a member twice"
  checks=$((checks + 1))
  valid=$("$json_value" out values mean measures c10_val_e12)
  test=$("$json_value" out values mean measures c10_test_e200)
  awk -v v="$valid" -v t="$test" 'BEGIN { exit !(t - v > 1.999 && t - v < 2.001) }' || complain "means: $valid and $test"
done

# The same bits whatever the number of workers, and after an interruption.
tutti run "$ini/nasbench201-re.ini" --set backend.path=cells.csv.gz --set run.window=8 --workers 1 --out one
tutti run "$ini/nasbench201-re.ini" --set backend.path=cells.csv.gz --set run.window=8 --workers 2 --out two
checks=$((checks + 1))
cmp -s one/ensemble.json two/ensemble.json || complain "one worker and two: expected the same ensemble"

# Other selections of the pool; predictions that are not there.
tutti select re --set selector.size=2
expect_code 0
expect_out "Ensemble of 2, chosen by top-m" "c10_test_e200" "backend table gives no predictions"
tutti select re --set selector.size=2 --keep
expect_code 0
tutti status re
expect_code 0
expect_out "Ensemble of 2, chosen by top-m"
tutti select re --set selector.plugin=forward
expect_code 2
expect_err "re: trials of backend table have no predictions, and selector forward chooses by them"
for what in evaluate curve; do
  tutti $what re
  expect_code 2
  expect_err "backend table works without data"
done

# What cannot be: told before anything is looked up.
tutti run "$ini/nasbench201-re.ini" --set backend.path=cells.csv.gz --set builder.parent_selector=forward
expect_usage_error "[builder] parent_selector: selector forward chooses by predictions" "top-m"
tutti run "$ini/nasbench201-re.ini" --set backend.path=cells.csv.gz --set builder.severities="0 5"
expect_usage_error "severities: 5"
tutti run "$ini/nasbench201.ini" --set backend.path=cells.csv.gz --set selector.loss=nll
expect_usage_error "loss = nll is not defined for a task without data"
tutti run "$ini/nasbench201.ini" --set backend.path=cells.csv.gz --set backend.objective=c10_vale12
expect_usage_error "cells.csv.gz:1: expected a column 'c10_vale12'" "did you mean 'c10_val_e12'?"
tutti run "$ini/nasbench201.ini" --set backend.path=nowhere.csv
expect_usage_error "nowhere.csv: cannot open"
printf 'arch,c10_val_e12,c10_test_e12,c10_test_e200\na,1,1,1\nb,1,1,1\na,1,1,1\n' >twice.csv
tutti run "$ini/nasbench201.ini" --set backend.path=twice.csv
expect_usage_error "twice.csv:4: column 'arch' has 'a' again, which is also in line 2"
head -c 3000 cells.csv.gz >torn.csv.gz
tutti validate "$ini/nasbench201.ini" --set backend.path=torn.csv.gz
expect_usage_error "torn.csv.gz:" "torn: the compressed file breaks off here"

# With a selector that needs predictions there is a best trial and no ensemble.
tutti run "$ini/nasbench201.ini" --set backend.path=cells.csv.gz --set run.budget=20 --set selector.plugin=forward --out plain
expect_code 0
expect_out "best        trial" "c10_test_e200"
expect_not_in out "Ensemble"
expect_out "ensemble    none: trials of backend table have no predictions, and selector forward chooses by them"
expect_absent plain/ensemble.json
# A deep ensemble of the table's best cell, on images: a run without data has trained on none of their rows.
mkdir images
for part in train t10k; do
  {
    printf '\000\000\010\003\000\000\000\036\000\000\000\010\000\000\000\010'
    LC_ALL=C awk 'BEGIN { srand(1); for (i = 0; i < 30 * 64; i++) printf "%c", 1 + int(120 * rand()) }'
  } >images/$part-images-idx3-ubyte
  {
    printf '\000\000\010\001\000\000\000\036'
    printf '\000\001\002%.0s' $(seq 10)
  } >images/$part-labels-idx1-ubyte
done
tutti status re --json
best=$("$json_value" out best candidate architecture)
tutti run "$ini/fashion-mnist-small-deepens.ini" --set data.path=images --set data.limit=0 --set space.plugin=nasbench201 \
  --set space.cells=1 --set space.channels=2 --set hyperparameters.epochs=1 --set run.budget=2 --set builder.from=re --out deep
expect_code 0
expect_out "Ensemble of 2" "$best"
finish
