#!/bin/bash
# The plugin reference is what the plugins' parameter tables say.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"

# Of a plugin that lacks a library or device here, nobody can tell its parameters.
tutti list
grep unavailable out && { echo "skipped: not every plugin is available"; exit 77; }
tutti inspect --markdown
expect_code 0
checks=$((checks + 1))
diff "$TUTTI_TEST_SRCDIR/docs/plugins.md" out >difference || {
  head -n 20 difference
  complain "docs/plugins.md is not current: run make reference, and commit it"
}
finish
