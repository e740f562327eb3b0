#!/bin/bash
# How far apart genotypes are: files, names, trials of runs; spaces that cannot say; what is wrong with an argument.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
mlp=(--space layer-graph-mlp)

# graph FILE UNITS: two hidden layers.
graph() {
  cat >"$1" <<JSON
{"layers": [{"label": "ip"}, {"label": "relu", "units": $2}, {"label": "tanh", "units": 16}, {"label": "linear"},
            {"label": "op"}],
 "edges": [[0, 1], [1, 2], [2, 3], [3, 4]]}
JSON
}
graph a.json 16
graph b.json 24

# A pair: 8 of the mass of layer 1 and 128 of layer 2 are unmatched, the ends have 100 each in both.
tutti distance "${mlp[@]}" a.json b.json
expect_code 0
expect_empty err
expect_out "d at 0.1" "136.00" "d / mass at 1.5" "Where mass goes (d at 0.1)" "1 relu 24"
tutti distance "${mlp[@]}" a.json b.json --json
expect_code 0
expect_json layer-graph-mlp space
expect_json 136.0 measures 0 distances 0 1
expect_json 0.0 measures 7 distances 1 1
expect_json "d / mass at 0.1" measures 4 name
expect_json 100.0 explanation rows 0 2
expect_json "4 op" explanation rows 4 0
expect_json 128.0 explanation rows 6 4
tutti distance "${mlp[@]}" --set space.structure=0.5 a.json b.json
expect_out "d at 0.5" "d / mass at 0.5"

# Of more there are matrices; names are genotypes, too.
tutti distance "${mlp[@]}" a.json b.json blocks-3-2
expect_code 0
expect_out "   3  blocks-3-2" "d / mass at 0.61"
expect_not_in out "Where mass goes"

# Trials of a run, whose recipe says which space; a candidate is its architecture.
cat >run.ini <<'INI'
[run]
budget = 2
[data]
plugin = toy-sine
[space]
plugin = layer-graph-mlp
structure = 0.5
sample_steps = 4
[hyperparameters]
epochs = 1
INI
tutti run run.ini --out run
expect_code 0
tutti distance run:0 run:1 run:0 --json
expect_code 0
expect_json "d / mass at 0.5" measures 1 name
expect_json 0.0 measures 0 distances 0 2
echo "{\"architecture\": $(cat a.json), \"seed\": \"1\"}" >candidate.json
tutti distance --recipe run.ini candidate.json a.json --json
expect_code 0
expect_json 0.0 measures 0 distances 0 1

# Nothing but the space is read of a recipe.
tutti distance --recipe run.ini candidate.json a.json --set space.structure=0.25
expect_code 0
for override in run.seed=2 data.rows=50 selector.size=1; do
  tutti distance --recipe run.ini candidate.json a.json --set $override
  expect_code 2
  expect_err "--set ${override%%=*}: expected a key of [space]" "acts in tutti run"
done

# What is wrong.
tutti distance a.json b.json
expect_usage_error "expected --space NAME, --recipe RECIPE, or a trial of a run"
tutti distance --space mlp a.json b.json
expect_usage_error "space mlp does not measure how far apart genotypes are"
tutti distance --space layer-graph-mpl a.json b.json
expect_usage_error "did you mean" "layer-graph-mlp"
tutti distance "${mlp[@]}" --recipe run.ini a.json b.json
expect_usage_error "expected --space or --recipe, found both"
tutti distance "${mlp[@]}" a.json
expect_usage_error "expected at least two genotypes"
tutti distance "${mlp[@]}" --set space.structur=1 a.json b.json
expect_usage_error "--set space.structur=1: " "did you mean 'structure'?"
tutti distance "${mlp[@]}" --set structure=1 a.json b.json
expect_usage_error "--set: expected space.KEY=VALUE, found 'structure=1'"
tutti distance "${mlp[@]}" a.json blocks-3-22
expect_usage_error "there is no file blocks-3-22" "knows no genotype 'blocks-3-22'; did you mean 'blocks-3-2'?"
graph zero.json 0
tutti distance "${mlp[@]}" a.json zero.json
expect_usage_error "zero.json: " "layer 1 (relu) has 0 units"
echo '{"layers": ' >torn.json
tutti distance "${mlp[@]}" a.json torn.json
expect_usage_error "torn.json: expected a genotype as JSON"
tutti distance run:0 run:7
expect_usage_error "run:7: the run has no trial 7"
tutti distance "${mlp[@]}" run:0 nowhere:1
expect_usage_error "nowhere:1: there is no run nowhere"
tutti distance nowhere:0 nowhere:1
expect_usage_error "nowhere/recipe.ini"

# Names of files may hold anything; none of it reaches the terminal's controls.
cp a.json $'a\033[2J.json'
cp b.json $'b\xff.json'
tutti distance "${mlp[@]}" a.json $'a\033[2J.json' $'b\xff.json'
expect_code 0
expect_out "a?[2J.json" "b?.json"
expect_not_in out $'\033'
tutti distance "${mlp[@]}" a.json $'b\xff.json' --json
expect_code 0
expect_json "b?.json" genotypes 1
tutti distance "${mlp[@]}" a.json $'no\033[2J.json'
expect_code 2
expect_not_in err $'\033'
finish
