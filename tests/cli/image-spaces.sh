#!/bin/bash
# The recipes of image networks train, on images of 8 x 8 that a shell can make, and are resumed with the same bits.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
ini=$TUTTI_TEST_SRCDIR/ini

# make_images PREFIX COUNT: an idx file of COUNT images of 8 x 8, and one of their labels 0, 1, 2; the label darkens a third.
make_images() {
  {
    printf '\000\000\010\003\000\000\000%b\000\000\000\010\000\000\000\010' "\\0$(printf %o "$2")"
    LC_ALL=C awk -v n="$2" 'BEGIN { srand(1); for (i = 0; i < n; i++) for (p = 0; p < 64; p++)
      printf "%c", 1 + int(60 * rand()) + (int(p / 22) == i % 3 ? 60 : 0) }'
  } >"images/$1-images-idx3-ubyte"
  {
    printf '\000\000\010\001\000\000\000%b' "\\0$(printf %o "$2")"
    for ((i = 0; i < $2; i++)); do printf '%b' "\\00$((i % 3))"; done
  } >"images/$1-labels-idx1-ubyte"
}
mkdir images
make_images train 120
make_images t10k 30

# small NAME: the options that run the recipe fashion-mnist-smallNAME.ini on them in a moment.
small() {
  arguments=("$ini/nes/fashion-mnist-small$1.ini" --set data.path=images --set data.limit=0 --set run.budget=8
    --set run.window=2 --set hyperparameters.epochs=1 --set hyperparameters.batch_size=20 --set selector.size=2)
}

small ""
tutti run "${arguments[@]}" --out darts --set space.cells=3 --set space.channels=4
expect_code 0
expect_out "8 of 8 done, 0 failed" "Ensemble of 2"
small -depth-width
tutti run "${arguments[@]}" --out depth-width --set space.cells=2,3 --set space.channels=4,6
expect_code 0
expect_out "8 of 8 done, 0 failed"
small -nasbench201
tutti run "${arguments[@]}" --out nasbench201 --set space.channels=4 --set builder.population=4 --set builder.parents=2
expect_code 0
expect_out "8 of 8 done, 0 failed"

cat >layer-graph.ini <<'INI'
[run]
budget = 2
[data]
plugin = idx
path = images
[space]
plugin = layer-graph-cnn
[hyperparameters]
epochs = 1
batch_size = 20
[builder]
plugin = nes-rs
[selector]
size = 2
INI
tutti run layer-graph.ini --out layer-graph
expect_code 0
expect_out "2 of 2 done, 0 failed"

# Evolution, whole and interrupted after the first children.
small -re
arguments+=(--set space.cells=3 --set space.channels=4 --set builder.population=3 --set builder.parents=2)
tutti run "${arguments[@]}" --out whole --workers 2
expect_code 0
expect_out "8 of 8 done, 0 failed"
env --default-signal=INT "$TUTTI_PROGRAM" run "${arguments[@]}" --out parts --workers 1 >out 2>err &
run=$!
while kill -0 $run 2>kill-err && [ ! -e parts/trials/000005 ]; do sleep 0.05; done
kill -INT $run 2>kill-err
wait $run
tutti run parts/recipe.ini --out parts --resume
expect_code 0
for file in summary.json ensemble.json; do
  checks=$((checks + 1))
  cmp -s "whole/$file" "parts/$file" || complain "expected the same $file"
done

# What a recipe may get wrong.
tutti run "${arguments[@]}" --out wrong --set builder.parents=5
expect_code 2
expect_err "parents: 5 is more than population, 3"
tutti run "${arguments[@]}" --out wrong --set builder.severities=5
expect_code 2
expect_err "severities: 5 (data.shift makes shifted rows): the data have no rows in a split 'validation-5'"
tutti run "$ini/quickstart.ini" --set space.plugin=darts --out wrong
expect_code 2
expect_err "convolutional networks need images; the data's rows have the shape 1 x 1 x 1"
expect_absent wrong

# The recipes at the settings of the paper are sound.
for recipe in fashion-mnist fashion-mnist-re fashion-mnist-small-deepens; do
  tutti validate "$ini/nes/$recipe.ini" --set data.path=images --set data.limit=0
  expect_code 0
  expect_out "The recipe is valid"
done
finish
