#!/bin/bash
# Targets in wide units: time stamps and sums of money, whose signal is small beside their values. The same problem, moved and
# scaled, gives the same choices and, moved and scaled back, the same figures, from every command and every backend.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"

# make_moved NAME OFFSET SCALE: table.csv's columns with y in steps of 1/64, which float64 holds at every offset here. An
# input is moved, too, so far that its mean still has digits enough; the second target is not.
make_moved() {
  awk -F, -v offset="$2" -v scale="$3" 'NR == 1 {print "x1,x2,group,y,z"; next} {
    printf "%.17g,%s,%s,%.17g,%s\n", offset / 1000 + int($1 * 1024), $2, $3, (offset + int($4 * 64) / 64) * scale, $1 - $2
  }' table.csv >"$1.csv"
}
make_table
make_moved base 0 1
regression_recipe | sed '/^ignore/d; s/^target = .*/target = y\nignore = z/' >small.ini

# metrics FILE: lines of name, value and unit.
metrics() {
  grep -oE '"(name|value|unit)": ("[^"]*"|[^,}]*)' "$1" |
    awk -F': ' '{gsub(/"/, ""); if ($1 == "name") name = $2; if ($1 == "value") value = $2
                 if ($1 == "unit") print name, value, ($2 == "" ? "none" : $2)}'
}

# expect_same_metrics BEFORE AFTER SCALE: the same but for the target's unit, to 5 digits of what varies.
expect_same_metrics() {
  checks=$((checks + 1))
  paste -d' ' <(metrics "$1") <(metrics "$2") | awk -v scale="$3" '
    $2 == "null" && $5 == "null" {next}
    {expected = $3 == "target" ? $2 * scale : $3 == "nats" ? $2 + log(scale) : $2; unit = $3 == "target" ? scale : 1
     off = $5 - expected; off = off < 0 ? -off : off; size = expected < 0 ? -expected : expected
     if ($1 != $4 || ($2 == "null") != ($5 == "null") || off > 1e-5 * (size + unit)) {print $1, $5, "expected", expected; bad = 1}}
    END {if (NR < 5) {print NR, "metrics"; bad = 1} exit bad}' >differences ||
    complain "$1 and $2: $(head -n 3 differences)"
}

# expect_same_choices BEFORE AFTER: the same trials in members and trace.
expect_same_choices() {
  checks=$((checks + 1))
  cmp -s <(grep -o '"trial": [0-9]*' "$1") <(grep -o '"trial": [0-9]*' "$2") || complain "other choices in $2 than in $1"
}

# expect_same_rows BEFORE AFTER OFFSET SCALE: predictions as CSV.
expect_same_rows() {
  checks=$((checks + 1))
  paste -d, "$1" "$2" | awk -F, -v offset="$3" -v scale="$4" '
    NR == 1 {for (i = 2; i <= NF / 2; i++) moves[i] = $i ~ /^(mean|lower|upper)/}
    NR > 1 {
    n = NF / 2; steps = 2e-16 * (offset < 0 ? -offset : offset) # of float64
    for (i = 2; i <= n; i++) {
      if ($i == "" && $(n + i) == "") continue
      found = ($(n + i) - (moves[i] ? offset * scale : 0)) / scale; off = found - $i
      if (($i == "") != ($(n + i) == "") || off > 2e-5 + steps || off < -2e-5 - steps) {print NR, i, found, "expected", $i; bad = 1}
    }}
    END {if (NR != 121) {print NR, "lines"; bad = 1} exit bad}' >differences || complain "$2: $(head -n 3 differences)"
}

# look_at RUN DATA COMMAND...: what commands say, into files RUN-COMMAND.
look_at() {
  local run=$1 data=$2 command
  shift 2
  tutti predict "$run" "$data.csv" && cp out "$run-predict"
  expect_code 0
  for command; do
    case $command in
    curve) tutti curve "$run" --json --members 2 ;;
    select) tutti select "$run" --json --set selector.plugin=greedy ;;
    *) tutti "$command" "$run" --json ;;
    esac
    cp out "$run-$command"
    expect_code 0
  done
}

# backend NAME UNITS COMMANDS WORDS...: a run of the base, and of the same problem in other units, NAME OFFSET SCALE each.
backend() {
  local name=$1 units=$2 commands=$3 data offset scale command
  shift 3
  tutti run "$@" --set data.path="$PWD/base.csv" --quiet --out "$name-base"
  expect_code 0
  # shellcheck disable=SC2086 # words
  look_at "$name-base" base $commands
  while read -r data offset scale; do
    [ -e "$data.csv" ] || make_moved "$data" "$offset" "$scale"
    tutti run "$@" --set data.path="$PWD/$data.csv" --quiet --out "$name-$data"
    expect_code 0
    # shellcheck disable=SC2086
    look_at "$name-$data" "$data" $commands
    what="$name at $offset times $scale"
    expect_same_choices "$name-base/ensemble.json" "$name-$data/ensemble.json"
    expect_same_metrics "$name-base/summary.json" "$name-$data/summary.json" "$scale"
    for command in $commands; do
      expect_same_choices "$name-base-$command" "$name-$data-$command"
      expect_same_metrics "$name-base-$command" "$name-$data-$command" "$scale"
    done
    expect_same_rows "$name-base-predict" "$name-$data-predict" "$offset" "$scale"
  done <<<"$units"
}

