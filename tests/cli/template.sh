#!/bin/bash
# The plugin package of a third party, who has an installed Tutti and the README of the package, whose steps are what runs here.
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES TUTTI_PLUGIN_PATH TUTTI_PLUGIN_FOLDER ACLOCAL_PATH
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
[ -n "$CXX" ] || { echo "no C++ compiler: one of the plugins is in C++" && exit 77; }

# Installed under a prefix of its own. Folders that configure was given by themselves would not be there.
[ "$(grep -c '^libdir=${exec_prefix}/lib$\|^bindir=${exec_prefix}/bin$\|^exec_prefix=${prefix}$' "$TUTTI_TEST_BUILDDIR/tutti.pc")" = 3 ] ||
  { echo "configured with folders that are not those of the prefix" && exit 77; }
prefix=$stage/prefix
make --no-print-directory -s -C "$TUTTI_TEST_BUILDDIR" install prefix="$prefix" > "$stage/log" 2>&1 ||
  { cat "$stage/log" && exit 1; }

# The steps, the indented lines of the README, in an empty environment: nothing but what they set themselves.
sed -n 's/^    //p' "$prefix/share/tutti/template/README.md" | sed "s|^PREFIX=[^ ]*|PREFIX=$prefix|" > "$stage/steps"
[ "$(grep -c "^PREFIX=$prefix\|^make check" "$stage/steps")" = 2 ] || { echo "the README has no steps" && exit 1; }
cd "$stage"
env -i HOME="$stage" PATH="$PATH" bash -eu steps > log 2>&1 ||
  { echo "the steps of the README failed:" && tail -n 40 log && exit 1; }
plugin_folder=$prefix/lib/tutti/plugins

cd "$stage/my-plugins"
plugins=0
for source in src/*.c*; do
  plugin=$(basename "${source%.*}")
  plugins=$((plugins + 1))
  grep -q "^${plugin%%-*}/${plugin#*-}: .* passed, 0 failed" "$stage/log" || { echo "$plugin was not checked" && exit 1; }
  [ -e "$plugin_folder/$plugin.so" ] || { echo "$plugin was not installed" && exit 1; }
done
[ "$plugins" -ge 7 ]
grep "passed, 0 failed" "$stage/log"
# What is being built shadows what was installed: the checks pass again, and are of the new files.
env -i HOME="$stage" PATH="$PATH" make check > "$stage/again" 2>&1 || { echo "make check failed after make install:" && tail -n 20 "$stage/again" && exit 1; }
[ "$(grep -c "passed, 0 failed" "$stage/again")" = "$plugins" ] || { echo "not all plugins were checked again" && exit 1; }
for said in "builder hill-climb, space pyramid" "chosen by better-half" "builder restless, space pyramid"; do
  grep -q "$said" "$stage/log" || { echo "no run said: $said" && exit 1; }
done
grep -q "acquisition = patient" runs/bayes/recipe.ini
grep -q "plugin = ledger" runs/ledger/recipe.ini

# This tree's compilers have nothing to say of the sources.
read -ra cc <<< "$CC"
read -ra cxx <<< "$CXX"
for source in src/*.c*; do
  compiler=("${cc[@]}" -std=gnu11)
  [[ $source != *.cpp ]] || compiler=("${cxx[@]}" -std=c++17)
  "${compiler[@]}" -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" "$source"
done

# Moved, everything is still found: the libraries by the program, the plugins by the library.
mv "$prefix" "$stage/moved"
env -i "$stage/moved/bin/tutti" inspect space/pyramid > moved
grep -qF "$stage/moved/lib/tutti/plugins/space-pyramid.so" moved
