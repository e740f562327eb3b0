#!/bin/bash
# Every public header is installed, and compiles alone as C11 and as C++17 without a warning.
set -u
core=$TUTTI_TEST_SRCDIR/core
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
for header in "$core"/tutti/*.h; do
  name=${header##*/}
  grep -q "tutti/$name\$" "$core/local.mk" || { echo "$name is not installed: it is not in core/local.mk" && failed=1; }
  printf '#include <tutti/%s>\n#include <tutti/%s>\nint compiled_alone;\n' "$name" "$name" | tee "$work/alone.c" > "$work/alone.cpp"
  try "${cc[@]}" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$core" "$work/alone.c"
  [ -z "$CXX" ] ||
    try "${cxx[@]}" -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$core" "$work/alone.cpp"
done
[ -n "$CXX" ] || echo "no C++ compiler: not tried as C++"
exit $failed
