#!/bin/bash
# What is read is checked before it is used: a changed bit anywhere in a run gives the same bits as before or a message that
# names the file, a space that has changed does not change predictions, and no backend gets odd numbers past the guard.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
read -ra cc <<< "$CC"
read -ra flags <<< "${TUTTI_TEST_CFLAGS:-}"
mkdir plugins
# build OUTPUT SOURCE FLAGS...: a plugin
build() {
  local output=$1 source=$2
  shift 2
  "${cc[@]}" "${flags[@]}" -std=c11 -shared -fPIC "$@" -I"$TUTTI_TEST_SRCDIR/include" \
    "$TUTTI_TEST_SRCDIR/tests/cli/$source" -o "plugins/$output" || { echo "cannot build $output"; exit 1; }
}
make_table
cut -d, -f1-3 table.csv >new.csv
regression_recipe >small.ini
classification_recipe >classes.ini

# --- bits ---

tutti run small.ini --out run --quiet
expect_code 0
cp -r run whole
commands=("status run --json" "select run --json" "evaluate run --json" "predict run new.csv" "compare run --json")
for c in "${!commands[@]}"; do
  # shellcheck disable=SC2086
  tutti ${commands[c]}
  expect_code 0
  cp out "before-$c"
done
member=$("$json_value" run/ensemble.json members 0 trial)
member=trials/$(printf %06d "$member")

# flip FILE PLACE: change the lowest bit of the byte at a place, from the end if it is negative.
flip() {
  local place=$2 byte
  [ "$place" -ge 0 ] || place=$(($(stat -c %s "$1") + place))
  byte=$(od -An -tu1 -j "$place" -N1 "$1")
  # shellcheck disable=SC2059
  printf "\\x$(printf %x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$place" conv=notrunc status=none
}

# Every command gives the same bits, or a message that names the file.
expect_noticed() {
  local file=$1 c noticed=0
  for c in "${!commands[@]}"; do
    # shellcheck disable=SC2086
    tutti ${commands[c]}
    checks=$((checks + 1))
    if [ "$code" -eq 0 ] && cmp -s out "before-$c"; then
      continue
    fi
    noticed=$((noticed + 1))
    cat out err >both
    expect_in both "$(basename "$file")"
    case ${commands[c]} in
    compare*) ;; # the run is left out, with the reason
    *) if [ "$code" -eq 0 ] || [ -s out ]; then complain "expected no result with a changed bit in $file"; fi ;;
    esac
  done
  checks=$((checks + 1))
  [ $noticed -gt 0 ] || complain "expected that some command notices a changed bit in $file"
}

for file in recipe.ini data.json splits/test-rows.npy splits/test-targets.npy splits/validation-targets.npy \
  $member/validation.npy $member/test.npy $member/weights.safetensors $member/network.json; do
  for place in 40 300 -3; do
    cp "whole/$file" "run/$file"
    [ "$place" -lt "$(stat -c %s "run/$file")" ] || continue
    flip "run/$file" "$place"
    expect_noticed "$file"
  done
  cp "whole/$file" "run/$file"
done
# The two files of the result have each other: a digit of a weight, and one of a metric.
cp -r whole/. run
sed -i '0,/"weight": 0\.3/s//"weight": 0.2/' run/ensemble.json
expect_noticed ensemble.json
cp -r whole/. run
sed -i '/"rmse"/,$s/"value": 0\.2/"value": 0.1/' run/summary.json
expect_noticed summary.json

# A file that is gone is missed with what to do.
cp -r whole/. run
rm "run/$member/network.json"
tutti predict run new.csv
expect_code 1
expect_err "$member/network.json: cannot open" "go on with the run to mend it (--resume)"

# Going on with the run mends all of them.
cp -r whole/. run
for file in data.json splits/test-targets.npy $member/validation.npy $member/weights.safetensors $member/network.json \
  ensemble.json summary.json; do
  flip "run/$file" 90
done
tutti run small.ini --out run --resume
expect_code 0
expect_err data.json "written again" "$member" "trained again"
diff -r -x lock -x worker.log -x 'catalogue.sqlite*' whole run >out 2>err || complain "expected the same files, byte by byte"

# --- a space that has changed ---

