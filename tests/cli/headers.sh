#!/bin/bash
# Every public header is installed, compiles alone as C11 without a warning, all of them as C++17, and is in the umbrellas
# where it belongs by build-aux/layers.
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
  printf '#include <tutti/%s>\n#include <tutti/%s>\nint compiled_alone;\n' "$name" "$name" >"$work/alone.c"
  try "${cc[@]}" -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$include" "$work/alone.c"
done
# What needs another header was found above. In both orders, so that each comes early once.
for order in '' -r; do
  header="all headers in C++17"
  for file in "$include"/tutti/*.h; do echo "#include <tutti/${file##*/}>"; done | sort $order >"$work/all.cpp"
  [ -z "$CXX" ] || try "${cxx[@]}" -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$include" "$work/all.cpp"
done

# headers_of FOLDERS: the public headers of folders of build-aux/layers (a regular expression).
headers_of() {
  bash "$TUTTI_TEST_SRCDIR/build-aux/read-layers" "$TUTTI_TEST_SRCDIR" |
    awk -F'|' -v folders="^($1)\$" '{ gsub(/ /, "", $1) } $1 ~ folders { print $2 }' | tr ' ' '\n' | grep .
}
# umbrella NAME: it includes the headers on stdin, and nothing else of Tutti.
umbrella() {
  sort > "$work/expected"
  echo "#include <tutti/$1.h>" | "${cc[@]}" -std=c11 -M -I"$include" -x c - | grep -o '[a-z_]*\.h' | sort -u > "$work/all"
  for header in "$include"/tutti/*.h; do echo "${header##*/}"; done | sort | comm -12 - "$work/all" |
    sed 's/\.h$//' | grep -vx "$1" > "$work/found"
  diff "$work/expected" "$work/found" > "$work/difference" && return
  echo "<tutti/$1.h> lacks (<) or should not include (>):" && grep '^[<>]' "$work/difference"
  failed=1
}
below='core/(base|domain|network|plugin|score)' host='assembly'
umbrella plugin < <(headers_of "$below" | grep -Evx "$host")
umbrella kit < <(headers_of "$below|core/kit" | grep -Evx "$host" && echo plugin)
umbrella tutti < <(headers_of '(core|engine).*' | grep -vx tutti)

# Every public function has its contract above it, or above the run of declarations that it stands in.
awk '
  { sub(/[ \t]+$/, "") }
  FNR == 1 { inside = declaring = macro = 0; text = "" }
  macro || /^#/ { macro = /\\$/; text = ""; next }
  inside { text = text " " $0; inside = !/\*\/$/; next }
  declaring { declaring = !/;/; next }
  /^\/\*/ { inside = !/\*\//; text = $0 ~ /^\/\* ---/ ? "" : $0; next }
  /^TUTTI_API/ {
    declared++
    if (text == "") print FILENAME ":" FNR ": no comment above " $0
    declaring = !/;/
    next
  }
  { text = "" }
  END { if (declared < 300) print "only " declared + 0 " declarations were found" }
' "$include"/tutti/*.h > "$work/uncommented"
[ ! -s "$work/uncommented" ] || { cat "$work/uncommented" && failed=1; }

# In C++, too, tables and descriptors are constants, made without a warning.
cat > "$work/plugin.cpp" << 'END'
#include <tutti/kit.h>
struct config {
  tutti_growth_config growth;
  tutti_bayesian_config bayesian;
  double x;
};
static constexpr tutti_param params[] = {
    TUTTI_GROWTH_PARAMS(config, growth),
    TUTTI_DESIGN_PARAMS(config, bayesian.design, "sobol"),
    TUTTI_PROPOSER_PARAMS(config, bayesian.model, "auto", "worst", "gp", "ei", "sobol-lbfgs"),
    TUTTI_REAL(config, x, "1", 0, TUTTI_NO_LIMIT, "A number.", "seconds", TUTTI_PARAM_REQUIRED),
};
static_assert(params[0].unit && params[15].flags == TUTTI_PARAM_REQUIRED, "as in C");
static constexpr tutti_descriptor descriptor = [] {
  tutti_descriptor made = tutti_descriptor_of(TUTTI_KIND_SELECTOR, "plugin");
  made.params = TUTTI_PARAMS(params, config);
  made.create = tutti_growth_selector_create;
  return made;
}();
TUTTI_PLUGIN(descriptor)
END
header="a plugin in C++17"
[ -z "$CXX" ] || try "${cxx[@]}" -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$include" -c -o "$work/plugin.o" "$work/plugin.cpp"
[ -z "$CXX" ] || nm "$work/plugin.o" | grep -q ' T tutti_plugin$' || { echo "TUTTI_PLUGIN exports a mangled name" && failed=1; }

# What the documents show compiles.
awk -v folder="$work" '/^```/ { writing = 0 } writing { print > file } /^```c$/ { writing = 1; file = folder "/shown" ++count ".c" }' \
  "$TUTTI_TEST_SRCDIR/docs/writing-a-plugin.md"
for shown in "$work"/shown*.c; do
  header="the example $(sed -n 's/.*TUTTI_DESCRIPTOR_HEAD(\(.*\)),/\1/p' "$shown")"
  try "${cc[@]}" -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -I"$include" "$shown"
done

[ -n "$CXX" ] || echo "no C++ compiler: not tried as C++"
exit $failed
