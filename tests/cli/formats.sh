#!/bin/bash
# docs/formats.md: the program in it predicts, from the files of a run alone, what tutti predict does.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
find_numpy
make_table
regression_recipe >small.ini
tutti run small.ini --out run --quiet --set space.plugin=mlp --set space.activations='relu tanh swish'
expect_code 0
sed -n '/^```python$/,/^```$/p' "$TUTTI_TEST_SRCDIR/docs/formats.md" | sed '/^```/d' >reader.py
"$python" reader.py run table.csv >means 2>err
code=$? what="reader.py"
expect_code 0
tutti predict run table.csv
expect_code 0
checks=$((checks + 1))
sed 1d out | cut -d, -f2 | paste -d' ' - means | awk '{d = $1 - $2; if (d < 0) d = -d; if (d > 1e-5) bad++; n++} END {exit bad > 0 || n != 120}' ||
  complain "the program in docs/formats.md predicts otherwise"
for op in dense conv2d head-gaussian; do
  tutti inspect op/$op
  expect_code 0
done
expect_out "floor = 0" "The least"
tutti inspect op/dance
expect_usage_error "there is no op 'dance'; did you mean 'dense'?"
finish
