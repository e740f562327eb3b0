#!/bin/bash
# The recipes of ini/nes train as the paper does: what runs of them write as their recipes has the values that stand in
# docs/fidelity.md.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
ini=$TUTTI_TEST_SRCDIR/ini/nes

# make_images PREFIX COUNT: an idx file of COUNT images of 8 x 8, and one of their labels 0, 1, 2.
make_images() {
  {
    printf '\000\000\010\003\000\000\000%b\000\000\000\010\000\000\000\010' "\\0$(printf %o "$2")"
    LC_ALL=C awk -v n="$2" 'BEGIN { srand(1); for (i = 0; i < 64 * n; i++) printf "%c", 1 + int(120 * rand()) }'
  } >"images/$1-images-idx3-ubyte"
  {
    printf '\000\000\010\001\000\000\000%b' "\\0$(printf %o "$2")"
    for ((i = 0; i < $2; i++)); do printf '%b' "\\00$((i % 3))"; done
  } >"images/$1-labels-idx1-ubyte"
}
mkdir images cifar
make_images train 60
make_images t10k 20

# make_batch NAME: a file of CIFAR-10 with ten images.
make_batch() {
  for ((i = 0; i < 10; i++)); do
    printf '%b' "\\00$((i % 3))"
    LC_ALL=C awk -v seed="$i" 'BEGIN { srand(seed); for (p = 0; p < 3072; p++) printf "%c", 1 + int(120 * rand()) }'
  done >"cifar/$1.bin"
}
for batch in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do make_batch "$batch"; done

# run_recipe NAME FOLDER [--set KEY=VALUE]...: with networks and data so small that it takes a moment.
run_recipe() {
  local name=$1 data=$2
  shift 2
  tutti run "$ini/$name.ini" --out "$name" --workers 1 --set "data.path=$data" --set data.limit=0 --set run.budget=2 --set selector.plugin=all \
    --set hyperparameters.epochs=1 --set hyperparameters.batch_size=20 "$@"
  expect_code 0
  # weight_decay = 3e-4 of PyTorch acts on all that is trained, and its initialisation is its own
  expect_in "$name/recipe.ini" "l2_biases = true" "initialiser = pytorch" "bins = 10"
}

# Fashion-MNIST is not shifted.
for name in fashion-mnist fashion-mnist-re fashion-mnist-small fashion-mnist-small-re fashion-mnist-small-deepens; do
  run_recipe "$name" images --set space.cells=2 --set space.channels=4
  checks=$((checks + 1))
  ! grep -q '^shift = [0-9]' "$name/recipe.ini" || complain "expected no shift in $name"
done

# Networks of the paper's size take as long as they need.
for name in fashion-mnist fashion-mnist-re; do
  expect_in "$name/recipe.ini" "trial_timeout = inf"
done

# CIFAR is, by all severities, and evolution chooses parents at none or the largest.
for name in cifar10 cifar10-re cifar10-deepens cifar10-hyperens; do
  run_recipe "$name" cifar --set space.cells=2 --set space.channels=4
  expect_in "$name/recipe.ini" "shift = 1 2 3 4 5" "trial_timeout = inf"
done
expect_in cifar10-re/recipe.ini "severities = 0 5" "population = 50" "parents = 10"
finish
