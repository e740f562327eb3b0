#!/bin/bash
# Warm starts: trainings that start from the weights that their parents kept. The same bits for any number of workers, after a
# kill and after torn files; who cannot have them; parents that kept nothing.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
cat >evolution.ini <<'INI'
[run]
budget = 18
window = 3
[data]
plugin = toy-sine
[space]
plugin = dense-skip
nodes = 3
[hyperparameters]
epochs = 4
learning_rate = log-uniform 1e-3 1e-1
[builder]
warm_start = yes
[selector]
plugin = forward
size = 3
INI
{
  echo "extends = evolution.ini"
  printf '[builder]\nplugin = nes-re\npopulation = 5\nparents = 2\n'
} >nes-re.ini
{
  echo "extends = evolution.ini"
  printf '[builder]\nplugin = agebo\ninitial = 3\npopulation = 5\nsample = 2\n[surrogate]\ntrees = 5\n'
} >agebo.ini
{
  echo "extends = evolution.ini"
  printf '[space]\nplugin = layer-graph-mlp\n[builder]\nplugin = ea\ninitial = 6\n'
} >ea.ini

same() { # RUN RUN
  same_trials "$1" "$2"
  same_file "$1/ensemble.json" "$2/ensemble.json"
}
folder_of() { printf '%s/trials/%06d' "$1" "$2"; }
# Finished trials that say how many layers they have of their parents; and the sum.
inherited='json_extract(report, '\''$.measures."layers-from-parent"'\'')'
count() { sql "$1" "SELECT count(*) FROM trials WHERE $2"; }

for name in nes-re agebo ea; do
  tutti run $name.ini --out $name --workers 1 --quiet
  expect_code 0
  tutti run $name.ini --out $name-3 --workers 3 --quiet
  expect_code 0
  same $name $name-3
  checks=$((checks + 3))
  [ "$(count $name "parent IS NOT NULL AND $inherited > 0")" -gt 5 ] || complain "expected layers that came from parents"
  [ "$(count $name "parent IS NULL AND $inherited IS NOT NULL")" -eq 0 ] || complain "expected nothing from no parent"
  # Without warm starts the first children are the same, but they begin anew.
  tutti run $name.ini --out $name-cold --workers 1 --quiet --set builder.warm_start=no
  expect_code 0
  child=$(sql $name "SELECT min(number) FROM trials WHERE $inherited > 0")
  what="trial $child of $name"
  [ "$(sql $name "SELECT candidate FROM trials WHERE number = $child")" = \
    "$(sql $name-cold "SELECT candidate FROM trials WHERE number = $child")" ] || complain "expected the same first child"
  checks=$((checks + 2))
  ! cmp -s "$(folder_of $name "$child")/weights.safetensors" "$(folder_of $name-cold "$child")/weights.safetensors" ||
    complain "expected other weights than from a cold start"
  [ "$(count $name-cold "$inherited IS NOT NULL")" -eq 0 ] || complain "expected nothing from parents in $name-cold"
  # Killed on its way, and resumed with another number of workers.
  "$TUTTI_PROGRAM" run $name.ini --out $name-killed --workers 2 --quiet >out 2>err </dev/null &
  manager=$!
  for ((i = 0; i < 500; i++)); do
    [ "$(count $name-killed 'state IS NOT NULL' 2>/dev/null || echo 0)" -ge 9 ] && break
    sleep 0.01
  done
  kill -9 $manager 2>/dev/null
  wait $manager 2>/dev/null
  tutti run $name.ini --out $name-killed --workers 3 --quiet --resume
  expect_code 0
  same $name $name-killed
done

