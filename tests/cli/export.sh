#!/bin/bash
# tutti export: the ONNX model of a run gives, for the same rows, what tutti predict gives; for every op, activation, head and
# combination; and what it cannot say is refused by name.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/exported.sh"
make_table

# expect_same RECIPE ROWS [OPTION...]: run it, export it, and compare.
expect_same() {
  local name=${1%.ini} rows=$2
  tutti run "$1" --out "$name" --quiet "${@:3}"
  expect_code 0
  expect_exported "$name" "$rows"
}

# Tables: numbers and categories, missing cells, two targets, wide units, classes.
regression_recipe >small.ini
expect_same small.ini table.csv
what="export.py small table.csv --unknown group"
"$python" "$TUTTI_TEST_SRCDIR/tests/cli/export.py" small table.csv --unknown group >out 2>err
code=$?
expect_code 0
expect_out "none of a b c"
classification_recipe >classes.ini
expect_same classes.ini table.csv
awk -F, -v OFS=, 'NR % 7 == 3 {$2 = ""} NR % 11 == 5 {$1 = "NA"} {print}' table.csv | sed 's/NA//' >holes.csv
regression_recipe | sed 's/^target = .*/target = y\nmissing = mean/; s/^path = .*/path = holes.csv/' >holes.ini
expect_same holes.ini holes.csv
classification_recipe | sed 's/^target = .*/target = kind\nmissing = mean/; s/^path = .*/path = holes.csv/' >holed-classes.ini
expect_same holed-classes.ini holes.csv
# Marks of missing cells, dates with a time, a category of missing ones, of rare and unseen ones.
awk -F, -v OFS=, 'NR == 1 {print $0, "at"; next}
  {$6 = NR % 13 ? sprintf("2024-%02d-%02dT%02d:30", NR % 12 + 1, NR % 28 + 1, NR % 24) : ""; $3 = NR % 9 ? $3 : (NR % 2 ? "" : "rare" NR)} {print}' \
  holes.csv >messy.csv
regression_recipe | sed 's/^target = .*/target = y\nmissing = indicator\nrare = 5\nunseen = other/; s/^path = .*/path = messy.csv/' >messy.ini
sed '5s/,[abc],/,new,/' messy.csv >messy-new.csv
expect_same messy.ini messy-new.csv
# Other scales, and bins; every third row is beyond those of the data.
awk -F, -v OFS=, 'NR % 3 == 2 {if ($1 != "") $1 *= 40; $2 = 1e7 * $2} {print}' messy-new.csv >messy-far.csv
for scaling in robust quantile-normal quantile-uniform; do
  cp messy.ini "$scaling.ini"
  expect_same "$scaling.ini" messy-far.csv --set data.scaling=$scaling --set data.quantiles=20 --set data.bins=4
done
sed 's/^[^,]*,/7,/' table.csv | sed '1s/^7/x1/' >constant.csv
regression_recipe | sed 's/^path = .*/path = constant.csv/' >constant.ini
expect_same constant.ini table.csv --set data.scaling=quantile-normal
regression_recipe | sed 's/^target = .*/target = y x2/' >two.ini
expect_same two.ini table.csv
awk -F, -v OFS=, 'NR > 1 {$4 += 1e9} {print}' OFMT=%.17g CONVFMT=%.17g table.csv >far.csv
regression_recipe | sed 's/^path = .*/path = far.csv/' >far.ini
expect_same far.ini far.csv

# Every activation, skips, batch norm that trained; weights that count picks, votes.
regression_recipe | sed 's/^plugin = mlp/plugin = dense-skip/; s/^plugin = forward/plugin = all/; s/^budget = 6/budget = 12/; s/^size = 3//' >skips.ini
expect_same skips.ini table.csv
for activation in leaky-relu crelu gelu softplus; do
  sed "s/^plugin = dense-skip/plugin = fixed\nwidths = 8 8\nactivation = $activation/; s/^budget = 12/budget = 2/" skips.ini >"$activation.ini"
  expect_same "$activation.ini" table.csv
done
{ regression_recipe | sed 's/^split = .*/split = 0.6 0.2 0.2\nfolds = 3/; s/^budget = 6/budget = 3/'; printf '[head]\nkind = linear\n'; } >linear-folds.ini
expect_same linear-folds.ini table.csv
regression_recipe | sed 's/^plugin = forward/plugin = forward-replace/; s/^size = 3/size = 6/' >picks.ini
expect_same picks.ini table.csv
printf '[evaluation]\nepistemic = population\n' | cat picks.ini - >population.ini
expect_same population.ini table.csv
classification_recipe | sed 's/^plugin = forward/plugin = agnostic-bayes/; s/^size = 3//' >votes.ini
expect_same votes.ini table.csv

