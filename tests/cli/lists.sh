#!/bin/bash
# The lists in local.mk: nothing twice (which a merge can bring about), nothing left out. The names of static functions.
set -u
cd "$TUTTI_TEST_SRCDIR" || exit 1
failed=0
while read -r list; do
  twice=$(grep '+=' "$list" | sort | uniq -d)
  [ -z "$twice" ] || { printf '%s has these twice:\n%s\n' "$list" "$twice" && failed=1; }
done < <(find . -name local.mk ! -path './build*')
version=$(sed -n 's/^AC_INIT(\[tutti\], \[\([^]]*\)\].*/\1/p' configure.ac)
grep -qx "version = \"$version\"" python/pyproject.toml || { echo "python/pyproject.toml is not of version $version" && failed=1; }
grep -q "^tutti ($version) " debian/changelog || { echo "debian/changelog has no entry for version $version" && failed=1; }
bash build-aux/check-lists . || failed=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The check finds a plugin, a header and a test that somebody forgot.
cp -r --parents build-aux/check-lists include core engine program plugins backends spaces tests/*.mk tests/*/*.mk tests/*/*.[ch] "$work"
chmod -R u+w "$work"
for file in plugins/selector/forgotten.c core/kit/forgotten.h tests/unit/test_forgotten.c; do
  touch "$work/$file"
  ! bash build-aux/check-lists "$work" > "$work/out" || { echo "$file: passed" && failed=1; }
  grep -q "^$file stands in no local.mk" "$work/out" || { echo "expected $file in:" && cat "$work/out" && failed=1; }
  rm "$work/$file"
done
bash build-aux/check-statics . || failed=1
for i in 1 2 3 4 5 6 7 8; do printf 'static void the_same(int a,\n                     int b) {\n}\n' > "$work/core/kit/forgotten$i.c"; done
! bash build-aux/check-statics "$work" > "$work/out" || { echo "eight static functions of one name: passed" && failed=1; }
grep -q "^the_same .* in 8 files" "$work/out" || { echo "expected the_same in:" && cat "$work/out" && failed=1; }
[ -e .git ] || exit $failed
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
comm -23 <(git ls-files | grep -v '^\.git' | sort) \
  <(make --no-print-directory -s -C "$TUTTI_TEST_BUILDDIR" dist-files | sed "s|^$TUTTI_TEST_SRCDIR/||; s|^\.\./||" |
    while read -r file; do if [ -d "$file" ]; then find "$file" -type f; else echo "$file"; fi; done | sort) |
  grep . && echo "these files are in no local.mk, and so in no release" && failed=1
exit $failed
