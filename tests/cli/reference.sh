#!/bin/bash
# The plugin reference is what the plugins' parameter tables say.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"

tutti inspect --markdown
expect_code 0
checks=$((checks + 1))
diff "$TUTTI_TEST_SRCDIR/docs/plugins.md" out >difference || {
  head -n 20 difference
  complain "docs/plugins.md is not current: run make reference, and commit it"
}
finish
