# shellcheck shell=bash
# The disk fills up while a run goes on: it stops with a clear message, keeps what it had recorded, and goes on to the same
# result when there is room. A small file system of memory, in a mount namespace of its own, plays the disk.
if [ "${1:-}" != inside ]; then
  unshare -rm true 2>/dev/null || { echo "no namespaces here: the full disk is not tried"; exit 77; }
  exec unshare -rm bash "$0" inside
fi
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
mkdir disk

# Weights and predictions fill it.
regression_recipe >table.ini
tutti run table.ini --out whole --quiet
expect_code 0
needed=$(du -sk whole | cut -f1)
mount -t tmpfs -o "size=$((needed * 6 / 10))k" disk disk || exit 77
tutti run table.ini --out disk/run --quiet
expect_code 1
expect_err "--resume"
checks=$((checks + 1)) # whether a trial's file or the catalogue meets the end of the disk is chance
grep -qE "No space left on device|disk is full" err || complain "expected that the disk is said to be full"
expect_absent disk/run/ensemble.json
tutti run table.ini --out disk/run --quiet --resume
expect_code 1
mount -o remount,size=64m disk disk
tutti run table.ini --out disk/run --quiet --resume
expect_code 0
for file in summary.json ensemble.json trials/000003/weights.safetensors trials/000005/test.npy; do
  checks=$((checks + 1))
  cmp -s "whole/$file" "disk/run/$file" || complain "expected the bits of an undisturbed run in $file"
done
# A worker that was ended while it wrote may have left a half file under its temporary name: now it is gone.
for file in disk/run/trials/*/*.tmp; do
  checks=$((checks + 1))
  [ ! -e "$file" ] || complain "expected no half file $file"
done
umount disk

# The catalogue fills it.
cat >value.ini <<'INI'
[run]
budget = 4000
[space]
plugin = fixed
[backend]
plugin = function
[hyperparameters]
x0 = uniform -5 10
x1 = uniform 0 15
INI
tutti run value.ini --out whole-values --quiet
expect_code 0
mount -t tmpfs -o size=300k disk disk || exit 77
tutti run value.ini --out disk/run --quiet
expect_code 1
expect_err "disk" "--resume"
mount -o remount,size=64m disk disk
tutti run value.ini --out disk/run --quiet --resume
expect_code 0
cmp -s whole-values/summary.json disk/run/summary.json || complain "expected the summary of an undisturbed run"
umount disk
finish
