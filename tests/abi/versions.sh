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

mapfile -t kernels < <(grep -oE 'libcpu[a-z0-9]*\.la' "$source/backends/local.mk" | sort -u)
for version in older newer; do
  rm -rf "${work:?}/$version"
  mkdir "$work/$version"
  (cd "$source" && tar cf - --exclude=./build --exclude=./build-asan --exclude=./.git --exclude=./runs .) | tar xf - -C "$work/$version"
  chmod -R u+w "$work/$version"
  [ $version = older ] || grow "$work/$version"
  cd "$work/$version"
  [ -x configure ] || quietly autoreconf -i
  mkdir -p built
  cd built
  # What is left out of an initialiser is meant to be zero.
  plain="-g -O1 -Wno-missing-field-initializers"
  [ -f Makefile ] || quietly ../configure --enable-sanitizers CC="${CC:-gcc}" CFLAGS="$plain"
  # The kernels see numbers alone, none of the structs, and with sanitizers they would take longer than all the rest: they come
  # first, without.
  quietly make -s -j"$(nproc)" "${kernels[@]}" CFLAGS="$plain"
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
  export TUTTI_PLUGIN_FOLDER=$work/$plugins/built/modules
  run() { # NAME RECIPE [OPTION]...
    local name=$1 recipe=$2
    shift 2
    rm -rf "$name-$host-$plugins"
    quietly "$host/built/tutti" run "$source/ini/$recipe" --out "$name-$host-$plugins" --quiet "$@"
  }
  run quickstart quickstart.ini --set run.budget=6
  # Pools of predictions; models, acquisitions and maximisers that call each other.
  run pools quickstart.ini --set run.budget=14 --set builder.plugin=smbo-ensemble --set builder.maximiser=sample
  run models bo-branin.ini --set run.budget=14
  unset TUTTI_PLUGIN_FOLDER
done
for pair in newer-older older-newer; do
  for run in quickstart pools; do
    cmp "$run-newer-newer/ensemble.json" "$run-$pair/ensemble.json"
    (cd "$run-newer-newer" && find . -name '*.npy' -o -name '*.safetensors' | sort) > files
    [ "$(wc -l < files)" -gt 10 ]
    while read -r file; do cmp "$run-newer-newer/$file" "$run-$pair/$file"; done < files
  done
  for run in newer-newer $pair; do
    sed -n '/"best"/,/}/p' "models-$run/summary.json" | grep '"loss"\|"trial"' > "best-$run"
    [ -s "best-$run" ]
  done
  cmp best-newer-newer "best-$pair"
done
echo "the same ensembles, predictions, weights and minima"