# A parent, its child and a grandchild whose files are torn are trained again in this order, and are as they were.
grandchild=$(sql nes-re "SELECT max(t.number) FROM trials t JOIN trials p ON p.number = t.parent WHERE p.parent IS NOT NULL")
child=$(sql nes-re "SELECT parent FROM trials WHERE number = $grandchild")
parent=$(sql nes-re "SELECT parent FROM trials WHERE number = $child")
cp -r nes-re torn
for trial in "$parent" "$child" "$grandchild"; do echo torn >"$(folder_of torn "$trial")/weights.safetensors"; done
tutti run nes-re.ini --out torn --workers 3 --resume
expect_code 0
expect_err "trial $parent is trained again" "trial $child is trained again" "trial $grandchild is trained again"
expect_not_in err 'another machine or build'
same nes-re torn
for trial in "$parent" "$child" "$grandchild"; do
  checks=$((checks + 1))
  cmp -s "$(folder_of torn "$trial")/weights.safetensors" "$(folder_of nes-re "$trial")/weights.safetensors" ||
    complain "expected the old weights of trial $trial"
done

# Parents whose weights somebody removes during the run, or tears: their children fail, and the run goes on.
for way in 'rm -f' 'truncate -s 9'; do
  gone="gone-${way%% *}"
  what="parents' weights: $way"
  "$TUTTI_PROGRAM" run nes-re.ini --out "$gone" --workers 2 --set hyperparameters.epochs=200 >out 2>err </dev/null &
  manager=$!
  while kill -0 $manager 2>/dev/null; do
    # Only those that are recorded: others are being written.
    for trial in $(sql "$gone" "SELECT number FROM trials WHERE state = 'finished'" 2>/dev/null); do
      file=$(folder_of "$gone" "$trial")/weights.safetensors
      # shellcheck disable=SC2086
      [ ! -e "$file" ] || $way "$file"
    done
  done
  wait $manager
  code=$?
  expect_code 0
  expect_out '18 done, ' 'failed' 'the weights of its parent, trial ' 'are not there' 'Ensemble of'
  checks=$((checks + 1))
  [ "$(count "$gone" "state = 'failed' AND parent IS NULL")" -eq 0 ] || complain 'expected that only children fail'
done

# Models of folds start from the parent's models of the same folds.
tutti run nes-re.ini --out folds --workers 2 --quiet --set data.folds=3 --set run.budget=9
expect_code 0
tutti run nes-re.ini --out folds-1 --workers 1 --quiet --set data.folds=3 --set run.budget=9
expect_code 0
same folds folds-1
checks=$((checks + 1))
[ "$(count folds "$inherited > 0")" -gt 1 ] || complain "expected layers that came from parents"

# What hardly moves predicts what its parent does, each fold's rows by the model that has not seen them.
tutti run nes-re.ini --out still --quiet --set data.folds=3 --set run.budget=8 --set builder.identity=1 --set hyperparameters.learning_rate=1e-30
expect_code 0
child=$(sql still "SELECT min(number) FROM trials WHERE parent IS NOT NULL")
parent=$(sql still "SELECT parent FROM trials WHERE number = $child")
checks=$((checks + 1))
cmp -s "$(folder_of still "$child")/validation.npy" "$(folder_of still "$parent")/validation.npy" ||
  complain "expected that trial $child predicts what its parent does"

# --- who cannot ---

regression_recipe | sed 's/^plugin = nes-rs/plugin = ea\nwarm_start = yes/; s/^plugin = mlp/plugin = dense-skip/' >small.ini
tutti validate small.ini
expect_code 0
tutti validate small.ini --set run.keep_weights=no
expect_code 2
expect_err 'builder.warm_start' 'run.keep_weights = no keeps none'
tutti run small.ini --out none --set run.keep_weights=no
expect_code 2
expect_absent none
sed '/^epochs/d; /^learning_rate/d; s/^plugin = cpu/plugin = trees/; s/^plugin = dense-skip/plugin = fixed/; s/^\[hyperparameters\]/&\ntrees = integer 5 50/' small.ini >trees.ini
tutti validate trees.ini
expect_code 2
expect_err 'builder.warm_start' 'backend trees cannot'
tutti validate trees.ini --set builder.warm_start=no
expect_code 0
finish
