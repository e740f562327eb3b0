#!/bin/bash
# A finished run as a model, from C and from Python: the numbers of `tutti predict`, for rows in memory; the directory may go once
# the model is open; what is wrong with rows is said.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
find_numpy
make_table
regression_recipe >small.ini
classification_recipe >classes.ini
regression_recipe | sed 's/^target = .*/target = y x2\nscaling = robust\nbins = 3/; s/^name = .*/name = two/' >two.ini
regression_recipe | sed 's/^name = .*/name = nomu/' >nomu.ini
printf '[head]\nkind = nomu\n' >>nomu.ini
"$python" - <<'PYTHON'
import numpy
draw = numpy.random.default_rng(1)
labels = numpy.arange(48, dtype=numpy.uint8) % 2
images = draw.integers(0, 99, (48, 12, 12), dtype=numpy.uint8) + 140 * (labels[:, None, None] == numpy.arange(12)[:, None] % 2).astype(numpy.uint8)
for name, magic, array in (("images", 0x803, images), ("labels", 0x801, labels)):
    with open(name + ".idx", "wb") as file:
        file.write(numpy.array([magic, *array.shape], dtype=">u4").tobytes() + array.astype(numpy.uint8).tobytes())
PYTHON
cat >stripes.ini <<'INI'
[run]
name = stripes
budget = 3
[data]
plugin = idx
path = images.idx
target_path = labels.idx
split = 1 1 1
[space]
plugin = mlp
[hyperparameters]
epochs = 2
[selector]
plugin = forward
size = 2
INI
cat >process.ini <<'INI'
[run]
name = process
budget = 2
[data]
plugin = csv
path = table.csv
target = y
ignore = kind
[backend]
plugin = gp
[builder]
plugin = nes-rs
[selector]
plugin = forward
size = 1
INI
# Dates of three columns in three ways: months first, numbers of eight digits, and with times.
"$python" - <<'PYTHON'
import datetime, math
with open("dated.csv", "w") as file:
    file.write("sold,day,seen,y\n")
    for i in range(120):
        sold, day = datetime.date(2020, 1, 1) + datetime.timedelta(11 * i), datetime.date(2021, 3, 1) + datetime.timedelta(5 * i)
        seen = datetime.datetime(2022, 1, 1) + datetime.timedelta(hours=37 * i)
        y = math.sin(i) + sold.toordinal() % 365 / 100
        file.write(f"{sold:%m/%d/%Y},{day:%Y%m%d},{seen:%d.%m.%Y %H:%M},{y:.5f}\n")
PYTHON
regression_recipe | sed 's/^path = .*/path = dated.csv/; /^ignore/d; s/^name = .*/name = dated/
  s/^target = .*/&\ndate_formats = sold = %m\/%d\/%Y, day = %Y%m%d, seen = %d.%m.%Y %H:%M/' >dated.ini
# Classes that are numbers: whole ones, ones with fractions, and one that is a text beside them.
"$python" - <<'PYTHON'
import csv
with open("table.csv", newline="") as file, open("digits.csv", "w") as out:
    out.write("x1,x2,whole,half,mixed\n")
    for row in csv.DictReader(file):
        k = "abc".index(row["group"])
        out.write(f'{row["x1"]},{row["x2"]},{(2, 10, -1)[k]},{(0.5, 1, 1e20)[k]},{("1", "2", "none")[k]}\n')
PYTHON
for target in whole half mixed; do
  ignore=$(printf '%s\n' whole half mixed | grep -v "^$target$" | tr '\n' ' ')
  classification_recipe | sed "s/^path = .*/path = digits.csv/; s/^target = .*/target = $target\ntask = classification/
    s/^ignore = .*/ignore = $ignore/; s/^name = .*/name = $target/" >"$target.ini"
  tutti run "$target.ini" --out "$target"
  expect_code 0
