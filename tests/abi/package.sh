#!/bin/bash
# A package of plugins, the template's and one that defines an op, built against the headers of this version, of an older and
# of a newer one, and run in this host to the same results. What needs something of the newer version is refused.
# Under a sanitizer where the compiler has one that can be loaded into the host; where the host has them, with the host's.
# versions.sh does more: hosts of two versions, all of the tree's plugins, all structs.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
[ -n "$CXX" ] || { echo "no C++ compiler: one of the plugins is in C++" && exit 77; }
export OPENBLAS_NUM_THREADS=1
read -ra cc <<<"$CC"
read -ra cxx <<<"$CXX"
read -ra flags <<<"${TUTTI_TEST_CFLAGS:-}"
template=$TUTTI_TEST_SRCDIR/template

# --- headers ---

# shorten FOLDER: tables of operations without what the last OPTIONAL comment is about, layers and what ops infer without
# FLOPs, ops without their text, and a built-in op and an activation fewer.
shorten() {
  local header
  for header in "$1"/tutti/*.h; do
    awk '
      /^struct tutti_[a-z0-9_]+ \{/ { ops = $2 ~ /_ops$/; name = $2; count = last = 0; inside = 1 }
      !inside { print; next }
      { line[++count] = $0 }
      ops && /^  \/\* (OPTIONAL|REQUIRED)/ { last = $2 ~ /OPTIONAL/ ? count : 0 }
      (name == "tutti_layer" || name == "tutti_inferred") && /^  double flops;/ { last = count }
      name == "tutti_op_definition" && /^  const char \*doc;/ { last = count }
      /^};/ {
        for (i = 1; i <= count; i++) if (!last || i < last || i == count) print line[i]
        inside = 0
      }' "$header" |
      sed 's/ WIDER(CRELU, "crelu")$//; /^  TUTTI_OP_HEAD_NOMU,/d' >shortened
    cmp -s shortened "$header" || changed=$((changed + 1))
    cat shortened >"$header"
  done
}

# lengthen FOLDER: tables of operations with one more, whatever carries its size with a member more; another op, activation
# and function.
lengthen() {
  local header
  for header in "$1"/tutti/*.h; do
    awk '
      /^struct tutti_[a-z0-9_]+ \{/ { inside = 1; sized = $2 == "tutti_attribute_definition"; ops = $2 ~ /_ops$/ }
      inside && $1 == "size_t" && $2 == "size;" { sized = 1 }
      /^};/ && inside { if (sized) print (ops ? "  void (*of_tomorrow)(void);" : "  uint64_t of_tomorrow[4];"); inside = 0 }
      /^  TUTTI_OP_COUNT,/ { print "  TUTTI_OP_OF_TOMORROW," }
      { print }' "$header" |
      sed 's/ WIDER(CRELU, "crelu")$/& ACTIVATION(OF_TOMORROW, "of-tomorrow")/
        s/^#define TUTTI_ABI_MINOR .*/#define TUTTI_ABI_MINOR 999/
        s/^TUTTI_API bool tutti_layer_flag(.*/&\nTUTTI_API void tutti_of_tomorrow(void);/' >lengthened
    cmp -s lengthened "$header" || changed=$((changed + 1))
    cat lengthened >"$header"
  done
}

for version in same older newer; do
  mkdir -p $version/include
  cp -r "$TUTTI_TEST_SRCDIR/include/tutti" $version/include
  chmod -R u+w $version/include
done
changed=0
shorten older/include
[ $changed -ge 9 ] || { echo "only $changed headers were shortened" && exit 1; }
changed=0
lengthen newer/include
[ $changed -ge 20 ] || { echo "only $changed headers were lengthened" && exit 1; }

# --- the package ---

# A newer library for the linker alone: this one's functions with their versions, and a function of the next version.
newer_library() {
  sed 's/ .*//; s/.*/void &(void) {}/' "$TUTTI_TEST_SRCDIR/core/libtutti.symbols" >stub.c
  echo 'void tutti_of_tomorrow(void) {}' >>stub.c
  { cat "$TUTTI_TEST_SRCDIR/core/libtutti.symbols" && echo "tutti_of_tomorrow 2.999"; } >stub.symbols
  bash "$TUTTI_TEST_SRCDIR/build-aux/symbol-map" stub.symbols TUTTI TUTTI_PRIVATE >stub.map
  mkdir stub
  "${cc[@]}" -w -fno-builtin -shared -fPIC -Wl,-soname,libtutti.so.2 -Wl,--version-script=stub.map stub.c -o stub/libtutti.so
}

# Which flags watch the plugins: the host's own, or of a sanitizer that the host can load, or those that need no library.
watch=(-fsanitize=undefined -fsanitize-trap=undefined) preload=''
if [ "${TUTTI_TEST_WATCHED:-}" = sanitizers ]; then
  watch=()
else
  library=$("${cc[@]}" -print-file-name=libasan.so)
  [ ! -e "$library" ] || [ "$(env LD_PRELOAD="$library" ASAN_OPTIONS=detect_leaks=0 "$TUTTI_PROGRAM" --version 2>&1 | wc -l)" = 0 ] ||
    { watch=('-fsanitize=address,undefined' -fno-sanitize-recover=undefined) && preload=$library; }
fi
echo 'int main(void) { return 0; }' >empty.c
"${cc[@]}" "${watch[@]}" empty.c -o empty 2>/dev/null || watch=() preload=''
echo "watched by: ${watch[*]:-${TUTTI_TEST_WATCHED:-nothing}}"

# build VERSION SOURCE PLUGIN [FLAG]...: one module
build() {
  local version=$1 source=$2 output=$1/$3.so compiler=("${cc[@]}" -std=gnu11)
  shift 3
  [[ $source != *.cpp ]] || compiler=("${cxx[@]}" -std=c++17)
  "${compiler[@]}" "${flags[@]}" "${watch[@]}" -w -g -shared -fPIC -fvisibility=hidden -I"$version/include" "$@" "$source" \
    -o "$output" -L"${library_of:-$TUTTI_TEST_BUILDDIR/.libs}" -ltutti -lm || { echo "cannot build $output" && exit 1; }
}

# In the newer version every table fills the new operation, with one that would end the process.
for version in same older newer; do
  mkdir $version/src
  cp "$template"/src/*.c* "$TUTTI_TEST_SRCDIR/tests/cli/gate.c" $version/src
  chmod -R u+w $version/src
done
sed -i '/\.doc = "A gated product\."/s/,* *\.doc = "[^"]*"//' older/src/gate.c
sed -i 's/^\( *\)\.size = sizeof.*_ops.*,$/&\n\1.of_tomorrow = abort,/; s/{\.size = sizeof ops,/& .of_tomorrow = abort,/
  s/^\( *\)made\.size = sizeof made;/&\n\1made.of_tomorrow = abort;/' newer/src/*
for source in newer/src/*; do
  checks=$((checks + 1))
  grep -q "of_tomorrow = abort" "$source" || complain "$source does not fill the new operation"
done
for version in same older newer; do
  more=()
  [ $version != newer ] || more=(-include stdlib.h)
  for source in "$version"/src/*-*.c*; do
    plugin=$(basename "${source%.*}")
    build $version "$source" "$plugin" "${more[@]}" &
  done
  build $version $version/src/gate.c space-gate "${more[@]}" &
  build $version $version/src/gate.c backend-gate -DBACKEND "${more[@]}" &
  wait
done

# --- its runs ---

# Like the harness's, with what watches the plugins.
tutti() {
  what="tutti $*"
  LD_PRELOAD=$preload ASAN_OPTIONS=detect_leaks=0:log_path=$folder/caught:${ASAN_OPTIONS:-} "$TUTTI_PROGRAM" "$@" >out 2>err </dev/null
  code=$?
}

cp "$template"/*.ini "$template/plants.ledger" .
cat >gate.ini <<'END'
[run]
seed = 1
[data]
plugin = toy-sine
[space]
plugin = gate
[backend]
plugin = gate
[builder]
plugin = nes-rs
[selector]
plugin = better-half
END
path=$TUTTI_PLUGIN_PATH
for version in same older newer; do
  export TUTTI_PLUGIN_PATH=$folder/$version:$path
  for recipe in climb bayes ledger gate; do
    tutti run $recipe.ini --out "$recipe-$version" --quiet --set run.budget=5
    expect_code 0
    checks=$((checks + 2))
    [ -s "$recipe-$version/ensemble.json" ] || complain "no ensemble"
    for file in "$recipe-same"/ensemble.json "$recipe-same"/trials/*/{network.json,*.npy}; do
      cmp -s "$file" "$recipe-$version${file#"$recipe-same"}" || complain "${file#"$recipe-same"/} is not as with this version's headers"
    done
  done
done

# --- what needs the newer version ---

build newer "$TUTTI_TEST_SRCDIR/tests/abi/tomorrow.c" space-tomorrow -include stdlib.h
sed 's/^plugin = gate/plugin = tomorrow/; /^\[backend\]/,/^plugin/d' gate.ini >tomorrow.ini
tutti run tomorrow.ini --out tomorrow --quiet --set run.budget=2
expect_code 0
for refused in 'op|unknown op' 'attribute|layer "hidden" (dense) has no attribute "of_tomorrow"' 'activation|activation'; do
  tutti run tomorrow.ini --set "space.uses=${refused%%|*}" --out refused --quiet --set run.budget=2
  expect_err "${refused#*|}"
  checks=$((checks + 1))
  [ "$code" -ne 0 ] || complain "a ${refused%%|*} that this version does not know is not refused"
done
mkdir calls calls/include
newer_library
library_of=stub build newer "$TUTTI_TEST_SRCDIR/tests/abi/tomorrow.c" space-tomorrow -include stdlib.h -DCALLS
tutti validate tomorrow.ini
expect_code 2
expect_err "space-tomorrow.so: it uses functions of a newer tutti than this one, whose plugin ABI is "

checks=$((checks + 1))
[ -z "$(find . -maxdepth 1 -name 'caught*')" ] || { cat caught* && complain "the sanitizer caught something"; }
finish
