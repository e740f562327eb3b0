#!/bin/bash
# A bar on a terminal, plain lines elsewhere.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
script -qec true /dev/null >/dev/null 2>&1 </dev/null || { echo "script(1), or a terminal for it, is not there"; exit 77; }
function_recipe quick 0.02 20 >quick.ini

in_terminal "'$TUTTI_PROGRAM' run quick.ini --out one"
expect_code 0
expect_out "[" "#" "20/20" "best value" "/s" " left" $'\033[K' $'\033[36m'
expect_not_in out "tutti: 20/20"

NO_COLOR=1 in_terminal "'$TUTTI_PROGRAM' run quick.ini --out two"
expect_code 0
expect_out "20/20" $'\033[K'
expect_not_in out $'\033[36m'

in_terminal "'$TUTTI_PROGRAM' run quick.ini --out three --quiet"
expect_code 0
expect_not_in out $'\033'

# Long lines are broken between words, and go on below their text; in a pipe they are whole.
tutti inspect backend/trees
expect_code 0
tr -s ' \n' ' ' <out >whole
in_terminal "stty cols 60; '$TUTTI_PROGRAM' inspect backend/trees"
expect_code 0
tr -d '\r' <out >narrow
checks=$((checks + 3))
# A long path is one word, which stays whole.
[ "$(awk 'length($0) > 60 && ! /^ *\/[^ ]*$/' narrow | wc -l)" -eq 0 ] || complain "lines of more than 60 characters"
tr -s ' \n' ' ' <narrow | cmp -s - whole || complain "other words than in a pipe"
if ! grep -q '^      Splits at the best' narrow || ! grep -q '^        [a-z]' narrow; then complain "broken lines are not indented"; fi
for command in report ""; do
  in_terminal "stty cols 50; '$TUTTI_PROGRAM' $command --help"
  expect_code 0
  expect_out "Usage: tutti"
  tr -d '\r' <out >narrow
  checks=$((checks + 1))
  [ "$(awk 'length($0) > 50' narrow | wc -l)" -eq 0 ] || complain "help of more than 50 characters a line"
done
printf 'αβγ δεζ %.0s' $(seq 9) >words
in_terminal "stty cols 24; '$TUTTI_PROGRAM' inspect \"\$(cat words)\" 2>&1"
expect_code 2
expect_out "  δεζ αβγ δεζ αβγ δεζ" # characters count, not bytes

# Tables have as many columns as the terminal has room for: no row is broken, a target and what its calibrator makes
# of it stand side by side, and of a long name both ends are seen.
no_wider() { # FILE COLUMNS
  checks=$((checks + 1))
  [ "$(awk -v c="$2" 'length($0) > c' "$1" | wc -l)" -eq 0 ] || complain "lines of more than $2 characters"
}
make_table
long=a_long_name_of_a_target_with_its_end_1
awk -F, -v OFS=, -v long=$long 'NR == 1 { print $0, long, "y2", "y3" } NR > 1 { print $0, 2 * $4, 3 * $4, 4 * $4 }' table.csv >wide.csv
regression_recipe | sed 's/^path = .*/path = wide.csv/; s/^target = .*/target = 3 5 6 7/; s/^ignore = .*/ignore = 4/' >wide.ini
printf '[calibrator]\nplugin = variance-scaling\n' >>wide.ini
tutti run wide.ini --out wide --quiet
expect_code 0
tutti evaluate wide
expect_code 0
expect_in out $long # a file has room
for columns in 40 60 80; do
  in_terminal "stty cols $columns; '$TUTTI_PROGRAM' evaluate wide"
  expect_code 0
  tr -d '\r' <out >narrow
  no_wider narrow $columns
  sed -n '/^Each target alone/,$p' narrow >targets
  checks=$((checks + 2))
  awk '/^  metric/ { for (i = 2; i <= NF; i++) printf "%s ", $i }' targets |
    grep -qE '^y ca[a-z.]+ a_[a-z_.]+_?1 ca[a-z.]+ y2 ca[a-z.]+ y3 ca[a-z.]+ $' ||
    complain "$columns: other columns: $(grep metric targets)"
  [ "$(awk '/^  rmse / { n += NF - 1 - ($NF == "target") } END { print n }' targets)" -eq 8 ] ||
    complain "$columns: other rows: $(grep rmse targets)"
done
grep -q '^  rmse .* target$' targets || complain 'expected units in the rows where they have room'

# Runs side by side: the same figures at any width.
for seed in 1 2; do
  for selector in forward top-m; do
    tutti run wide.ini --quiet --out "several/$selector-$seed" --set run.seed=$seed --set selector.plugin=$selector --set data.target=3 --set data.ignore="4 5 6 7"
    expect_code 0
  done
done
figures() { grep -oE -- '-?[0-9]+\.[0-9]+( \([0-9.e-]+\))?' "$1" | sort; }
tutti compare several --metric nll,rmse,crps,coverage
expect_code 0
figures out >whole
for columns in 40 80; do
  in_terminal "stty cols $columns; '$TUTTI_PROGRAM' compare several --metric nll,rmse,crps,coverage"
  expect_code 0
  tr -d '\r' <out >narrow
  no_wider narrow $columns
  checks=$((checks + 2))
  figures narrow | cmp -s - whole || complain "$columns: other figures than in a pipe"
  ! grep -qE '^ +[-0-9.]+ *$' narrow || complain "$columns: broken rows"
done

# So it is with curves: each metric once, in rows that begin with the point.
tutti curve wide --budgets 6 --members 1,2
expect_code 0
awk '/^  /' out >whole
for columns in 50 80; do
  in_terminal "stty cols $columns; '$TUTTI_PROGRAM' curve wide --budgets 6 --members 1,2"
  expect_code 0
  tr -d '\r' <out | awk '/^  / { if ($1 == "budget") block++; for (i = 3; i <= NF; i++) rows[(NR - 1) % 4] = rows[(NR - 1) % 4] " " $i; first[(NR - 1) % 4] = $1 " " $2 }
    END { print block > "blocks"; for (i = 2; i < 5; i++) print first[i % 4] rows[i % 4] }' >narrow
  checks=$((checks + 2))
  [ "$(cat blocks)" -gt 1 ] || complain "$columns: expected several blocks"
  awk '{ $1 = $1; print }' whole | cmp -s - narrow || complain "$columns: other figures: $(cat narrow)"
done

# What is logged is broken with what stands before it.
in_terminal "stty cols 60; '$TUTTI_PROGRAM' select wide --set evaluation.folds=0"
expect_code 0
expect_out "warning: calibrator variance-scaling: fitted on"
checks=$((checks + 1))
[ "$(tr -d '\r' <out | sed 's/\x1b\[K//g' | awk 'length($0) > 60' | wc -l)" -eq 0 ] || complain "expected lines of at most 60 characters"

tutti run quick.ini --out four
expect_code 0
expect_err "tutti: 20/20"
expect_not_in err $'\033'
expect_not_in out $'\033'
finish
