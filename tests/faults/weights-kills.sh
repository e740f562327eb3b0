#!/bin/bash
# run.weights_of = members: a manager that is killed before any of its changes of a file, while the ensemble is chosen, weights
# are removed or are trained again, leaves an ensemble of which every member has its weights; and --resume ends as if nobody had
# been killed.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
[ "${TUTTI_TEST_WATCHED:-}" != sanitizers ] || { echo "skipped: a sanitizer wants to be loaded first"; exit 77; }
find_numpy
make_table
members_of() { "$python" -c 'import json, sys; print(*sorted(m["trial"] for m in json.load(open(sys.argv[1]))["members"]))' "$1/ensemble.json"; }
weights_of() { (cd "$1/trials" && echo */weights.safetensors); }
predict() { # RUN FILE
  tutti predict "$1" table.csv
  expect_code 0
  cp out "$2"
}
same() { # FILE FILE WHAT
  checks=$((checks + 1))
  cmp -s "$1" "$2" || complain "expected the same $3"
}
# has_members RUN WHOLE: each member has the weights that a run has which keeps all.
has_members() {
  local trial file
  for trial in $(members_of "$1"); do
    file=trials/$(printf %06d "$trial")/weights.safetensors
    same "$1/$file" "$2/$file" "weights of trial $trial"
  done
}
# whole RUN WANTED: it has the result of the run WANTED, and the weights of its members alone.
whole() {
  local file wanted=''
  for file in ensemble.json summary.json; do same "$1/$file" "$2/$file" "$file"; done
  has_members "$1" "$2"
  for file in $(members_of "$2"); do wanted="$wanted$(printf '%06d/weights.safetensors ' "$file")"; done
  checks=$((checks + 1))
  [ "$(weights_of "$1") " = "$wanted" ] || complain "expected the weights $wanted, found $(weights_of "$1")"
}
# torment START OLD NEW STEP [SETTING...]: the run START, whose result is that of OLD, goes on to that of NEW, killed before each
# STEP-th change.
torment() {
  local start=$1 old=$2 new=$3 step=$4 stop seen='' left=''
  shift 4
  predict "$old" old.csv
  predict "$new" new.csv
  for ((stop = 1; stop < 4000; stop += step)); do
    rm -rf run
    cp -r "$start" run
    what="tutti run, killed before change $stop"
    (LD_PRELOAD=$TUTTI_TEST_BUILDDIR/tests/faults/.libs/stops.so TUTTI_TEST_ROOT=$PWD/run TUTTI_TEST_STOP=$stop \
      exec "$TUTTI_PROGRAM" run small.ini --out "$PWD/run" --resume --quiet --workers 2 "$@" --set run.weights_of=members) >out 2>err </dev/null
    code=$?
    [ $code -ne 0 ] || break
    expect_code 137
    cmp -s run/summary.json "$new/summary.json" && state=new || state=old
    seen="$seen $state"
    left="$left $(weights_of run | wc -w)"
    has_members run "$new"
    tutti predict run table.csv
    # A recipe that is written anew, for a longer run, is recorded a moment later: till then --resume has to mend it.
    if ! grep -q "recipe.ini: size or checksum" err; then
      expect_code 0
      cp out found.csv
      same found.csv "$state.csv" "predictions of the $state result"
    fi
    tutti run small.ini --out "$PWD/run" --resume --quiet "$@" --set run.weights_of=members
    expect_code 0
    whole run "$new"
  done
  checks=$((checks + 1))
  [ $code -eq 0 ] || complain "expected that it is over after some thousand changes"
  whole run "$new"
  echo "$start to $new: $stop changes;$seen;$left"
  kills=$seen counts=$left
}

regression_recipe | sed 's/^plugin = forward/plugin = forward-diverse/' >any.ini
find_seed_for_old_member
tutti run small.ini --quiet --out short
expect_code 0
tutti run small.ini --quiet --out thin --set run.weights_of=members
expect_code 0

# A finished run that is thinned out: the result is the same before and after, and some kills are in the middle of removals.
torment short short short 1
checks=$((checks + 1))
case $counts in
*6*5*4*3*) ;;
*) complain "expected kills before the removals and between them; weights that were left:$counts" ;;
esac
# A longer run, in which old models are members again.
torment thin short long 2 --set run.budget=12
checks=$((checks + 1))
case $kills in
*old*new*) ;;
*) complain "expected kills before and after the new result counts; found$kills" ;;
esac
finish
