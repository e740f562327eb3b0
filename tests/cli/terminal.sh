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
[ "$(awk 'length($0) > 60' narrow | wc -l)" -eq 0 ] || complain "lines of more than 60 characters"
tr -s ' \n' ' ' <narrow | cmp -s - whole || complain "other words than in a pipe"
if ! grep -q '^      Splits at the best' narrow || ! grep -q '^        [a-z]' narrow; then complain "broken lines are not indented"; fi
in_terminal "stty cols 50; '$TUTTI_PROGRAM' report --help"
expect_code 0
tr -d '\r' <out >narrow
checks=$((checks + 1))
[ "$(awk 'length($0) > 50' narrow | wc -l)" -eq 0 ] || complain "help of more than 50 characters a line"
printf 'αβγ δεζ %.0s' $(seq 9) >words
in_terminal "stty cols 24; '$TUTTI_PROGRAM' inspect \"\$(cat words)\" 2>&1"
expect_code 2
expect_out "  δεζ αβγ δεζ αβγ δεζ" # characters count, not bytes

tutti run quick.ini --out four
expect_code 0
expect_err "tutti: 20/20"
expect_not_in err $'\033'
expect_not_in out $'\033'
finish
