#!/bin/bash
# The plugin package of a third party: copied, built against a staged installation, checked by tutti-conform, used in a run.
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES TUTTI_PLUGIN_PATH TUTTI_PLUGIN_FOLDER
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
quietly() { "$@" >"$stage/log" 2>&1 || { echo "failed: $*" && tail -n 40 "$stage/log" && exit 1; }; }

quietly make --no-print-directory -s -C "$TUTTI_TEST_BUILDDIR" install DESTDIR="$stage/root"
pc=$(find "$stage/root" -name tutti.pc)
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$stage/root
prefix=$(pkg-config --variable=prefix tutti) libdir=$(pkg-config --variable=libdir tutti)
prefix=$stage/root${prefix#"$stage/root"} libdir=$stage/root${libdir#"$stage/root"}

cp -r "$TUTTI_TEST_SRCDIR/template" "$stage/package"
chmod -R u+w "$stage/package"
cd "$stage/package"
ACLOCAL_PATH=$prefix/share/aclocal quietly autoreconf -i
quietly ./configure CC="$CC" CFLAGS="${TUTTI_TEST_CFLAGS-}"
quietly make
for plugin in space-pyramid selector-better-half builder-hill-climb; do
  [ -e ".libs/$plugin.so" ] || { echo "not built: $plugin" && exit 1; }
done

export LD_LIBRARY_PATH=$libdir TUTTI_PLUGIN_FOLDER=$libdir/tutti/plugins
for plugin in space/pyramid selector/better-half builder/hill-climb; do
  quietly "$prefix/bin/tutti-conform" --path .libs "$plugin"
  tail -n 1 "$stage/log"
done

export TUTTI_PLUGIN_PATH=$PWD/.libs
quietly "$prefix/bin/tutti" run template.ini --out run --quiet
grep -q "builder hill-climb, space pyramid" "$stage/log"
grep -q "chosen by better-half" "$stage/log"
quietly make install DESTDIR="$stage/root"
unset TUTTI_PLUGIN_PATH
quietly "$prefix/bin/tutti" inspect space/pyramid
