#!/bin/bash
# The experiments and benches in Python, on a machine without any package: asked for help, each says what it is, or what to install,
# and none dies of what it lacks.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
for script in "$TUTTI_TEST_SRCDIR"/tests/experiments/* "$TUTTI_TEST_SRCDIR"/tests/bench/*.py; do
  sed -n 1p "$script" | grep -q '^#!.*python' || continue
  what="python3 -S $script --help"
  python3 -S "$script" --help >out 2>err </dev/null
  code=$?
  expect_not_in err Traceback
  checks=$((checks + 1))
  cat out err | grep -qE "^usage: |^${script##*/}: |\(pip install |nothing to compare with|${script##*/} " || complain "expected what it is, or what it needs"
done
finish
