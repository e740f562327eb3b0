#!/bin/bash
# docs/formats.md: the program in it predicts, from the files of a run alone, what tutti predict does.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
find_numpy
make_table
regression_recipe >small.ini
sed -n '/^```python$/,/^```$/p' "$TUTTI_TEST_SRCDIR/docs/formats.md" | sed '/^```/d' >reader.py
# New rows: half of them beyond those of the data.
awk -F, -v OFS=, 'NR > 1 {$1 *= 2; $2 = $2 * 3 - 1} {print}' table.csv >new.csv
# expect_same_means SETTING...: a run with these settings is read right.
expect_same_means() {
  rm -rf run
  tutti run small.ini --out run --quiet --set space.plugin=mlp --set space.activations='relu tanh swish' "$@"
  expect_code 0
  "$python" reader.py run new.csv >means 2>err
  code=$? what="reader.py $*"
  expect_code 0
  tutti predict run new.csv
  expect_code 0
  checks=$((checks + 1))
  sed 1d out | cut -d, -f2 | paste -d' ' - means | awk '{d = $1 - $2; if (d < 0) d = -d; if (d > 1e-5) bad++; n++} END {exit bad > 0 || n != 120}' ||
    complain "the program in docs/formats.md predicts otherwise $*"
}
expect_same_means
expect_same_means --set data.scaling=robust
expect_same_means --set data.scaling=quantile-normal --set data.quantiles=9
expect_same_means --set data.scaling=quantile-uniform --set data.bins=5
for op in dense conv2d head-gaussian; do
  tutti inspect op/$op
  expect_code 0
done
expect_out "floor = 0" "The least"
tutti inspect op/dance
expect_usage_error "there is no op 'dance'; did you mean 'dense'?"
finish