done
# Truths in four ways, as columns and as a class; and numbers with signs, marks and two ways to write them.
"$python" - <<'PYTHON'
import math
with open("truths.csv", "w") as truths, open("signs.csv", "w") as signs, open("commas.csv", "w") as commas:
    truths.write("word,small,large,bit,x,y,answer\n")
    signs.write("price,share,many,count,kind,y\n")
    commas.write("price;many;y\n")
    for i in range(120):
        a, b, c, d = (i // k % 2 == 1 for k in (1, 2, 3, 5))
        x, price = math.sin(i), 900 + 37.25 * i
        y = x + a + 2 * b - c + 3 * d
        truths.write(f"{a},{str(b).lower()},{str(c).upper()},{d:d},{x:.4f},{y:.4f},{x > 0}\n")
        share, count = "-" if i % 7 == 3 else f"{i % 50} %", -999 if i % 11 == 5 else i % 17
        signs.write(f'"${price:,.2f}",{share},"{1000 + i:,}",{count},"{"-x" if a else "x,y"}",{y:.4f}\n')
        commas.write(f"{price:.2f}".replace(".", ",") + f";{1 + i / 1000:.3f};{y:.4f}\n".replace(".", ","))
PYTHON
for name in truths answers signs commas; do
  case $name in
    truths) settings='target = y\nignore = answer' ;;
    answers) settings='target = answer\nignore = y' ;;
    signs) settings='target = y\nstrip = $ %\nmissing_marks = - -999\nmissing = mean' ;;
    *) settings='target = y' ;;
  esac
  file=$name.csv
  [ $name != answers ] || file=truths.csv
  kind=regression_recipe
  [ $name != answers ] || kind=classification_recipe
  $kind | sed "s/^path = .*/path = $file/; /^ignore/d
    s/^name = .*/name = $name/; s/^target = .*/$settings/" >$name.ini
  tutti run $name.ini --out $name
  expect_code 0
  tutti predict $name $file --json
  expect_code 0
  cp out $name.json
done
for recipe in small classes two nomu stripes process dated; do
  tutti run "$recipe.ini" --out "$recipe"
  expect_code 0
  tutti predict "$recipe" "$([ $recipe = stripes ] && echo images.idx || { [ $recipe = dated ] && echo dated.csv; } || echo table.csv)" --json
  expect_code 0
  cp out "$recipe.json"
done

# A row by position, from C. The function is that of the page, which promises that it is short.
sed -n '/^static bool ask/,/^}/p' "$TUTTI_TEST_SRCDIR/docs/examples/predict.c" >ask.c
sed -n '/^static bool ask/,/^}/p' "$TUTTI_TEST_SRCDIR/docs/other-languages.md" | cmp - ask.c || complain "another function on the page"
[ "$(wc -l <ask.c)" -le 15 ] || complain "expected 15 lines"
example=$TUTTI_TEST_BUILDDIR/docs/examples/predict
printf 'x1,x2,group\n-0.5,0.25,a\n' >row.csv
regression_recipe | sed 's/^ignore = .*/ignore = kind group/; s/^name = .*/name = numbers/' >numbers.ini
tutti run numbers.ini --out numbers --set data.scaling=quantile-normal --set data.bins=4
expect_code 0
tutti predict numbers row.csv
expect_code 0
what="$example numbers -0.5 0.25"
wanted=$(awk -F, 'NR == 2 {print "y", $2, $5}' out)
PYTHONPATH=$TUTTI_TEST_SRCDIR/python
export PYTHONPATH TUTTI_LIBRARY="$TUTTI_TEST_BUILDDIR/.libs/libtutti-engine.so"
find_built_libraries
TUTTI_PLUGIN_FOLDER=${TUTTI_PLUGIN_FOLDER-$TUTTI_TEST_BUILDDIR/modules} && export TUTTI_PLUGIN_FOLDER
"$example" numbers -0.5 0.25 >out 2>err
code=$?
expect_code 0
expect_out "$wanted"
"$example" numbers 1 >out 2>err
code=$?
expect_code 1
expect_err "the rows: expected"
# A word that is no number is not a 0.
for word in x 1x ''; do
  "$example" numbers -0.5 "$word" >out 2>err
  code=$?
  expect_code 1
  expect_err "expected a number, found '$word'"
done
# Numbers are no images.
"$example" stripes 1 >out 2>err
code=$?
expect_code 1
expect_err "images"
"$example" >out 2>err
code=$?
expect_code 1
expect_err "predict RUN NUMBER..."
"$example" nowhere 1 >out 2>err
code=$?
expect_code 1
expect_err "nowhere: expected a run directory"

what="python model.py"
"$python" "$TUTTI_TEST_SRCDIR/tests/cli/model.py" >out 2>err
code=$?
expect_code 0
expect_err "OK"
finish
