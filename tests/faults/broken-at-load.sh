#!/bin/bash
# A plugin that ends, stops or crashes the program while it is loaded, asked whether it works, or reads data is named, and
# no command ends with exit code 0.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
mkdir plugins
export TUTTI_PLUGIN_PATH=$PWD/plugins:${TUTTI_PLUGIN_PATH:-}
put() { cp "$TUTTI_TEST_BUILDDIR/tests/faults/.libs/broken.so" "plugins/$1-$2.so"; }
recipe() { regression_recipe | awk -v name="$1" '/^\[selector\]/ { print; print "plugin = " name; on = 1; next } /^\[/ { on = 0 } !on'; }

# names FAULT TEXT...: a run whose selector has the fault.
names() {
  put selector "$1"
  recipe "$1" | sed 's/^\[run\]/&\nplugin_timeout = 1/' >"$1.ini"
  tutti run "$1.ini" --quiet
  expect_code 1
  expect_empty out
  expect_err "selector $1 $2" "while it was loaded; this is an error of the plugin"
  expect_absent runs
}
names exits "called _exit()"
names exits-with-3 "called _exit()"
names leaves-when-asked "called exit()"
names hangs "did not return within run.plugin_timeout"
if [ "${TUTTI_TEST_WATCHED:-}" != sanitizers ]; then # they catch these signals themselves
  names aborts "aborted"
  names segfaults "crashed (segmentation fault)"
fi

# An interrupt ends a program that waits for a plugin to load.
sed 's/^plugin_timeout.*/plugin_timeout = 60/' hangs.ini >waits.ini
"$TUTTI_PROGRAM" run waits.ini --quiet >out 2>err </dev/null &
child=$!
what="tutti run waits.ini, interrupted"
sleep 0.5
kill -TERM "$child"
wait "$child"
code=$?
expect_code 130
expect_err "selector hangs was being loaded when the program was interrupted"

# What a plugin does when the program has ended changes no exit code.
put selector leaves-in-the-end
recipe leaves-in-the-end >end.ini
tutti run end.ini --quiet
expect_code 1
expect_err "the dog ate it"

# Reading: by commands that read data.
put source sound
printf '[run]\nname = read\nbudget = 3\nplugin_timeout = 1\n[data]\nplugin = sound\ntarget = y\n[hyperparameters]\nepochs = 2\n' >sound.ini
tutti validate sound.ini
expect_code 0
reads() {
  put source "$1"
  sed "s/^plugin = sound/plugin = $1/" sound.ini >read.ini
  for command in run validate; do
    tutti "$command" read.ini
    expect_code 1
    expect_empty out
    expect_err "source $1 $2; this is an error of the plugin"
  done
}
reads leaves-at-work "called exit()"
reads hangs-at-work "did not return within run.plugin_timeout"
if [ "${TUTTI_TEST_WATCHED:-}" != sanitizers ]; then
  reads aborts-at-work "aborted (abort(), a failed assertion, or a C++ exception that nothing caught)"
fi

# Every command that loads the plugins of a run.
put selector sound
recipe sound >small.ini
tutti run small.ini --quiet
expect_code 0
export TUTTI_TEST_LEAVES=1
for command in status select predict evaluate report curve compare export; do
  words=(runs/small)
  [ "$command" != predict ] || words+=(table.csv)
  [ "$command" != export ] || words+=(--to small.onnx)
  [ "$command" != compare ] || words+=(runs/small)
  tutti "$command" "${words[@]}"
  expect_code 1
  expect_empty out
  expect_err "selector sound called exit() while it was loaded; this is an error of the plugin"
done
finish
