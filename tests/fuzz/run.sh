#!/bin/bash
# What make fuzz runs: the fuzz targets with libFuzzer and sanitizers, each for some time, in a build of their own.
#
#   run.sh SOURCES BUILD SECONDS CORPUS [TARGET...]
#
# Inputs that reach something new are collected in CORPUS/TARGET (default: BUILD/corpus) and used again the next time; what
# ends a target is kept in BUILD/crashes. Prints executions, size of the corpus and crashes of each; exit code 1 on a crash.
set -euo pipefail
sources=$1 build=$2 seconds=$3 corpus=${4:-$2/corpus}
shift 4
command -v clang >/dev/null || {
  echo "make fuzz: this needs clang and its runtime library (Debian: clang libclang-rt-dev)" >&2
  exit 1
}
# Not what the calling make is told: this is another build.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
mkdir -p "$build"
log=$(cd "$build" && pwd)/fuzz.log
quietly() {
  "$@" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    echo "make fuzz: $* failed: see $log" >&2
    exit 1
  }
}
cc=clang
! command -v ccache >/dev/null || cc="ccache clang"
[ -e "$build/Makefile" ] || (cd "$build" && quietly "$sources/configure" --enable-fuzzers --enable-sanitizers CC="$cc" CXX=clang++ CFLAGS=-g)
quietly make -C "$build" -s -j"$(nproc)" all
quietly make -C "$build" -s -j"$(nproc)" fuzz-programs
build=$(cd "$build" && pwd)
[ $# -gt 0 ] || mapfile -t targets < <(ls "$sources/tests/fuzz/seeds")
[ $# -eq 0 ] || targets=("$@")

export TUTTI_PLUGIN_FOLDER=$build/modules TUTTI_PLUGIN_PATH=$build/modules TUTTI_RECIPE_FOLDER=$sources/ini TUTTI_TEST_SRCDIR=$sources OPENBLAS_NUM_THREADS=1
export ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=8:allocator_may_return_null=1:${ASAN_OPTIONS-}
export UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS-}
# The targets write files: in memory, where that can be.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm
mkdir -p "$build/crashes"
crashes=0 all=0
printf '%-14s %12s %8s %8s\n' target executions corpus crashes
for target in "${targets[@]}"; do
  mkdir -p "$corpus/$target"
  before=$(find "$build/crashes" -name "$target-*" | wc -l)
  # Under libtool the program is a script that finds the libraries.
  "$build/tests/fuzz/$target" -max_total_time="$seconds" -timeout=25 -report_slow_units=25 -rss_limit_mb=2048 -malloc_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="$build/crashes/$target-" "$corpus/$target" "$sources/tests/fuzz/seeds/$target" >"$build/$target.log" 2>&1 || true
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log")
  found=$(($(find "$build/crashes" -name "$target-*" | wc -l) - before))
  printf '%-14s %12s %8s %8s\n' "$target" "${executions:-0}" "$(find "$corpus/$target" -type f | wc -l)" "$found"
  all=$((all + ${executions:-0}))
  # It ended in another way: it did not begin, or it left a complaint and no input.
  if [ "$found" -eq 0 ] && ! grep -q '^Done ' "$build/$target.log"; then
    tail -n 5 "$build/$target.log" >&2
    found=1
  fi
  [ "$found" -eq 0 ] || echo "  see $build/$target.log, and the input in $build/crashes"
  crashes=$((crashes + found))
done
echo "$all executions, $crashes crashes"
[ "$crashes" -eq 0 ]
