#!/bin/bash
# Every recipe of ini/nes is sound, on a few images of the shapes of the published data; those with data sets and cells of their own
# also train, in small.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
ini=$TUTTI_TEST_SRCDIR/ini/nes

# bytes COUNT SEED EVERY: so many random bytes; where EVERY is not 0, each EVERYth one is a label, 0 or 1 by turns.
bytes() { LC_ALL=C awk -v n="$1" -v seed="$2" -v every="$3" 'BEGIN { srand(seed); for (i = 0; i < n; i++)
  printf "%c", every && i % every < 1 ? int(i / every) % 2 : 1 + int(200 * rand()) }'; }
# npy FILE TYPE SHAPE: the header of an array, for the bytes on stdin.
npy() {
  local header="{'descr': '$2', 'fortran_order': False, 'shape': ($3), }"
  {
    printf '\223NUMPY\1\0\166\0%-117s\n' "$header"
    cat
  } >"$1"
}

mkdir cifar cifar100
for i in 1 2 3 4 5; do bytes $((4 * 3073)) "$i" 3073 >"cifar/data_batch_$i.bin"; done
bytes $((4 * 3073)) 6 3073 >cifar/test_batch.bin
for name in train test; do
  for ((i = 0; i < 10; i++)); do
    printf '\0%b' "\\00$((i % 2))"
    bytes 3072 "$i" 0
  done >"cifar100/$name.bin"
done
for side in 16 64; do
  bytes $((12 * side * side * 3)) "$side" 0 | npy "train$side.npy" '|u1' "12, $side, $side, 3"
  bytes $((4 * side * side * 3)) "$side" 0 | npy "test$side.npy" '|u1' "4, $side, $side, 3"
done
for ((i = 0; i < 12; i++)); do printf '%b\0\0\0' "\\00$((i % 2))"; done | npy train-labels.npy '<i4' "12,"
for ((i = 0; i < 4; i++)); do printf '%b\0\0\0' "\\00$((i % 2))"; done | npy test-labels.npy '<i4' "4,"
mkdir idx
for name in train t10k; do
  { printf '\0\0\10\3\0\0\0\14\0\0\0\34\0\0\0\34' && bytes $((12 * 784)) 7 0; } >idx/$name-images-idx3-ubyte
  { printf '\0\0\10\1\0\0\0\14' && for ((i = 0; i < 12; i++)); do printf '%b' "\\00$((i % 2))"; done; } >idx/$name-labels-idx1-ubyte
done
printf 'arch,c10_val_e12,c10_test_e12,c10_test_e200\n|none~0|+|none~0|none~1|+|none~0|none~1|none~2|,10,10,10\n' >cells.csv

# arguments RECIPE: what stands for its data here.
arguments() {
  common=(--set data.cache=cache)
  case $1 in
  nasbench201*) arguments=(--set backend.path=cells.csv) ;;
  fashion*) arguments=("${common[@]}" --set data.path=idx --set data.limit=0) ;;
  cifar100*) arguments=("${common[@]}" --set data.path=cifar100) ;;
  cifar10*) arguments=("${common[@]}" --set data.path=cifar) ;;
  tiny* | imagenet16*)
    side=64
    [ "${1#tiny}" != "$1" ] || side=16
    arguments=("${common[@]}" --set "data.path=train$side.npy" --set data.target_path=train-labels.npy
      --set "data.test_path=test$side.npy" --set data.test_target_path=test-labels.npy --set "data.split=8 4")
    ;;
  esac
}

