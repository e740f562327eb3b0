#!/bin/bash
# Every public header is installed, and compiles alone as C11 and as C++17 without a warning.
set -u
include=$TUTTI_TEST_SRCDIR/include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# try COMMAND...: say what went wrong with $header.
try() {
  "$@" || { echo "$header: $* failed" && failed=1; }
}

# CC may be a command with arguments.
read -ra cc <<< "$CC"
read -ra cxx <<< "$CXX"
for header in "$include"/tutti/*.h; do
  name=${header##*/}
  grep -q "tutti/$name\$" "$include/local.mk" || { echo "$name is not installed: it is not in include/local.mk" && failed=1; }
  printf '#include <tutti/%s>\n#include <tutti/%s>\nint compiled_alone;\n' "$name" "$name" | tee "$work/alone.c" > "$work/alone.cpp"
  try "${cc[@]}" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$include" "$work/alone.c"
  [ -z "$CXX" ] ||
    try "${cxx[@]}" -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$include" "$work/alone.cpp"
done
[ -n "$CXX" ] || echo "no C++ compiler: not tried as C++"
exit $failed
