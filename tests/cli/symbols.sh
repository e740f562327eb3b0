#!/bin/bash
# Every public function stands in the list of its library with the version that it came with, is exported under that version,
# and no plugin needs anything else: so a plugin loads wherever all that it uses is.
set -u
cd "$TUTTI_TEST_SRCDIR" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { echo "$*" && failed=1; }

# half of the house, its list, its library, the nodes' name
check_library() {
  local half=$1 list=$2 library=$TUTTI_TEST_BUILDDIR/.libs/$3 node=$4
  bash build-aux/public-functions . "$half" | LC_ALL=C sort > "$work/declared"
  cut -d ' ' -f 1 "$list" | LC_ALL=C sort > "$work/listed"
  LC_ALL=C comm -23 "$work/declared" "$work/listed" > "$work/new"
  LC_ALL=C comm -13 "$work/declared" "$work/listed" > "$work/gone"
  [ ! -s "$work/new" ] || complain "not in $list (make record-symbols): $(tr '\n' ' ' < "$work/new")"
  [ ! -s "$work/gone" ] || complain "in $list, and no header declares: $(tr '\n' ' ' < "$work/gone")"
  [ -s "$work/declared" ] || complain "no public function found for $half"
  # What the library exports: FUNCTION VERSION.
  readelf -W --dyn-syms "$library" | awk '$7 != "UND" && $4 == "FUNC" { print $8 }' |
    sed -n 's/@@*/ /p' | LC_ALL=C sort -u > "$work/exported"
  sed "s/ / ${node}_/" "$list" | LC_ALL=C sort > "$work/promised"
  LC_ALL=C comm -13 "$work/exported" "$work/promised" > "$work/missing"
  [ ! -s "$work/missing" ] || complain "$3 does not export: $(cat "$work/missing")"
}
check_library core core/libtutti.symbols libtutti.so TUTTI
check_library engine engine/libtutti-engine.symbols libtutti-engine.so TUTTI_ENGINE

plugins=0
for plugin in "$TUTTI_TEST_BUILDDIR"/modules/*.so; do
  plugins=$((plugins + 1))
  private=$(readelf -W --dyn-syms "$plugin" | grep -o 'tutti_[a-z0-9_]*@TUTTI[A-Z_]*PRIVATE[^ ]*')
  [ -z "$private" ] || complain "$plugin needs what is not public: $private"
  # "tutti_alloc@TUTTI_2.0 (3)"; a plugin that calls nothing of libtutti's needs no version.
  bare=$(readelf -W --dyn-syms "$plugin" | awk '$7 == "UND" && $8 ~ /^tutti_/ && $8 !~ /@TUTTI_[0-9]/ { print $8 }')
  [ -z "$bare" ] || complain "$plugin states no version of what it needs: $bare"
done
[ "$plugins" -gt 0 ] || complain "there are no plugins"
exit $failed
