# tutti-conform over every plugin of this tree, and how it fails.
# shellcheck shell=bash
# shellcheck source=tests/cli/harness.sh
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"

conform() {
  what="tutti-conform $*"
  "$TUTTI_TEST_BUILDDIR/tutti-conform" "$@" >out 2>err </dev/null
  code=$?
}

conform
expect_code 0
expect_out " passed, 0 failed"
for module in "$TUTTI_TEST_BUILDDIR"/modules/*-*.so; do
  name=$(basename "$module" .so)
  checks=$((checks + 1))
  grep -qE "^(ok|skip) +${name%%-*}/${name#*-}: " out || complain "expected a word on $name"
done
expect_not_in out "FAIL"
grep -E '^skip' out

conform selector/frward
expect_code 1
expect_out "FAIL selector/frward: there is no such plugin on the search path" "0 passed, 1 failed"

conform --set selector/top-m.size=0 selector/top-m
expect_code 1
expect_out "--set selector/top-m.size=0: expected an integer"

# Of more random trials than the checks have, none would be a child.
conform --set builder/nes-re.population=6 --set builder/nes-re.parents=3 builder/nes-re
expect_code 0
expect_out "ok   builder/nes-re: adopted and told again, it goes on as it would have"

# Sources of files get a sound one: a table, images, records of label 0.
printf 'a,b,y\n1,red,2\n,blue,"3"\n' >table.csv
printf '\0\0\10\3\0\0\0\2\0\0\0\1\0\0\0\2abcd' >images.idx
printf '\0\0\10\1\0\0\0\2\1\0' >labels.idx
head -c 30730 /dev/zero >records.bin
conform --set source/csv.path=table.csv --set source/idx.path=images.idx --set source/idx.target_path=labels.idx \
  --set source/cifar.path=records.bin --set source/nomu.function=levy2d source
expect_code 0
for name in csv idx cifar nomu toy-sine; do
  expect_out "ok   source/$name: the same request gives the same rows"
done
for name in csv idx cifar; do
  expect_out "ok   source/$name: a file's rows are read as new ones, too"
done

# Numbers that mark missing cells, however a cell writes them.
printf 'a,b,y\n-999.0,red,2\n1,blue,-9.99e2\n-8,blue,2\n' >marked.csv
conform --set source/csv.path=marked.csv --set "source/csv.missing_marks=- -999 -8" source/csv
expect_code 0
expect_out "ok   source/csv: numbers that mark missing cells have an end, and are in no cell"

# A backend that looks results up gets a table of the architectures that are tried.
printf 'arch,loss\n"{""width"": 0}",3\n"{""width"": 1}",2\n"{""width"": 2}",1\n' >results.csv
conform --set backend/table.path=results.csv --set backend/table.objective=loss backend/table
expect_code 0
expect_out "ok   backend/table: "
expect_not_in out "FAIL"

# Inputs that the networks of backend cpu leave out where that is asked for, and those of a backend that does so badly.
conform --set backend/cpu.encodings=no --set backend/cpu.epochs=2 backend/cpu
expect_code 0
unread="inputs that are left out are not seen"
expect_out "ok   backend/cpu: $unread"
cp "$TUTTI_TEST_BUILDDIR/tests/faults/.libs/leaves_out.so" backend-leaves-out.so
expect_badly() { # HOW WHY
  conform --path . --set "backend/leaves-out.how=$1" backend/leaves-out
  expect_code 1
  expect_out "FAIL backend/leaves-out: $unread: $2"
}
conform --path . backend/leaves-out
expect_code 0
expect_out "ok   backend/leaves-out: $unread"
expect_badly all "activation linear: it leaves out 4 of 4 inputs"
expect_badly trains "trained on rows that differ in inputs that are left out: weights sum differ"
expect_badly predicts "activation linear: inputs that are left out change what is predicted"
expect_badly counts "activation linear: 12 weights are of inputs that are left out, and 11 weights are 0"
conform --path . backend/trees
expect_out "skip backend/trees: $unread: it leaves none out"

conform selector acquisition/ei
expect_code 0
expect_out "ok   selector/all" "ok   acquisition/ei"
expect_not_in out "acquisition/lcb"

# Selectors that break the contract, each in a way that one check sees; the sound one passes all.
expect_broken() {
  cp "$TUTTI_TEST_BUILDDIR/tests/faults/.libs/broken.so" "selector-$1.so"
  conform --path . "selector/$1"
  expect_code 1
  expect_out "FAIL selector/$1: $2"
}
cp "$TUTTI_TEST_BUILDDIR/tests/faults/.libs/broken.so" selector-sound.so
conform --path . selector/sound
expect_code 0
expect_broken takes-the-last "of models that are alike the first is chosen: trials"
expect_broken takes-nan "a loss that is NaN is never chosen: trial 1 was chosen, whose loss is NaN"
expect_broken remembers "the same pool gives the same choice: asked again"
expect_broken goes-by-number "trial numbers do not sway the choice: model"
expect_broken chooses-none "chooses members with weights for regression: tutti_selector_select: selector chooses-none broke"
expect_broken chooses-a-stranger "chooses members with weights for regression: tutti_selector_select: selector chooses-a-"
expect_broken crashes-at-work "chooses members with weights for regression: Segmentation fault"
expect_broken exits-at-work "chooses members with weights for regression: it ended the process"
expect_broken fails "chooses members with weights for regression: tutti_selector_create: selector fails: the dog ate it"
expect_broken prints-at-work "it prints nothing: "
expect_out '{"printed": true}'
expect_broken complains-at-work "it prints nothing: "
expect_out "this is unheard of"
expect_broken writes-to-its-input "chooses members with weights for regression: tutti_selector_select: it wrote to losses of the pool"
expect_broken keeps-files-open "it leaves nothing behind: "
expect_out "files are open after 12 times that 'chooses members with weights for regression' is run"
if [ "${TUTTI_TEST_WATCHED:-}" != sanitizers ]; then # they count memory themselves
  expect_broken leaks-at-work "it leaves nothing behind: "
  expect_out "bytes more are allocated after 12 times that 'chooses members with weights for regression' is run"
fi
expect_broken no-op "loads and is available: "
expect_broken crashes "loads and is available: it crashes while loading"
cp "$TUTTI_TEST_BUILDDIR/tests/faults/.libs/exports_more.so" selector-exports-more.so
conform --path . selector/exports-more
expect_code 1
expect_out "FAIL selector/exports-more: exports nothing but tutti_plugin: it exports tutti_no_plugin;"

conform --no-such-option
expect_code 2
finish
