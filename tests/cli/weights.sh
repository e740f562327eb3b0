#!/bin/bash
# run.weights_of = members: when a run has ended, the weights of its members alone are there. Nothing else differs, whatever is
# done with the run; a longer run trains those members again whose weights were removed, to the same bits.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
find_numpy
make_table
members=(--set run.weights_of=members)
# same FILE FILE WHAT
same() {
  checks=$((checks + 1))
  cmp -s "$1" "$2" || complain "expected the same $3 ($1, $2)"
}
members_of() { "$python" -c 'import json, sys; print(*sorted(m["trial"] for m in json.load(open(sys.argv[1]))["members"]))' "$1/ensemble.json"; }
# only_members RUN: the weights of its members are there, and no others.
only_members() {
  local found='' path
  for path in "$1"/trials/*/weights.safetensors; do found="$found $((10#$(basename "$(dirname "$path")")))"; done
  checks=$((checks + 1))
  [ "$found" = " $(members_of "$1")" ] || complain "expected the weights of the members $(members_of "$1"); found those of$found"
}
# like RUN WHOLE: its result, its files but for weights, and its predictions are those of a run that kept all.
like() {
  local path file
  for path in "$2"/trials/*/*; do
    file=${path#"$2"/}
    if [ -e "$1/$file" ] || [[ $file != *.safetensors ]]; then same "$1/$file" "$path" file; fi
  done
  for file in ensemble.json summary.json; do same "$1/$file" "$2/$file" file; done
  for file in "$1" "$2"; do
    tutti predict "$file" table.csv
    expect_code 0
    cp out "predicted-$(basename "$file")"
  done
  same "predicted-$(basename "$1")" "predicted-$(basename "$2")" predictions
}

regression_recipe | sed 's/^plugin = forward/plugin = forward-diverse/; s/^split = .*/&\nsplit_seed = 7/' >any.ini
find_seed_for_old_member
tutti run small.ini --quiet --out short
expect_code 0

# --- removed, and all else as it was ---
tutti run small.ini --quiet --out run "${members[@]}"
expect_code 0
only_members run
like run short
tutti run small.ini --out run --resume "${members[@]}"
expect_code 0
expect_not_in err "trained again"
only_members run
like run short
for unit in bytes flops; do
  for which in run short; do
    tutti curve $which --costs $unit --json
    expect_code 0
    cp out $which-$unit
  done
  same run-$unit short-$unit "costs in $unit"
done
tutti report run --to run.html
expect_code 0
tutti evaluate run
expect_code 0
# A run that kept all can be thinned out later, and one that is thinned out goes on as it is.
cp -r short thinned
tutti run small.ini --quiet --out thinned --resume "${members[@]}"
expect_code 0
only_members thinned
tutti run small.ini --out thinned --resume
expect_code 0
expect_not_in err "trained again"
only_members thinned
like thinned short

# --- other ensembles ---
tutti select run --set selector.plugin=all
expect_code 0
expect_out "Ensemble of 6"
tutti select run --keep --set selector.plugin=all
expect_code 2
expect_err "would be a member, and its weights were removed" "run.weights_of"
like run short
tutti select run --keep --set selector.size=1
expect_code 0
tutti predict run table.csv
expect_code 0
tutti run small.ini --quiet --out run --resume "${members[@]}"
expect_code 0
only_members run
like run short
"$python" -c 'import json; e = json.load(open("short/ensemble.json")); e["members"] = [{"trial": t, "weight": 1 / 6} for t in range(6)]; json.dump(e, open("all.json", "w"))'
tutti predict run table.csv --ensemble all.json
expect_code 2
expect_err "weights.safetensors was removed when the run ended" "run.weights_of = members"
regression_recipe | sed 's/^seed = .*/seed = 77/; s/^split = .*/&\nsplit_seed = '"$seed"/ >other.ini
tutti run other.ini --quiet --out other
expect_code 0
tutti select run other --set selector.plugin=all --out both
expect_code 2
expect_err "its weights were removed"
expect_absent both

# --- torn files ---
cp -r run torn
for trial in torn/trials/*; do truncate -s 100 "$trial/validation.npy"; done
rm "torn/trials/$(printf %06d "$(members_of torn | cut -d' ' -f1)")/weights.safetensors"
tutti run small.ini --out torn --resume "${members[@]}"
expect_code 0
expect_err "trial 0 is trained again" "trial 5 is trained again"
only_members torn
like torn short

# --- trials without a model ---
# Those that have no result when the time is over, and those that failed, may have left weights, which nobody reads.
sed 's/^seed = .*/seed = 1/; s/^budget = .*//; s/^epochs = .*/epochs = choice 5 1000000\nbatch_size = 1/' small.ini >uneven.ini
cp "run/trials/$(printf %06d "$(members_of run | cut -d' ' -f1)")/weights.safetensors" left.safetensors
uneven=(--workers 2 --set run.window=2)
tutti run uneven.ini --quiet --out over "${uneven[@]}" --set run.time=4
expect_code 0
tutti run uneven.ini --quiet --out failed "${uneven[@]}" --set run.budget=6 --set run.trial_timeout=0.5
expect_code 0
for way in over:NULL:time=4 "failed:'failed':budget=6"; do
  IFS=: read -r run state setting <<<"$way"
  "$TUTTI_TEST_BUILDDIR/tests/cli/sql" "$run/catalogue.sqlite" "SELECT number FROM trials WHERE state IS $state" >useless
  checks=$((checks + 1))
  [ -s useless ] || complain "expected trials without a model"
  while read -r trial; do
    mkdir -p "$run/trials/$(printf %06d "$trial")"
    cp left.safetensors "$run/trials/$(printf %06d "$trial")/weights.safetensors"
  done <useless
  cp "$run/ensemble.json" before.json
  tutti run uneven.ini --quiet --out "$run" --resume --set "run.$setting" "${uneven[@]}" "${members[@]}"
  expect_code 0
  only_members "$run"
  same "$run/ensemble.json" before.json ensemble
done

# --- a longer run ---
tutti run small.ini --out run --resume --set run.budget=12 "${members[@]}"
expect_code 0
checks=$((checks + 1))
grep -qE "members, (1 has no weights any more; it is|[2-9] have no weights any more; they are) trained again" err ||
  complain "expected that members are trained again"
only_members run
like run long
tutti run small.ini --out run --resume --set run.budget=12 "${members[@]}"
expect_code 0
expect_not_in err "trained again"
only_members run
like run long

# --- who needs the weights of others ---
tutti ablate small.ini --swap selector.size=2,3 --seeds 1 --out refused "${members[@]}"
expect_code 2
expect_err "share a search" "run.weights_of"
tutti ablate small.ini --swap selector.size=2,3 --seeds 1 --out ablation
expect_code 0
for run in ablation/runs/*; do [ -L "$run/trials" ] && shares=$(basename "$run") || owner=$(basename "$run"); done
for run in "$owner" "$shares"; do
  tutti run "ablation/recipes/$run.ini" --out "ablation/runs/$run" --resume "${members[@]}"
  expect_code 0
  expect_err "shares its trials with other runs, so all weights stay"
done
checks=$((checks + 1))
[ "$(find "ablation/runs/$owner/trials/" -name weights.safetensors | wc -l)" = 6 ] || complain "expected the weights of all"
regression_recipe | sed 's/^plugin = nes-rs/plugin = ea\nwarm_start = yes/; s/^plugin = mlp/plugin = dense-skip/' >warm.ini
tutti validate warm.ini "${members[@]}"
expect_code 2
expect_err "builder.warm_start" "run.weights_of = members"
finish
