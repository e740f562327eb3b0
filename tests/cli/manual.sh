#!/bin/bash
# The manual page is what the program says of its commands.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"

tutti man-page
expect_code 0
expect_empty err
checks=$((checks + 1))
diff "$TUTTI_TEST_SRCDIR/docs/tutti.1" out >difference || {
  head -n 20 difference
  complain "docs/tutti.1 is not current: run make reference, and commit it"
}
for command in $("$TUTTI_PROGRAM" --help | awk '/^  [a-z]/ { print $1 }'); do
  expect_out ".SS tutti $command "
done
expect_out "\\-\\-set\\fR=\\fISECTION.KEY=VALUE\\fR" "\\-\\-verbose" "tutti check"
expect_not_in out "scan\\-plugin"
if command -v groff >/dev/null; then
  what='groff -ww docs/tutti.1'
  groff -man -Tascii -ww "$TUTTI_TEST_SRCDIR/docs/tutti.1" >out 2>err
  expect_empty err
  what='groff -ww docs/tutti-conform.1'
  groff -man -Tascii -ww "$TUTTI_TEST_SRCDIR/docs/tutti-conform.1" >out 2>err
  expect_empty err
fi
what='tutti-conform --help'
"$TUTTI_TEST_BUILDDIR/tutti-conform" --help >out 2>err
grep -oE -e '--[a-z]+' out | sort -u | grep -v usage >options
while read -r option; do
  expect_in "$TUTTI_TEST_SRCDIR/docs/tutti-conform.1" "${option//-/\\-}"
done <options
finish
