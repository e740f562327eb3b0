#!/bin/bash
# The columns of `predict` are what their names say, of an ensemble whose members are known: a backend of this test predicts
# the same for every row, and what follows from that is worked out by hand.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
read -ra cc <<< "$CC"
read -ra flags <<< "${TUTTI_TEST_CFLAGS:-}"
mkdir plugins
"${cc[@]}" "${flags[@]}" -std=c11 -shared -fPIC -I"$TUTTI_TEST_SRCDIR/include" "$TUTTI_TEST_SRCDIR/tests/cli/known.c" \
  -o plugins/backend-known.so || { echo "cannot build backend known"; exit 1; }
export TUTTI_PLUGIN_PATH=$PWD/plugins:$TUTTI_PLUGIN_PATH
make_table
recipe() {
  "$1_recipe" | sed 's/^plugin = cpu/plugin = known/; s/^budget = .*/budget = 2/; /^epochs/d; s/^learning_rate = .*/place = uniform 0 1/
    s/^plugin = mlp/plugin = fixed/; s/^plugin = forward/plugin = all/; /^size/d; s/^split = .*/&\nstandardise = no/'
}
recipe regression >one.ini
recipe regression | sed 's/^target = y/target = y x2/' >two.ini
recipe classification >classes.ini

# near VALUE EXPECTED WHAT
near() {
  checks=$((checks + 1))
  awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(d < 2e-6 && d > -2e-6) }' || complain "$3: expected $2, found $1"
}
# column NAME: its value in the first row of out; every row is the same.
column() {
  awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR == 2 { print $c }' out
}

# Two members, each picked once. Output k of trial t: mean 10 (k + 1) + 4 t, variance (k + 1) (9 - 8 t): means 10 and 14, so
# mean 12, variance of the noise (9 + 1) / 2 = 5 and of the means (2^2 + 2^2) / (2 - 1) = 8.
tutti run one.ini --quiet --out one
expect_code 0
tutti predict one table.csv
expect_code 0
checks=$((checks + 1))
[ "$(head -n 1 out)" = "row,mean,aleatoric,epistemic,total,lower,upper" ] || complain "expected other columns"
near "$(column mean)" 12 mean
near "$(column aleatoric)" 2.236068 aleatoric
near "$(column epistemic)" 2.828427 epistemic
near "$(column total)" 3.605551 total
tutti predict one table.csv --json
expect_code 0
near "$("$json_value" out mean 5)" 12 "mean in JSON"
near "$("$json_value" out aleatoric 5)" 2.236068 "aleatoric in JSON"
near "$("$json_value" out epistemic 5)" 2.828427 "epistemic in JSON"
near "$("$json_value" out total 5)" 3.605551 "total in JSON"

# Two targets, in the order of their columns: x2, then y with means 20 and 24 and noise 2 (9 + 1) / 2 = 10.
tutti run two.ini --quiet --out two
expect_code 0
tutti predict two table.csv
expect_code 0
near "$(column mean_x2)" 12 mean_x2
near "$(column aleatoric_x2)" 2.236068 aleatoric_x2
near "$(column epistemic_x2)" 2.828427 epistemic_x2
near "$(column mean_y)" 22 mean_y
near "$(column aleatoric_y)" 3.162278 aleatoric_y
near "$(column epistemic_y)" 2.828427 epistemic_y
near "$(column total_y)" 4.242641 total_y

# Two members that give the first class 0.9 and 0.3: 0.6 on average; entropy of that 0.673012, of each 0.325083 and 0.610864.
tutti run classes.ini --quiet --out classes
expect_code 0
tutti predict classes table.csv
expect_code 0
near "$(column p_down)" 0.6 p_down
near "$(column p_up)" 0.4 p_up
near "$(column entropy)" 0.673012 entropy
near "$(column expected_entropy)" 0.467974 expected_entropy
near "$(column mutual_information)" 0.205038 mutual_information
checks=$((checks + 1))
[ "$(column label)" = down ] || complain "expected the label down"
finish
