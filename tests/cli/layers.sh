#!/bin/bash
# No #include runs up the house, and the check does find one that does; no circle of more than two files.
set -u
cd "$TUTTI_TEST_SRCDIR" || exit 1
failed=0
bash build-aux/check-includes . || failed=1
python3 build-aux/check-circles . "$TUTTI_TEST_BUILDDIR" || failed=1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r --parents build-aux/layers build-aux/read-layers build-aux/check-includes core engine program plugins backends spaces template include "$work"
chmod -R u+w "$work"
# Up into the engine; across from a plugin into the core's inside is as it must be said in the table; a header of nobody.
expect() {
  local file=$1 line=$2 said=$3
  cp "$file" "$work/kept"
  echo "$line" >> "$work/$file"
  if bash build-aux/check-includes "$work" > "$work/out"; then
    echo "$file with $line: passed" && failed=1
  fi
  grep -q "$said" "$work/out" || { echo "$file with $line: expected '$said', found:" && cat "$work/out" && failed=1; }
  cp "$work/kept" "$work/$file"
}
expect core/base/text.c '#include <tutti/run.h>' 'core/base/text.c (core/base) includes #include <tutti/run.h>, which is of engine/run'
expect core/score/metrics.c '#include "engine/run/run_impl.h"' 'which is of engine/run'
expect engine/data/dataset.c '#include "engine/recipe/recipe_impl.h"' 'which is of engine/recipe'
expect plugins/selector/all.c '#include <tutti/catalogue.h>' 'which is of engine/run'
expect plugins/selector/all.c '#include "core/base/text_impl.h"' 'which is private to core/base'
expect include/tutti/context.h '#include <tutti/network.h>' 'which is of core/network'
expect core/base/text.c '#include <tutti/nowhere.h>' 'stands in no line'
exit $failed
