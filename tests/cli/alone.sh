#!/bin/bash
# A finished run needs nothing but its directory: every command that looks at it gives the same bits after its data were
# changed or deleted, and from a copy at another path that another user reads.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
export XDG_CACHE_HOME=$folder/caches
make_table
cut -d, -f1-3 table.csv >new.csv
regression_recipe >small.ini
classification_recipe >classes.ini

make_stripes
stripes_recipe >stripes.ini

runs='small classes stripes'
for run in $runs; do
  tutti run "$run.ini" --quiet
  expect_code 0
done

# look_at FOLDER INTO [COMMAND...]: write what every command says of the runs in FOLDER to files in INTO.
look_at() {
  local from=$1 into=$2 run new
  shift 2
  mkdir -p "$into"
  for run in $runs; do
    new=new.csv
    [ "$run" != stripes ] || new=$folder/kept.idx
    keep "$into/$run-status" "$@" status "$from/$run" --json
    sed -i '/"directory"/d' "$into/$run-status"
    keep "$into/$run-evaluate" "$@" evaluate "$from/$run" --json
    keep "$into/$run-select" "$@" select "$from/$run" --set selector.plugin=top-m --set selector.size=2 --json
    keep "$into/$run-curve" "$@" curve "$from/$run" --json
    keep "$into/$run-predict" "$@" predict "$from/$run" "$new"
    keep "$into/$run-compare" "$@" compare "$from/$run"
    keep "$into/$run-retrace" "$@" compare "$from/$run" --over-time 1 --reselect
    sed -i 's|[^ ]*/||' "$into/$run-compare" "$into/$run-retrace"
  done
  keep "$into/stripes-shifted" "$@" select "$from/stripes" --split validation-5 --json
}

keep() {
  local to=$1
  shift
  what="tutti $*"
  as_user "$@" >out 2>err </dev/null
  code=$?
  expect_code 0
  expect_empty err
  cp out "$to"
}

as_user() { "$TUTTI_PROGRAM" "$@"; }

expect_same() {
  what="what commands say $1"
  checks=$((checks + 1))
  diff -r before "$1" >out 2>err || complain "expected the same bits as before"
}

cp images.idx kept.idx
look_at runs before

# The training files change: the labels change places, the numbers their scale.
sed -i 's/up$/UP/; s/down$/up/; s/UP$/down/; s/^[0-9]/3&/' table.csv
printf '\1' | dd of=labels.idx bs=1 seek=8 conv=notrunc status=none
look_at runs changed
expect_same changed
tutti run small.ini --resume
expect_code 2
expect_err runs/small table.csv fingerprint "begin a new run"

# They go, with the cache of shifted images.
rm -r table.csv images.idx labels.idx caches
look_at runs gone
expect_same gone
tutti run small.ini --resume
expect_code 2
expect_err table.csv

# And the runs move, to where they can only be read.
tar cf packed.tar runs
rm -r runs
mkdir elsewhere
tar xf packed.tar -C elsewhere
chmod -R a-w,a+rX elsewhere
chmod a+rx . new.csv kept.idx
# Root may write everywhere, so let another user look; or, where that one may not see the program, root without its powers.
if [ "$(id -u)" = 0 ]; then
  as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups "$TUTTI_PROGRAM" "$@"; }
  as_user --version >/dev/null 2>&1 ||
    as_user() { setpriv --bounding-set=-all --inh-caps=-all "$TUTTI_PROGRAM" "$@"; }
fi
look_at elsewhere/runs moved
expect_same moved
chmod -R u+w elsewhere
tutti select elsewhere/runs/small --keep
expect_code 0
# A machine without the run's backend: what is recorded is looked at all the same.
make_table
tutti run small.ini --out learnt --quiet
expect_code 0
looks=("status learnt --json" "select learnt --json --set selector.plugin=top-m" "evaluate learnt --json" "curve learnt --json" \
  "compare learnt --json")
for i in "${!looks[@]}"; do
  # shellcheck disable=SC2086 # words
  tutti ${looks[i]}
  expect_code 0
  cp out "with-$i"
done
cp -rL "$(dirname "$TUTTI_PROGRAM")/modules" machine
for how in gone broken; do
  rm -f machine/backend-cpu.so
  [ $how = gone ] || : >machine/backend-cpu.so
  for i in "${!looks[@]}"; do
    # shellcheck disable=SC2086
    TUTTI_PLUGIN_FOLDER=$PWD/machine TUTTI_PLUGIN_PATH='' tutti ${looks[i]}
    expect_code 0
    checks=$((checks + 1))
    cmp -s out "with-$i" || complain "expected the same as with the backend"
  done
  TUTTI_PLUGIN_FOLDER=$PWD/machine TUTTI_PLUGIN_PATH='' tutti predict learnt table.csv
  expect_code 2
  expect_empty out
  expect_err "needs the run's backend" "backend" "cpu" "status, select"
  TUTTI_PLUGIN_FOLDER=$PWD/machine TUTTI_PLUGIN_PATH='' tutti run learnt/recipe.ini --out learnt --resume
  expect_code 2
  expect_err "[backend] plugin"
done
finish