for file in "$ini"/*.ini; do
  recipe=$(basename "$file" .ini)
  arguments "$recipe"
  tutti validate "$file" "${arguments[@]}"
  expect_code 0
  expect_out "The recipe is valid"
done

# resolves RECIPE SECTION KEY VALUE...: what the recipe of its run says, which has everything that it extends.
resolves() {
  local recipe=$1 found
  shift
  arguments "$recipe"
  tutti run "$ini/$recipe.ini" "${arguments[@]}" --set run.time=1e-9 --out "written-$recipe"
  while [ $# -gt 0 ]; do
    checks=$((checks + 1))
    found=$(awk -v section="[$1]" -v key="$2" '/^\[/ { here = $0 == section } here && $1 == key { print $3; exit }' "written-$recipe/recipe.ini")
    [ "$found" = "$3" ] || complain "expected $1.$2 = $3 in $recipe, found ${found:-nothing}"
    shift 3
  done
}

# Pools of K networks, ensembles of ten (B.3; Table 1), and ten candidates for parents (B.4); of three on ImageNet-16-120 (Figure 7).
for data in fashion-mnist:400 cifar10:400 cifar10-tuned:400 cifar10-large:90 cifar100:400 cifar100-tuned:400 cifar100-large:90 \
  tiny-imagenet:200; do
  recipe=${data%:*}
  resolves "$recipe" run budget "${data#*:}" selector size 10
  resolves "$recipe-re" run budget "${data#*:}" selector size 10 builder parents 10
done
for recipe in cifar10-hyperens cifar100-hyperens cifar10-tuned-depth-width cifar100-tuned-depth-width cifar10-deepens-es; do
  resolves "$recipe" run budget 400 selector size 10
done
for recipe in fashion-mnist-deepens cifar10-large-deepens cifar100-large-deepens cifar10-deepens cifar10-deepens-darts cifar10-tuned-deepens \
  cifar100-deepens cifar100-tuned-deepens tiny-imagenet-deepens; do
  resolves "$recipe" run budget 10 selector plugin all
done
resolves imagenet16-120 run budget 1000 selector size 3
resolves imagenet16-120-re run budget 1000 selector size 3 builder parents 10

# The cells of the other baselines, in networks as large.
arguments cifar10-large-deepens
for cell in darts-v2 amoebanet-a; do
  tutti validate "$ini/cifar10-large-deepens.ini" "${arguments[@]}" --set space.plugin=depth-width --set "space.cell=$cell" \
    --set space.cells=20 --set space.channels=36
  expect_code 0
done

# small RECIPE OPTIONS: run it with two tiny networks.
small() {
  local recipe=$1
  shift
  arguments "$recipe"
  tutti run "$ini/$recipe.ini" "${arguments[@]}" --set run.budget=2 --set hyperparameters.epochs=1 --set space.channels=4 \
    --set hyperparameters.batch_size=4 --set data.shift= --set selector.plugin=all --out "run-$recipe" "$@"
  expect_code 0
  expect_out "2 of 2 done, 0 failed"
}
small tiny-imagenet --set space.cells=3
small tiny-imagenet-deepens-darts --set space.cells=3
small cifar10-deepens-amoebanet --set space.cells=3
small imagenet16-120-deepens-gdas --set space.cells=1
expect_out '|nor_conv_3x3~0|+|nor_conv_3x3~0|none~1|+|nor_conv_1x1~0|nor_conv_3x3~1|nor_conv_3x3~2|'
small imagenet16-120-deepens-optimal --set space.cells=1
expect_out '|nor_conv_3x3~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|nor_conv_1x1~0|nor_conv_1x1~1|nor_conv_3x3~2|'

# A cell's name may be wrong; colours are of images that have some.
tutti validate "$ini/imagenet16-120-deepens-gdas.ini" "${arguments[@]}" --set space.cell=gdsa
expect_code 2
expect_err "[space] cell: expected a cell like" "did you mean 'gdas'?"
arguments fashion-mnist-small
tutti validate "$ini/fashion-mnist-small.ini" "${arguments[@]}" --set backend.augment_hue=0.1
expect_code 2
expect_err "backend.augment_hue: images of 1 channel"
arguments tiny-imagenet
tutti validate "$ini/tiny-imagenet.ini" "${arguments[@]}" --set hyperparameters.augment_padding=4
expect_code 2
expect_err "augment_padding and augment_crop are two kinds of crops"
finish
