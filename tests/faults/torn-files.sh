# shellcheck shell=bash
# Files of a run directory that are torn, gone or changed: that trial is trained again, to the same bits; what cannot be
# mended gives a clear error.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
regression_recipe >small.ini
tutti run small.ini --out run --quiet
expect_code 0
cp -r run whole

same_as_whole() {
  what="diff of run and whole"
  checks=$((checks + 1))
  diff -r -x lock -x worker.log -x 'catalogue.sqlite*' whole run >out 2>err || complain "expected the same files, byte by byte"
}

# Torn, gone, changed in one byte, and a half file of a killed worker.
truncate -s 100 run/trials/000001/validation.npy
rm run/trials/000002/weights.safetensors
printf 'x' | dd of=run/trials/000003/test.npy bs=1 seek=150 conv=notrunc status=none
: >run/trials/000004/network.json
rm -r run/trials/000005
tutti select run
expect_code 1
expect_err validation.npy
tutti run small.ini --out run --resume
expect_code 0
expect_err "000001/validation.npy" "trial 1 is trained again" "trial 2 is" "trial 3 is" "trial 4 is" "trial 5 is"
same_as_whole

# Results that are made of others are made again.
: >run/summary.json
echo '{"members": [' >run/ensemble.json
tutti evaluate run
expect_code 1
expect_err "ensemble"
tutti run small.ini --out run --resume --quiet
expect_code 0
same_as_whole

# What predicting needs.
head -c 20 whole/data.json >run/data.json
tutti predict run table.csv
expect_code 1
expect_err data.json
cp whole/data.json run/
truncate -s 64 run/trials/*/weights.safetensors
tutti predict run table.csv
expect_code 1
expect_err weights.safetensors
tutti run small.ini --out run --resume --quiet
expect_code 0
same_as_whole

# A catalogue that is none.
head -c 2000 whole/catalogue.sqlite >run/catalogue.sqlite
rm -f run/catalogue.sqlite-*
tutti status run
expect_code 1
expect_err catalogue.sqlite
tutti run small.ini --out run --resume
expect_code 1
expect_err catalogue.sqlite

# Two managers for one directory: the second is refused.
tutti run small.ini --out busy --quiet
expect_code 0
exec 8>>busy/lock
flock -n 8 || complain "expected the lock to be free"
tutti run small.ini --out busy --resume
expect_code 2
expect_err "busy" "in use"
tutti status busy --json
expect_json true running
exec 8>&-
tutti run small.ini --out busy --resume --quiet
expect_code 0
finish
