#!/bin/bash
# Networks of images in backend cuda on an emulated GPU, as a run uses it: neural ensemble search on images of 8 x 8 by
# workers that train several networks at once, killed and resumed, the same bits; and beside backend cpu.
. "$TUTTI_TEST_SRCDIR/tests/cli/cuda-harness.sh"

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
make_images train 60
make_images t10k 20
small=("$TUTTI_TEST_SRCDIR/ini/nes/fashion-mnist-small.ini" --set data.path=images --set data.limit=0
  --set run.budget=5 --set run.window=3 --set hyperparameters.epochs=2 --set hyperparameters.batch_size=15
  --set hyperparameters.augment_flip=yes --set selector.size=2 --set space.cells=3 --set space.channels=4 --quiet)

torn_epochs=300

run_whole 5 "${small[@]}"
run_beside 1e-3 "${small[@]}"
run_torn "${small[@]}"

for precision in tf32 bfloat16; do
  run_whole 5 "${small[@]}" --set backend.precision=$precision
done
run_torn "${small[@]}" --set backend.precision=bfloat16

if ! on_device; then
  strike "${small[@]}" --set run.budget=7 --set hyperparameters.epochs=12
  expect_out "7 of 7 done"

  # Each worker has a device, and the manager, whose checks ask what networks need, begins with none.
  export TUTTI_EMULATED_DEVICES=3 TUTTI_EMULATED_LOG=$PWD/devices
  tutti run "${small[@]}" --set backend.plugin=cuda --workers 2 --set executor.devices=2,1 --out shared
  expect_code 0
  unset TUTTI_EMULATED_DEVICES TUTTI_EMULATED_LOG
  checks=$((checks + 1))
  [ "$(cut -d' ' -f1 devices | sort | tr '\n' ' ')" = "1 2 " ] || complain "expected devices 1 and 2, found $(cat devices)"

  # A device that is too small is refused with need and limit, before anything is trained.
  TUTTI_EMULATED_MEMORY=8 tutti run "${small[@]}" --set backend.plugin=cuda --out none
  checks=$((checks + 1))
  [ $code -ne 0 ] || complain "expected a refusal"
  expect_err "and the device has 8 MiB"
fi
finish
