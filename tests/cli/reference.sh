#!/bin/bash
# The plugin reference is what the plugins' parameter tables say, and the tables of metrics are the library's.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"

# The tables of metrics stand between marks in their document.
what='metric-tables'
"$TUTTI_TEST_BUILDDIR/tests/cli/metric-tables" <"$TUTTI_TEST_SRCDIR/docs/metrics.md" >out 2>err
code=$?
expect_code 0
checks=$((checks + 1))
diff "$TUTTI_TEST_SRCDIR/docs/metrics.md" out >difference || {
  head -n 20 difference
  complain "docs/metrics.md is not current: run make reference, and commit it"
}
grep -v 'metrics: regression' "$TUTTI_TEST_SRCDIR/docs/metrics.md" >torn.md
"$TUTTI_TEST_BUILDDIR/tests/cli/metric-tables" <torn.md >out 2>err
code=$?
expect_code 1
expect_err "expected the line <!-- metrics: regression --> once, found it 0 times"

# The page about recipes has a line for each key of [run], with its default and its choices.
tutti inspect run --json
expect_code 0
for ((i = 0; ; i++)); do
  key=$("$json_value" out parameters "$i" name) || break
  preset=$("$json_value" out parameters "$i" default)
  line=$(grep -F "| \`$key\` |" "$TUTTI_TEST_SRCDIR/docs/recipes.md")
  checks=$((checks + 1))
  [ -n "$line" ] || complain "expected a line for $key in docs/recipes.md"
  [ -z "$preset" ] || grep -qF -- "$preset" <<<"$line" || complain "expected $preset for $key: $line"
  for ((c = 0; ; c++)); do
    choice=$("$json_value" out parameters "$i" choices "$c" 2>/dev/null) || break
    grep -qF "\`$choice\`" <<<"$line" || complain "expected the choice $choice of $key: $line"
  done
done
checks=$((checks + 1))
[ "$i" -gt 10 ] || complain "expected the keys of [run]"

# Backend cuda is available on an emulated device.
[ ! -e "$TUTTI_TEST_BUILDDIR/tests/cuda/.libs/backend-cuda.so" ] ||
  export TUTTI_PLUGIN_PATH=$TUTTI_TEST_BUILDDIR/tests/cuda/.libs:$TUTTI_PLUGIN_PATH
# Of a plugin that lacks a library or device here, nobody can tell its parameters.
tutti list
if grep unavailable out; then
  [ "$failures" -eq 0 ] || finish
  echo "skipped: not every plugin is available"
  exit 77
fi
tutti inspect --markdown
expect_code 0
checks=$((checks + 1))
diff "$TUTTI_TEST_SRCDIR/docs/plugins.md" out >difference || {
  head -n 20 difference
  complain "docs/plugins.md is not current: run make reference, and commit it"
}
finish
