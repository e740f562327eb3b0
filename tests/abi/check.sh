#!/bin/bash
# The interface is the one that was recorded, but for what may be added; and the check tells growth from harm.
set -u
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
source=$TUTTI_TEST_SRCDIR build=$TUTTI_TEST_BUILDDIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
case ${TUTTI_TEST_WATCHED-} in sanitizers) echo "libraries with sanitizers have another interface" && exit 77 ;; esac
case $CC in *clang*) echo "what was recorded is what gcc says of the types" && exit 77 ;; esac

bash "$source/build-aux/check-abi" check "$source" "$build"
case $? in 0) ;; 77) exit 77 ;; *) failed=1 ;; esac

mkdir -p "$work/tree/tests"
cp -r "$source/include" "$source/build-aux" "$work/tree"
cp -r "$source/tests/abi" "$work/tree/tests"
chmod -R u+w "$work/tree"
# growth|harm WHAT HEADER SED-COMMAND [MESSAGE]
try() {
  local expected=$1 what=$2 header=$work/tree/include/tutti/$3 command=$4 message=${5-}
  cp "$header" "$work/kept"
  sed -i "$command" "$header"
  ! cmp -s "$header" "$work/kept" || { echo "$what: nothing was changed in $3; mend this test" && failed=1; }
  if bash "$work/tree/build-aux/check-abi" check "$work/tree" "$build" > "$work/out" 2>&1; then found=growth; else found=harm; fi
  [ $found = "$expected" ] || { echo "$what: expected $expected, found $found:" && cat "$work/out" && failed=1; }
  grep -q -- "$message" "$work/out" || { echo "$what: expected '$message' in:" && cat "$work/out" && failed=1; }
  cp "$work/kept" "$header"
}
try growth "a member at the end of a struct" backend.h '/^struct tutti_epoch {/,/^};/ s/^};/  double newer;\n};/'
try growth "an operation at the end of a table" selector.h '/^struct tutti_selector_ops {/,/^};/ s/^};/  void (*newer)(void *self);\n};/'
try growth "an enumerator at the end" op.h 's/^  TUTTI_OP_COUNT/  TUTTI_OP_NEWER,\n&/'
try growth "a new struct" selector.h 's/^struct tutti_step {/struct tutti_newer {\n  size_t size;\n};\n&/'
try harm "a member in the middle" backend.h 's/^  double train_loss;/  double newer;\n&/' "'double newer', at offset"
try harm "a member that is gone" backend.h 's/^  double validation_loss;.*//' 'deletion'
try harm "a member of another type" backend.h 's/^  uint64_t steps;  .*so far.*/  uint32_t steps;/' 'uint32_t'
try harm "an enumerator in the middle" op.h 's/^  TUTTI_OP_DENSE,/  TUTTI_OP_NEWER,\n&/' "TUTTI_OP_DENSE' from value"
try harm "other parameters of an operation" selector.h \
  '/^struct tutti_selector_ops {/,/^};/ s/const struct tutti_pool \*pool, size_t count,/size_t count, const struct tutti_pool *pool,/' 'entity changed'
try harm "an operation that is gone" space.h 's/^  bool (\*known)(.*//' 'deletion'
try harm "a value that grows, which carries no size" op.h 's/^  int32_t height, width, channels;/&\n  int32_t depth;/' 'height, width\|depth\|offset'
exit $failed
