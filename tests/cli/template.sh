#!/bin/bash
# The plugin package of a third party, who has an installed Tutti and the README of the package, whose steps are what runs here.
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES TUTTI_PLUGIN_PATH TUTTI_PLUGIN_FOLDER ACLOCAL_PATH
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
[ -n "$CXX" ] || { echo "no C++ compiler: one of the plugins is in C++" && exit 77; }

# Installed, and moved to a prefix of its own: what a configure --prefix would have written into files stands for it here.
make --no-print-directory -s -C "$TUTTI_TEST_BUILDDIR" install DESTDIR="$stage/root" > "$stage/log" 2>&1 ||
  { cat "$stage/log" && exit 1; }
configured=$(sed -n 's/^prefix=//p' "$TUTTI_TEST_BUILDDIR/tutti.pc")
prefix=$stage/elsewhere
mv "$stage/root$configured" "$prefix"
sed -i "s|^prefix=.*|prefix=$prefix|" "$prefix"/lib/pkgconfig/*.pc
export LD_LIBRARY_PATH=$prefix/lib TUTTI_PLUGIN_FOLDER=$prefix/lib/tutti/plugins

# The steps: the indented lines of the README.
sed -n 's/^    //p' "$prefix/share/tutti/template/README.md" | sed "s|^PREFIX=[^ ]*|PREFIX=$prefix|" > "$stage/steps"
[ "$(grep -c "^PREFIX=$prefix\|^make check" "$stage/steps")" = 2 ] || { echo "the README has no steps" && exit 1; }
export CC CXX CFLAGS="-Werror ${TUTTI_TEST_CFLAGS-}" CXXFLAGS="-Werror ${TUTTI_TEST_CFLAGS-}"
cd "$stage"
bash -eu steps > log 2>&1 || { echo "the steps of the README failed:" && tail -n 40 log && exit 1; }

cd "$stage/my-plugins"
plugins=0
for source in src/*.c*; do
  plugin=$(basename "${source%.*}")
  plugins=$((plugins + 1))
  grep -q "^${plugin%%-*}/${plugin#*-}: .* passed, 0 failed" "$stage/log" || { echo "$plugin was not checked" && exit 1; }
  [ -e "$TUTTI_PLUGIN_FOLDER/$plugin.so" ] || { echo "$plugin was not installed" && exit 1; }
done
[ "$plugins" -ge 7 ]
grep "passed, 0 failed" "$stage/log"
# What is being built shadows what was installed: the checks pass again, and are of the new files.
make check > "$stage/again" 2>&1 || { echo "make check failed after make install:" && tail -n 20 "$stage/again" && exit 1; }
[ "$(grep -c "passed, 0 failed" "$stage/again")" = "$plugins" ] || { echo "not all plugins were checked again" && exit 1; }
for said in "builder hill-climb, space pyramid" "chosen by better-half" "builder restless, space pyramid"; do
  grep -q "$said" "$stage/log" || { echo "no run said: $said" && exit 1; }
done
grep -q "acquisition = patient" runs/bayes/recipe.ini
grep -q "plugin = ledger" runs/ledger/recipe.ini
