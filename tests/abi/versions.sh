#!/bin/bash
# Plugins of an older version in a newer host, and the other way round, under sanitizers. The newer version is this tree with
# headers in which every struct that carries its size has grown by a member (and every table of functions by one). Both are
# built; then each host checks the other's plugins of every kind, and runs a recipe with them to the same result.
#   versions.sh [FOLDER]     where to build (default: a temporary folder, removed at the end)
set -eu
source=$(cd "${TUTTI_TEST_SRCDIR:-$(dirname "$0")/../..}" && pwd)
if [ $# -gt 0 ]; then
  mkdir -p "$1"
  work=$(cd "$1" && pwd)
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
unset TUTTI_PLUGIN_PATH TUTTI_PLUGIN_FOLDER MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
export OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=1
quietly() { "$@" > "$work/log" 2>&1 || { echo "failed: $*" && tail -n 60 "$work/log" && exit 1; }; }

# As many of the headers' structs as carry their size, and those of tables that carry a stride, with a member more.
grow() {
  local header
  for header in "$1"/include/tutti/*.h; do
    awk '
      /^struct tutti_[a-z0-9_]+ \{/ { inside = 1; sized = $2 == "tutti_attribute_definition"; ops = $2 ~ /_ops$/ }
      inside && $1 == "size_t" && $2 == "size;" { sized = 1 }
      /^};/ && inside { if (sized) print (ops ? "  void (*of_tomorrow)(void);" : "  uint64_t of_tomorrow[4];"); inside = 0 }
      { print }' "$header" > "$work/grown"
    cat "$work/grown" > "$header"
  done
}

for version in older newer; do
  [ -d "$work/$version" ] || {
    mkdir "$work/$version"
    (cd "$source" && tar cf - --exclude=./build --exclude=./build-asan --exclude=./.git --exclude=./runs .) | tar xf - -C "$work/$version"
    chmod -R u+w "$work/$version"
    [ $version = older ] || grow "$work/$version"
  }
  cd "$work/$version"
  [ -x configure ] || quietly autoreconf -i
  mkdir -p built
  cd built
  # What is left out of an initialiser is meant to be zero.
  [ -f Makefile ] || quietly ../configure --enable-sanitizers CC="${CC:-gcc}" CFLAGS="-g -O1 -Wno-missing-field-initializers"
  quietly make -s -j"$(nproc)"
done
grown=$(grep -l of_tomorrow "$work"/newer/include/tutti/*.h | wc -l)
echo "structs have grown in $grown headers"
[ "$grown" -ge 10 ]

cd "$work"
# The host of one version with the plugins of the other.
for pair in "newer older" "older newer" "newer newer"; do
  read -r host plugins <<< "$pair"
  echo "a host of the $host version, plugins of the $plugins one"
  quietly "$host/built/tutti-conform" --path "$work/$plugins/built/modules"
  tail -n 1 log
  rm -rf "run-$host-$plugins"
  TUTTI_PLUGIN_FOLDER=$work/$plugins/built/modules quietly "$host/built/tutti" run "$source/ini/quickstart.ini" \
    --out "run-$host-$plugins" --quiet --set run.budget=6
done
for part in ensemble.json trials/000003/val.npy trials/000003/validation.npy trials/000003/weights.safetensors; do
  [ ! -e "run-newer-newer/$part" ] || for pair in newer-older older-newer; do
    cmp "run-newer-newer/$part" "run-$pair/$part"
  done
done
cmp run-newer-newer/ensemble.json run-older-newer/ensemble.json
echo "the same ensembles, predictions and weights"
