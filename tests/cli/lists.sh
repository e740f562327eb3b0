#!/bin/bash
# The lists in local.mk: nothing twice (which a merge can bring about), nothing left out.
set -u
cd "$TUTTI_TEST_SRCDIR" || exit 1
failed=0
for list in */local.mk; do
  twice=$(grep '+=' "$list" | sort | uniq -d)
  [ -z "$twice" ] || { printf '%s has these twice:\n%s\n' "$list" "$twice" && failed=1; }
done
while read -r file; do
  folder=${file%%/*} name=${file#*/}
  case $file in
    */test_*.c | tests/conformance/*.c | tests/faults/*.c | tests/bench/*.c) name=${name%.c} ;;
  esac
  grep -qE "%D%/$name(\\.la)?( |\$)" "$folder/local.mk" || { echo "$file is not in $folder/local.mk"; }
done < <(find core plugins backends spaces tests ini \( -name '*.[ch]' -o -name '*.cu' -o -name '*.ini' -o -name '*.sh' \
  -o -path 'tests/golden/*' \) -type f | grep -v '~$')
exit $failed