backend cpu 'million 1e6 1
billion -1e9 1
trillion 1e12 1
large 0 1048576
small 0 1e-6
both 1e9 1e6' "evaluate curve select" small.ini
backend linear 'trillion 1e12 1' select small.ini --set head.kind=linear
small="--set run.budget=4 --set data.ignore=z --set selector.size=2"
for learner in svr forestr boostingr; do
  ini=$TUTTI_TEST_SRCDIR/ini/smbo/$learner-rs.ini
  # shellcheck disable=SC2086
  tutti validate "$ini" $small --set data.path="$PWD/base.csv"
  [ $code -eq 0 ] || continue # without its library
  # shellcheck disable=SC2086
  backend $learner 'billion -1e9 1' select "$ini" $small
done

# --- what else reads predictions ---

# With weights, votes of rows, and parents by their ensembles.
for selector in stacking agnostic-bayes weighted forward-diverse quick-greedy top-m; do
  for run in cpu-base cpu-trillion; do
    tutti select $run --json --set selector.plugin=$selector
    cp out "$run-$selector"
  done
  what="selector $selector"
  [ $code -eq 0 ] || continue # not for regression
  expect_same_choices "cpu-base-$selector" "cpu-trillion-$selector"
  expect_same_metrics "cpu-base-$selector" "cpu-trillion-$selector" 1
done
for data in base trillion; do
  tutti run small.ini --set data.path="$PWD/$data.csv" --set run.budget=8 --set builder.plugin=nes-re \
    --set builder.population=4 --set builder.parents=2 --quiet --out nes-re-$data
  expect_code 0
done
what="builder nes-re"
expect_same_choices nes-re-base/ensemble.json nes-re-trillion/ensemble.json
expect_same_metrics nes-re-base/summary.json nes-re-trillion/summary.json 1

# Rows against each other: two variants have the same odds.
for data in base trillion; do
  tutti run small.ini --set data.path="$PWD/$data.csv" --set selector.size=1 --quiet --out "single-$data"
  expect_code 0
  tutti compare cpu-$data single-$data --by selector.size --json
  expect_code 0
  grep -o '"better": [0-9.]*' out >"odds-$data"
done
checks=$((checks + 1))
if ! cmp -s odds-base odds-trillion || [ ! -s odds-base ]; then complain "expected the same odds from rows"; fi

# Two targets, of which one is moved; JSON and NPY have all digits; a resumed run has the same bits.
tutti run small.ini --set data.path="$PWD/trillion.csv" --set data.target="y z" --set data.ignore= --quiet --out two
expect_code 0
expect_in two/data.json '"target_origin": [1000000000000, 0]'
tutti predict two trillion.csv --json
expect_code 0
checks=$((checks + 1))
"$json_value" out mean_y 3 | grep -qE '^1?[09][0-9]{11}\.[0-9]{2,}' || complain "expected digits behind the point"
tutti predict cpu-trillion trillion.csv --out new.npy
expect_code 0
cp -r cpu-trillion torn
rm -r torn/trials/000002 torn/summary.json
tutti run torn/recipe.ini --resume --quiet --out torn
expect_code 0
for file in summary.json ensemble.json trials/000002/validation.npy; do
  checks=$((checks + 1))
  cmp -s cpu-trillion/$file torn/$file || complain "expected the same $file"
done
# Where units are ordinary, predictions are in the target's own, and nothing says so.
expect_not_in cpu-base/data.json target_origin

# --- what cannot be held is refused ---

refused() { # MESSAGE...
  expect_usage_error "'y'" "$@"
}
for scale in 1e-18 1e18; do
  make_moved bad 0 $scale
  tutti run small.ini --set data.path="$PWD/bad.csv"
  refused "standard deviation" "from 1e-12 to 1e+15" "another unit"
done
make_moved bad 1e15 1
tutti run small.ini --set data.path="$PWD/bad.csv" --set data.ignore="z x1"
refused "mean of 1e+15" "steps of 0.125" "subtract a constant"
tutti run small.ini --set data.path="$PWD/bad.csv" --set data.ignore="z y" --set data.target=x2 --quiet --out x2
expect_code 0
make_moved bad 1e18 1
tutti run small.ini --set data.path="$PWD/bad.csv" --set data.ignore="z x1"
expect_code 2
expect_err "'y'" "steps of 128"
make_moved bad 1e21 1
tutti run small.ini --set data.path="$PWD/bad.csv" --set data.ignore="z y" --set data.target=x2 --out input
expect_code 2
expect_err "'x1'" "steps of 128"
tutti run small.ini --set data.path="$PWD/million.csv" --set data.standardise=no --out raw
expect_code 2
expect_err "float32" "data.standardise = yes"
finish
