#!/bin/bash
# A wrong recipe gets exit code 2 and a message with file, line, key, what was expected and the closest name; nothing is
# written. The same for `validate` and `run`.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table

# refuse SED-SCRIPT TEXT...: the small recipe, changed by the script, is refused with these texts.
refuse() {
  regression_recipe | sed -e "$1" >wrong.ini
  shift
  tutti validate wrong.ini
  expect_usage_error "$@"
  tutti run wrong.ini
  expect_usage_error "$@"
}

refuse 's/^budget/budgte/' wrong.ini:4 '[run] budgte' "did you mean 'budget'"
refuse 's/^\[selector\]/[selektor]/' wrong.ini:20 selektor "did you mean [selector]"
refuse 's/^plugin = mlp/plugin = mpl/' wrong.ini:12 '[space] plugin' "did you mean 'mlp'"
refuse 's/^plugin = nes-rs/plugin = nothing-like-it/' wrong.ini builder nothing-like-it
refuse 's/^budget = 6/budget = six/' wrong.ini:4 '[run] budget' integer six
refuse 's/^budget = 6/budget = -1/' wrong.ini:4 '[run] budget' -1
refuse 's/^budget = 6/budget = 0/' wrong.ini:4 '[run] budget' 'a run without an end' 'time = 2h'
refuse 's/^budget = 6/&\nmemory_limit = 9.9/' 'wrong.ini:5: [run] memory_limit' 'expected at least 10 MiB' 'found 9.9'
refuse 's/^size = 3/size = 2.5/' wrong.ini '[selector] size' 2.5
refuse 's/^epochs = 5/epochs = -1/' wrong.ini '[hyperparameters] epochs' -1
refuse 's/^epochs = 5/epohcs = 5/' wrong.ini '[hyperparameters] epohcs' "did you mean 'epochs'"
refuse 's/^learning_rate = .*/learning_rate = log-uniform 1e-1 1e-3/' wrong.ini '[hyperparameters] learning_rate'
refuse 's/^learning_rate = .*/learning_rate = log-uniform 0 1/' wrong.ini '[hyperparameters] learning_rate'
refuse 's/^learning_rate = .*/learning_rate = logg-uniform 1e-3 1e-1/' wrong.ini:15 '[hyperparameters] learning_rate' logg-uniform
refuse 's/^plugin = csv/plugin = cvs/' wrong.ini '[data] plugin' "did you mean 'csv'"
refuse 's/^plugin = csv/format = csv/' 'wrong.ini:6: data.format is now data.plugin: write plugin = csv'
refuse 's/^plugin = csv/format = auto/' 'wrong.ini:6: data.format is now data.plugin: leave it out'
refuse 's/^plugin = csv/format = nomu-levy/' 'write plugin = nomu and function = levy'
refuse 's/^plugin = csv/&\nformat = csv/' 'wrong.ini:7: data.format is now data.plugin'
refuse 's/^plugin = csv/&\ndelimitre = comma/' 'wrong.ini:7: [data] delimitre' "did you mean 'delimiter'"
refuse 's/^path = .*/path = absent.csv/' absent.csv
refuse 's/^target = y/target = yy/' table.csv yy "did you mean 'y'"
refuse 's/^target = y/target = Y/' "table.csv has no column 'Y'; did you mean 'y'?"
refuse 's/^ignore = kind/ignore = KIND/' "data.ignore" "has no column 'KIND'; did you mean 'kind'?"
refuse 's/^ignore = kind/&\ngroups = Group/' "data.groups" "has no column 'Group'; did you mean 'group'?"
refuse 's/^ignore = kind/&\ncategorical = X1/' "data.categorical" "has no column 'X1'; did you mean 'x1'?"
refuse 's/^split = .*/split = 0.5 -0.1 0.1/' '[data] split' -0.1
refuse 's/^split = .*/split = 0.998 0.001 0.001/' rows
refuse 's/^plugin = cpu/plugin = function/' function
refuse 's/^name = small/name = small\nname = again/' wrong.ini '[run] name'
refuse '1i no section = 1' wrong.ini:1
refuse 's/^budget = 6/budget/' wrong.ini:4
refuse 's/^\[run\]/[run/' wrong.ini:1
refuse '$a extends = absent.ini' wrong.ini