# Heads.
for head in 'kind = linear' 'scale = 0.5\nfloor = 0\nparametrisation = variance' 'kind = nomu' 'kind = nomu\nnoise = learnt' \
  'kind = nomu\nnoise = known' 'kind = nomu\nreadout = linear' 'kind = nomu\nbounds = both' 'kind = nomu\nbounds = lower' \
  'kind = nomu\nbounds = upper'; do
  { regression_recipe | sed 's/^budget = 6/budget = 3/'; printf '[head]\n%b\n' "$head"; } >head.ini
  rm -rf head
  expect_same head.ini table.csv
done

# Images, of an odd size: windows, pools, reductions, groups.
"$python" - <<'PYTHON'
import numpy
draw = numpy.random.default_rng(1)
labels = numpy.arange(60, dtype=numpy.uint8) % 3
images = (draw.integers(0, 99, (60, 13, 13)) + 70 * (numpy.arange(13)[:, None] % 3 == labels[:, None, None])).astype(numpy.uint8)
for name, magic, array in (("images", 0x803, images), ("labels", 0x801, labels)):
    with open(name + ".idx", "wb") as file:
        file.write(numpy.array([magic, *array.shape], dtype=">u4").tobytes() + array.tobytes())
PYTHON
# images_recipe SPACE...: a run of two networks of a space with these parameters.
images_recipe() {
  printf '[run]\nbudget = 2\n[data]\nplugin = idx\npath = images.idx\ntarget_path = labels.idx\nsplit = 1 1 1\n[space]\n'
  printf '%s\n' "$@"
  printf '[hyperparameters]\nepochs = 1\nbatch_size = 10\n[builder]\nplugin = nes-rs\n[selector]\nplugin = all\n'
}
images_recipe 'plugin = darts' 'cells = 3' 'channels = 4' >darts.ini
expect_same darts.ini images.idx
images_recipe 'plugin = darts' 'cells = 3' 'channels = 4' 'stem = tiny' \
  'operations = max_pool_3x3 avg_pool_3x3 skip_connect sep_conv_7x7 conv_7x1_1x7 dil_conv_5x5' >tiny.ini
expect_same tiny.ini images.idx
images_recipe 'plugin = nasbench201' 'cells = 1' 'channels = 4' >nasbench201.ini
expect_same nasbench201.ini images.idx
images_recipe 'plugin = depth-width' >depth-width.ini
expect_same depth-width.ini images.idx --set space.cells=2 --set space.channels=4
images_recipe 'plugin = layer-graph-cnn' >layer-graph.ini
expect_same layer-graph.ini images.idx
images_recipe 'plugin = mlp' >rows.ini
expect_same rows.ini images.idx

# Another ensemble than the run's own.
tutti select small --set selector.plugin=top-m --set selector.size=2 --json
expect_code 0
cp out best.json
tutti predict small table.csv --ensemble best.json --json
expect_code 0
cp out small.json
tutti export small --to small.onnx --ensemble best.json
expect_code 0
compare_export small table.csv

# Columns that have the names of outputs and of what is within the graph.
sed '1s/.*/mean,_1,group,y,kind/' table.csv >named.csv
regression_recipe | sed 's/^path = .*/path = named.csv/' >named.ini
expect_same named.ini named.csv

# What cannot be exported, and bad input.
regression_recipe | sed 's/^plugin = mlp/plugin = mlp\ndropout = 0.2/; s/^epochs = 5/epochs = 5\nprediction_draws = 7/' >draws.ini
tutti run draws.ini --out draws --quiet
expect_code 0
rm -f never.onnx
tutti export draws --to never.onnx
expect_code 2
expect_err "draws of dropout (prediction_draws)" "trial"
printf '[head]\nkind = nomu\n' | cat draws.ini - >nomu-draws.ini
tutti run nomu-draws.ini --out nomu-draws --quiet
expect_code 0
tutti export nomu-draws --to never.onnx
expect_code 2
expect_err "draws of dropout (prediction_draws)"
printf '[calibrator]\nplugin = variance-scaling\n[evaluation]\nfolds = 0\n' | cat small.ini - >calibrated.ini
tutti run calibrated.ini --out calibrated --quiet
expect_code 0
expect_exported calibrated table.csv
expect_exported calibrated table.csv --uncalibrated
tutti export small
expect_code 2
expect_err "expected --to FILE.onnx" "found none"
tutti export small --to small.h5
expect_code 2
expect_err "found small.h5" "end it in /"
tutti export nowhere --to never.onnx
expect_code 2
expect_err "nowhere: expected a run directory"
tutti export small --to nowhere/never.onnx
expect_code 1
expect_err "nowhere/never.onnx"
expect_absent never.onnx
finish
