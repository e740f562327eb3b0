#!/bin/bash
# What is installed is complete and works from where it is; what is uninstalled is gone.
set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES TUTTI_PLUGIN_PATH TUTTI_PLUGIN_FOLDER TUTTI_RECIPE_FOLDER
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
in_build() { make --no-print-directory -s -C "$TUTTI_TEST_BUILDDIR" "$@"; }

in_build install DESTDIR="$stage" > "$stage/log" 2>&1 || { cat "$stage/log" && exit 1; }
pc=$(find "$stage" -name tutti.pc)
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$stage
prefix=$(pkg-config --variable=prefix tutti) libdir=$(pkg-config --variable=libdir tutti)
# pkgconf puts the sysroot before some variables.
prefix=$stage${prefix#"$stage"} libdir=$stage${libdir#"$stage"}

for file in "$prefix/bin/tutti" "$prefix/include/tutti/plugin.h" "$prefix/share/aclocal/tutti.m4" \
  "$prefix/share/man/man1/tutti.1" "$prefix/share/bash-completion/completions/tutti" "$prefix/share/zsh/site-functions/_tutti" \
  "$prefix/share/fish/vendor_completions.d/tutti.fish" "$libdir/libtutti.so" "$libdir/libtutti-engine.so"; do
  [ -e "$file" ] || { echo "not installed: $file" && exit 1; }
done
[ -z "$(find "$stage" -name '*_impl.h')" ] || { echo "private headers are installed" && exit 1; }

echo "plugins export tutti_plugin and nothing else"
for plugin in "$libdir"/tutti/plugins/*; do
  wanted=tutti_plugin
  [ "${plugin##*/}" != mpilink.so ] || wanted=tutti_mpi_link # no plugin: executor mpi loads it
  symbols=$(nm -D --defined-only "$plugin" | awk '{ print $3 }' | grep -v '^__\(asan\|odr_asan\|ubsan\)' || true)
  [ "$symbols" = "$wanted" ] || { echo "$plugin exports: $symbols" && exit 1; }
done

echo "the libraries export tutti_ and nothing else; libtutti needs nothing that only runs need"
for library in libtutti libtutti-engine; do
  strangers=$(nm -D --defined-only "$libdir/$library.so" | awk '$2 != "A" { print $3 }' | grep -v "^tutti_\|^__\(asan\|odr_asan\|ubsan\)" || true)
  [ -z "$strangers" ] || { echo "$library exports: $strangers" && exit 1; }
done
if readelf -d "$libdir/libtutti.so" | grep NEEDED | grep 'sqlite\|inih\|jpeg\|csv\|engine'; then exit 1; fi
for plugin in "$libdir"/tutti/plugins/*; do
  if readelf -d "$plugin" | grep 'NEEDED.*tutti-engine'; then echo "$plugin needs libtutti-engine" && exit 1; fi
done

echo "the program runs, and finds what is installed, from where it is; not in the system's own folders, where the linker looks"
case ${libdir#"$stage"} in
/usr/lib | /usr/lib/* | /lib | /lib/*) export LD_LIBRARY_PATH=$libdir ;;
esac
env TUTTI_RECIPE_FOLDER= "$prefix/bin/tutti" --version
"$prefix/bin/tutti" inspect selector/top-m | grep -F "$libdir/tutti/plugins/selector-top-m.so"
grep -qF "${prefix#"$stage"}/share/tutti/ini" "$libdir/libtutti-engine.so" || { echo "no folder of recipes in libtutti-engine" && exit 1; }

echo "the example of the manual page works"
mkdir "$stage/=example"
sed -n '/^\.nf$/,/^\.fi$/p' "$prefix/share/man/man1/tutti.1" | sed '/^\./d; s/\\-/-/g' >"$stage/=commands"
grep -q "^tutti run" "$stage/=commands" || { echo "the manual page has no example" && exit 1; }
(
  export TUTTI_RECIPE_FOLDER=$prefix/share/tutti/ini
  export PATH=$prefix/bin:$PATH
  cd "$stage/=example" || exit 1
  bash -e "$stage/=commands" >out 2>err || { cat "$stage/=commands" err && exit 1; }
)
rm -r "$stage/=example" "$stage/=commands"

echo "an embedder compiles"
cat > "$stage/embedder.c" << 'END'
#include <stdio.h>
#include <tutti/tutti.h>
#include <tutti/version.h>
int main(void) {
  tutti_context *context;
  if (tutti_context_create(&context) != TUTTI_OK)
    return 1;
  tutti_context_destroy(context);
  return puts(tutti_version()) < 0;
}
END
read -ra flags <<< "$(pkg-config --cflags --libs tutti-engine)"
read -ra cc <<< "$CC ${TUTTI_TEST_CFLAGS-}"
"${cc[@]}" "$stage/embedder.c" -o "$stage/embedder" "${flags[@]}"
LD_LIBRARY_PATH=$libdir "$stage/embedder"

in_build uninstall DESTDIR="$stage" > "$stage/log" 2>&1 || { cat "$stage/log" && exit 1; }
left=$(find "$stage" ! -type d ! -name log ! -name 'embedder*')
[ -z "$left" ] || { printf 'left after make uninstall:\n%s\n' "$left" && exit 1; }