# Searches and ensembles that cannot be: more members than networks, evolution without parents or choices, a negative bound.
refuse 's/^size = 3/size = 7/' wrong.ini:22 '[selector] size' "run.budget" 6 7
agebo='s/nes-rs/agebo/;s/= mlp/= dense-skip/'
refuse "$agebo;s/= agebo/&\npopulation = 5\nsample = 6/" "sample: 6" "population, 5"
refuse "$agebo;s/= dense-skip/= fixed/" "a single architecture"
refuse "$agebo;s/= dense-skip/&\nwidths = 16\nactivations = relu\nidentity = no\nskips = 0/" "nothing to choose"
refuse "$agebo;s/= dense-skip/&\nwidths =/" '[space] widths' "found nothing"
refuse "$agebo;\$ a [acquisition]\nkappa = -0.1" wrong.ini:24 '[acquisition] kappa' -0.1
refuse "s/nes-rs/hyperens\nconfigurations = 3\ninitialisations = 2/" "configurations x initialisations" 6

# Backend cpu's ways to save digits, in the line that asks for them: what it does not have, what wants them all, what has
# nothing to save.
make_stripes
refuse 's/^plugin = cpu/&\nprecision = tf32/' 'wrong.ini:18: [backend] precision: expected one of: float32, bfloat16; found' tf32
for way in 'precision = bfloat16' 'storage = half'; do
  refuse "s/^epochs = .*/&\noptimiser = lbfgs/;s/^plugin = cpu/&\n$way/" "wrong.ini:19: backend cpu: backend.${way%% *}" lbfgs
done
refuse 's/^plugin = cpu/&\nstorage = half/' 'wrong.ini:18: backend cpu: backend.storage: no layer of this network makes images'
refuse 's/^plugin = cpu/&\naugment_flip = yes/;s/^ignore = .*/ignore = x2 group kind/' 'backend.augment_flip: inputs of 1 feature are no images'
stripes_recipe | sed 's/^\[selector\]/[backend]\nstorage = half\n&/' >wrong.ini
tutti validate wrong.ini # images that a network only flattens
expect_usage_error 'wrong.ini:16: backend cpu: backend.storage: no layer of this network makes images'
tutti validate wrong.ini --set backend.storage=float --set backend.precision=bfloat16 --set hyperparameters.optimiser=lbfgs
expect_usage_error 'tutti: --set backend.precision: backend cpu: backend.precision = bfloat16: optimiser = lbfgs'

# A network of one's own: not there, no network, of other shapes.
own=s/mlp/fixed\\nnetwork\ =\ net.json/
refuse "$own" '[space] network' net.json
echo '{"format": "tutti-network"' >net.json
refuse "$own" net.json "network JSON, line 2"
# network_of LAYERS: a network of 5 inputs (x1, x2, and group as three) with a Gaussian head.
network_of() {
  echo '{"format": "tutti-network", "version": 1, "layers": [
    {"op": "input", "label": "input", "shape": [1, 1, 5]}, '"$1"',
    {"op": "dense", "label": "output", "inputs": ["hidden"], "units": 2},
    {"op": "head-gaussian", "label": "head", "inputs": ["output"]}]}' >net.json
}
network_of '{"op": "dense", "label": "hidden", "inputs": ["input"], "unit": 4}'
refuse "$own" net.json '"hidden"' "did you mean \"units\""
network_of '{"op": "dense", "label": "hidden", "inputs": ["input"], "units": 4}'
sed -i 's/\[1, 1, 5\]/[1, 1, 6]/' net.json
refuse "$own" net.json 6 5

tutti validate absent.ini
expect_usage_error absent.ini
tutti validate "$folder"
expect_code 2
expect_empty out
regression_recipe >good.ini

# The size of another selector, below, is no size of one that has none.
printf 'extends = good.ini\n[run]\nbudget = 2\n[selector]\nplugin = all\n' >all.ini
tutti validate all.ini
expect_code 0

for set in run.budget=six run.budgte=6 budget=6 run.budget selektor.size=2; do
  tutti run good.ini --set "$set"
  expect_usage_error "${set%%=*}"
done
for least in 0 10; do
  tutti validate good.ini --set run.memory_limit=$least
  expect_code 0
done
tutti validate good.ini --set run.budget=7 --set space.plugin=mlp
expect_code 0
expect_out "7 to train"

# One recipe that extends another states its difference alone; a circle is an error.
printf 'extends = good.ini\n[run]\nbudget = 9\n' >child.ini
tutti validate child.ini
expect_code 0
expect_out "9 to train"
printf 'extends = b.ini\n' >a.ini
printf 'extends = a.ini\n' >b.ini
tutti validate a.ini
expect_usage_error a.ini "extends itself"
printf 'extends = absent.ini\n' >orphan.ini
tutti validate orphan.ini
expect_usage_error absent.ini
finish
