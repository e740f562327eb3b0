# tutti-conform over every plugin of this tree, and how it fails.
# shellcheck shell=bash
# shellcheck source=tests/cli/harness.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"

conform() {
  what="tutti-conform $*"
  "$TUTTI_TEST_BUILDDIR/tutti-conform" "$@" >out 2>err </dev/null
  code=$?
}

conform
expect_code 0
expect_out " passed, 0 failed"
for module in "$TUTTI_TEST_BUILDDIR"/modules/*-*.so; do
  name=$(basename "$module" .so)
  expect_out "ok   ${name%%-*}/${name#*-}: "
done
expect_not_in out "FAIL"
grep -E '^skip' out

conform selector/frward
expect_code 1
expect_out "FAIL selector/frward: there is no such plugin on the search path" "0 passed, 1 failed"

conform --set selector/top-m.size=0 selector/top-m
expect_code 1
expect_out "--set selector/top-m.size=0: expected an integer"

conform selector acquisition/ei
expect_code 0
expect_out "ok   selector/all" "ok   acquisition/ei"
expect_not_in out "acquisition/lcb"

conform --no-such-option
expect_code 2
finish