build space-turned.so turned.c -DVERSION=1
export TUTTI_PLUGIN_PATH=$PWD/plugins:$TUTTI_PLUGIN_PATH
sed 's/plugin = mlp/plugin = turned/; s/^name = .*/name = turned/' small.ini >turned.ini
tutti run turned.ini --quiet
expect_code 0
tutti predict runs/turned new.csv
expect_code 0
expect_empty err
cp out predicted
cp -r runs/turned turned
for version in 2 3; do
  build space-turned.so turned.c -DVERSION=$version
  tutti predict runs/turned new.csv
  expect_code 0
  cmp -s out predicted || complain "expected the predictions of the network that was trained"
  expect_err "space turned" "was trained"
done
expect_err "no genotype makes a network any more"
# Going on with such a run says so, too.
build space-turned.so turned.c -DVERSION=2
tutti run turned.ini --out turned --resume --quiet
expect_code 0
expect_err "space turned" "another network" "was trained"

# --- odd backends ---

build backend-odd.so odd.c
for recipe in small classes; do
  sed 's/plugin = cpu/plugin = odd/; /^epochs/d; /^learning_rate/d; s/^budget = .*/budget = 6/' $recipe.ini >$recipe-odd.ini
done
# odd HOW RECIPE FAILED TEXT...: so many of six trials fail ("some": at least one and not all), for that reason, and the
# run does not hang.
odd() {
  local how=$1 recipe=$2 failed=$3
  shift 3
  rm -rf odd
  timeout 60 "$TUTTI_PROGRAM" run "$recipe-odd.ini" --out odd --workers 1 --set backend.how="$how" --quiet >out 2>err </dev/null
  code=$?
  what="tutti run $recipe-odd.ini with backend.how = $how"
  checks=$((checks + 1))
  [ $code -ne 124 ] || complain "expected an end"
  [ "$failed" = 6 ] || expect_code 0
  tutti status odd --json
  if [ "$failed" = some ]; then
    failed=$("$json_value" out trials failed)
    if [ "$failed" -eq 0 ] || [ "$failed" -eq 6 ]; then complain "expected that some trials fail, found $failed"; fi
  fi
  expect_json "$failed" trials failed
  [ $# -eq 0 ] || expect_in out "$@"
}
odd fine small 0
odd nan small 3 "backend odd" "predictions on split validation are not finite"
odd infinite small 3 "backend odd" "not finite"
odd negative small 3 "backend odd" "negative variance"
odd nan classes 3 "backend odd" "not finite"
odd negative classes 3 "backend odd" "negative probability"
odd sum classes 3 "backend odd" "do not sum to one"
odd weightless small 3 "backend odd broke its contract" "without weights"
odd twice small 0
odd outside small 0
odd text small 6
odd never small some "backend odd broke its contract" "never called done"
odd error small some "the odd device went away"
# A trial that was pruned before it had weights has nothing to predict with.
timeout 60 "$TUTTI_PROGRAM" run small-odd.ini --out pruned --set backend.how=pruned --quiet >out 2>err </dev/null
code=$?
expect_code 1
expect_err "none of 6 trials finished"
tutti status pruned --json
expect_json pruned all_trials 5 state

# Without the summary, nothing says that the ensemble is the one that was chosen.
tutti run small.ini --out bare --quiet
expect_code 0
rm bare/summary.json
for command in "status bare" "predict bare table.csv" "evaluate bare"; do
  # shellcheck disable=SC2086
  tutti $command
  expect_code 1
  expect_err "bare/summary.json: it is gone"
done
tutti run small.ini --out bare --resume --quiet
expect_code 0

# Runs of an ablation share a catalogue, whose record of files has one of their recipes: each has its own checked.
tutti ablate small.ini --swap selector.size=1,3 --seeds 1 --out ablation --quiet
expect_code 0
for run in ablation/runs/*; do
  [ -L "$run/catalogue.sqlite" ] || continue
  tutti evaluate "$run"
  expect_code 0
  sed -i 's/^size = .*/size = 2/' "$run/recipe.ini"
  tutti select "$run"
  expect_code 1
  expect_err "$run/recipe.ini: it is not what it was"
done
finish
