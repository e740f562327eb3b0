#!/bin/bash
# The lists in local.mk: nothing twice (which a merge can bring about), nothing left out.
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
[ -e .git ] || exit $failed
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
comm -23 <(git ls-files | grep -v '^\.git' | sort) \
  <(make --no-print-directory -s -C "$TUTTI_TEST_BUILDDIR" dist-files | sed "s|^$TUTTI_TEST_SRCDIR/||; s|^\.\./||" |
    while read -r file; do if [ -d "$file" ]; then find "$file" -type f; else echo "$file"; fi; done | sort) |
  grep . && echo "these files are in no local.mk, and so in no release" && failed=1
exit $failed
