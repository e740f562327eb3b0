#!/bin/bash
# `pip install` of the package from the tree: what is installed predicts as the program does, and needs nothing of the tree.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"

python=''
for candidate in python3 /usr/bin/python3; do
  [ -n "$python" ] || ! "$candidate" -c 'import setuptools, wheel, pip, numpy' 2>/dev/null || python=$candidate
done
[ -n "$python" ] || { echo "skipped: pip, setuptools, wheel or NumPy is not there (Debian: python3-pip, python3-numpy)"; exit 77; }

make_table
regression_recipe >small.ini
tutti run small.ini --quiet --out small
expect_code 0
tutti predict small table.csv --json
expect_code 0
cp out predicted.json

# A copy, since pip builds beside the sources.
cp -r "$TUTTI_TEST_SRCDIR/python" sources
chmod -R u+w sources
what="pip install"
"$python" -m pip install --no-index --no-build-isolation --no-deps --no-cache-dir --disable-pip-version-check --target installed ./sources \
  >out 2>err
code=$?
expect_code 0
rm -r sources
checks=$((checks + 1))
for module in "$TUTTI_TEST_SRCDIR"/python/tutti/*.py; do
  cmp -s "$module" "installed/tutti/$(basename "$module")" || complain "expected $(basename "$module") as it is in the tree"
done
what="the installed package"
find_built_libraries
PYTHONPATH=$PWD/installed TUTTI_LIBRARY=$TUTTI_TEST_BUILDDIR/.libs/libtutti-engine.so "$python" - >out 2>err <<'PYTHON'
import csv, importlib.metadata, json
import numpy
import tutti
rows = list(csv.DictReader(open("table.csv")))
columns = {name: [row[name] for row in rows] for name in ("x1", "x2", "group")}
for name in ("x1", "x2"):
    columns[name] = numpy.array(columns[name], dtype=float)
means = tutti.Model("small").predict(columns)
assert numpy.allclose(means, json.load(open("predicted.json"))["mean"], rtol=6e-9), means
print(importlib.metadata.version("tutti"), tutti.__file__)
PYTHON
code=$?
expect_code 0
expect_out "$("$TUTTI_PROGRAM" --version | cut -d ' ' -f 2) $PWD/installed/tutti/__init__.py"
finish
