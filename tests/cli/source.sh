#!/bin/bash
# A source of a third party: found by its endings, used in a run, for new rows and beside the sources that come along.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
mkdir plugins
cp "$TUTTI_TEST_BUILDDIR/tests/cli/.libs/source_ledger.so" plugins/source-ledger.so
export TUTTI_PLUGIN_PATH=$TUTTI_PLUGIN_PATH:$folder/plugins

# The table of the other tests as a ledger.
make_table
as_ledger() {
  awk -F, 'NR == 1 { split($0, name); next }
    { for (i = 1; i <= NF; i++) print name[i] ": " ($i ~ /^[-0-9.e]+$/ ? $i : "\"" $i "\""); print "" }' "$1"
}
as_ledger table.csv >table.ledger
regression_recipe | sed '/^plugin = csv/d; s/table.csv/table.ledger/; s/^name = .*/name = ledger/' >ledger.ini
regression_recipe >csv.ini

tutti list source
expect_code 0
expect_out "ledger" "records of names and values"
tutti inspect source/ledger
expect_out factor
tutti validate ledger.ini
expect_code 0

# The same rows by either source: the same data, networks and ensemble.
tutti run csv.ini --out by-csv --quiet
expect_code 0
tutti run ledger.ini --out by-ledger --quiet
expect_code 0
expect_in by-ledger/recipe.ini "plugin = ledger" "factor = 1" "table.ledger"
expect_in by-ledger/data.json '"plugin": "ledger"' '"factor": "1"'
for file in ensemble.json splits/train.rows.npy splits/test.targets.npy; do
  checks=$((checks + 1))
  [ ! -e "by-csv/$file" ] || cmp -s "by-csv/$file" "by-ledger/$file" || complain "by-csv/$file and by-ledger/$file differ"
done

# New rows: each file by the source of its ending, whichever the data came from; the longer ending goes before.
head -n 21 table.csv >new.csv
as_ledger new.csv >new.ledger
cp new.ledger new.ledger.csv
for run in by-csv by-ledger; do
  for file in new.csv new.ledger new.ledger.csv; do
    tutti predict $run $file
    expect_code 0
    mv out "$run-$file.out"
  done
done
for file in by-csv-new.ledger by-csv-new.ledger.csv by-ledger-new.csv by-ledger-new.ledger; do
  checks=$((checks + 1))
  cmp -s by-csv-new.csv.out "$file.out" || complain "$file.out differs from by-csv-new.csv.out"
done

# Lines may be of any length, also around those of buffers, and end as on other systems: numbers get zeros to LENGTH.
for length in 254 255 256 257 1000 70000; do
  awk -v length_="$length" '/^x1: / { while (length($0) < length_) $0 = $0 "0" } 1' new.ledger >long.ledger
  tutti predict by-csv long.ledger
  expect_code 0
  checks=$((checks + 1))
  cmp -s by-csv-new.csv.out out || complain "lines of $length characters are read as something else"
done
sed 's/$/\r/' new.ledger >crlf.ledger
tutti predict by-csv crlf.ledger
expect_code 0
checks=$((checks + 1))
cmp -s by-csv-new.csv.out out || complain "lines that end in CR LF are read as something else"

# Its parameters are kept for new rows, and its files of any name are read by it.
awk -F, -v OFS=, -v CONVFMT=%.10g -v OFMT=%.10g 'NR > 1 { $1 = 2 * $1; $2 = 2 * $2; $4 = 2 * $4 } 1' table.csv >double.csv
as_ledger double.csv >double.records
sed 's/^path = .*/plugin = ledger\nfactor = 0.5\npath = double.records/; s/^name = .*/name = half/' ledger.ini >half.ini
tutti run half.ini --out half --quiet
expect_code 0
head -n 21 double.csv >part.csv
as_ledger part.csv >part.records
tutti predict half part.records
expect_code 0
mv out half.out
checks=$((checks + 1))
cmp -s half.out by-csv-new.csv.out || complain "halves of doubles are not the same"

# Sources that end or stop the process that loads them harm nobody who does not name them.
mkdir broken
for fault in crashes aborts exits; do
  cp "$TUTTI_TEST_BUILDDIR/tests/faults/.libs/broken.so" "broken/source-$fault.so"
done
path=$TUTTI_PLUGIN_PATH
export TUTTI_PLUGIN_PATH=$folder/broken:$path
tutti validate ledger.ini
expect_code 0
expect_err "source crashes is passed over: it crashes while loading" "source aborts is passed over" "source exits is passed over"
tutti predict by-csv new.ledger
expect_code 0
expect_err "source crashes is passed over"
checks=$((checks + 1))
cmp -s out by-csv-new.csv.out || complain "expected the predictions as without broken sources"
tutti validate csv.ini
expect_code 0
expect_empty err
export TUTTI_PLUGIN_PATH=$path

# A file that changes the source by its ending leaves keys of the other one behind, in files below; not in its own.
sed '/^plugin = csv/d; s/^path = .*/&\nheader = yes/' csv.ini >named.ini
tutti validate named.ini
expect_code 0
tutti validate named.ini --set data.path=table.ledger
expect_code 0
sed 's/table.csv/table.ledger/' named.ini >both.ini
tutti validate both.ini
expect_code 2
expect_err "both.ini:7: [data] header" "source ledger"

# What the source says of its task holds unless the recipe says otherwise.
awk -F, -v OFS=, 'NR > 1 { $4 = NR % 3 } 1' table.csv >three.csv
as_ledger three.csv >three.ledger
sed 's/table.ledger/three.ledger\nclasses = yes/' ledger.ini >three.ini
tutti validate three.ini
expect_code 0
expect_out classification
tutti validate three.ini --set data.task=regression
expect_code 0
expect_not_in out classification

# Wrong files and keys.
rm -rf by-csv by-ledger half
sed '5s/.*/nonsense/' table.ledger >wrong.ledger
tutti validate ledger.ini --set data.path=wrong.ledger
expect_usage_error "wrong.ledger:5: expected 'name: value', found 'nonsense'"
sed '4s/.*/x1: many/; 5s/.*/nonsense/' table.ledger >wrong.ledger
tutti validate ledger.ini --set data.path=wrong.ledger
expect_usage_error "wrong.ledger:5: expected 'name: value', found 'nonsense'"
sed '1s/0/\x00/' table.ledger >wrong.ledger
tutti validate ledger.ini --set data.path=wrong.ledger
expect_usage_error "wrong.ledger:1: expected text, found a byte 0"
mkdir folder.ledger
tutti validate ledger.ini --set data.path=folder.ledger
expect_usage_error "folder.ledger: cannot read: Is a directory"
sed '8d' table.ledger >lacking.ledger
tutti validate ledger.ini --set data.path=lacking.ledger
expect_usage_error "lacking.ledger:7: row 1, column 'x2': the value is missing"
tutti validate ledger.ini --set data.factr=2
expect_usage_error "data.factr" "did you mean 'factor'"
tutti validate ledger.ini --set data.factor=two
expect_usage_error "data.factor" "expected a number"
tutti validate ledger.ini --set data.target_path=table.csv
expect_usage_error "--set data.target_path: source ledger has no second file"

# Without the plugin the ending is nobody's, and the file is taken for a csv; the source by its name is not there.
export TUTTI_PLUGIN_PATH=${TUTTI_PLUGIN_PATH%":$folder/plugins"}
tutti validate ledger.ini
expect_usage_error table.ledger
tutti validate half.ini
expect_usage_error "half.ini:" "there is no source 'ledger'"
finish
