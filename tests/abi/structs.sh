#!/bin/bash
# Public structs carry their size, or say why they need none; and the check finds one that does neither.
set -u
cd "$TUTTI_TEST_SRCDIR" || exit 1
failed=0
bash build-aux/check-structs . || failed=1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r --parents include "$work"
chmod -R u+w "$work"
# refused|passed NAME: what is added to a header
try() {
  local expected=$1 name=$2 header=$work/include/tutti/selector.h
  cp "$header" "$work/kept"
  cat >> "$header"
  if bash build-aux/check-structs "$work" > "$work/out"; then found=passed; else found=refused; fi
  [ $found = "$expected" ] || { echo "struct $name: expected $expected, found $found" && failed=1; }
  [ $found = passed ] || grep -q "selector.h: struct $name " "$work/out" || { echo "expected struct $name in:" && cat "$work/out" && failed=1; }
  bash build-aux/check-structs "$work" --sized > "$work/sized"
  cp "$work/kept" "$header"
}
try refused tutti_newer <<'END'
/* Nothing of why. */
struct tutti_newer {
  double value;
};
END
try refused tutti_below <<'END'
/* Of another line: Never grows. */
typedef int tutti_other;
struct tutti_below {
  double value;
};
END
try passed tutti_closed <<'END'
/* A pair. Never grows. */
struct tutti_closed {
  double a, b;
};
END
! grep -qx tutti_closed "$work/sized" || { echo "tutti_closed counts as one that may grow" && failed=1; }
try passed tutti_sized <<'END'
struct tutti_sized {
  /* of the struct */
  size_t size;
};
END
grep -qx tutti_sized "$work/sized" || { echo "tutti_sized does not count as one that may grow" && failed=1; }
for name in tutti_param tutti_attribute_definition tutti_run_config tutti_fit_config; do
  grep -qx $name "$work/sized" || { echo "$name does not count as one that may grow" && failed=1; }
done
exit $failed
