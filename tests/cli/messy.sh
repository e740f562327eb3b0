#!/bin/bash
# Tables as people have them: what validate says of one, and what a run, predict and export make of it.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
find_numpy
make_flats() {
  awk 'BEGIN {
    print "id;sold;city;area;currency;price"
    for (i = 0; i < 120; i++) {
      area = 40 + 30 * sin(i * 12.9898)
      text = sprintf("%.1f", area)
      sub(/\./, ",", text)
      price = sprintf("%d.%03d,50", 1 + area / 40, (area * 37) % 1000)
      printf "%d;2024-%02d-%02d;%s;%s;CHF;%s\n", i + 1, i % 12 + 1, i % 28 + 1, (i % 17 == 3 ? "" : i == 8 ? "Orth" : i % 3 ? "Bern" : "Basel"),
        (i % 11 == 5 ? "" : text), (i == 30 ? "" : price)
    }
  }' >flats.csv
}
make_flats
cat >flats.ini <<'INI'
[run]
budget = 3
seed = 3
[data]
path = flats.csv
target = price
missing = indicator
missing_target = drop
unseen = other
rare = 5
useless = ignore
split = 0.6 0.2 0.2
[space]
plugin = mlp
[backend]
plugin = cpu
epochs = 5
[builder]
plugin = nes-rs
[selector]
plugin = all
INI

# validate says what each column holds, also where the recipe cannot be run, and what to do.
sed '/^missing\|^useless\|^unseen\|^rare/d' flats.ini >plain.ini
tutti validate plain.ini
expect_code 2
expect_empty out
expect_err "120 rows, 6 columns" "2024-01-01 to 2024-12-28" "Bern (" \
  "'id': it numbers the rows; data.useless = ignore" "'currency': it has one value; data.useless = ignore" \
  "'city': 7 of its values are missing, which is an error; data.missing = indicator fills them in and says where, drop" \
  "'price': 1 of its values is missing, which is an error; data.missing_target = drop"
expect_err "the value is missing; data.missing = mean"
tutti validate flats.ini
expect_code 0
expect_out "The recipe is valid" "'id': it numbers the rows; it is left out; data.useless = keep keeps such columns"
expect_not_in out "which is an error"
# What some rows lack says whether it is there: it stays where missing cells are an input of their own.
awk 'BEGIN { print "flag,note,a,y"; for (i = 0; i < 60; i++) print (i % 3 ? ",," : "X,note " i ",") i * i % 17 "," i % 3 + i / 90 }' >there.csv
there=(--set data.path=there.csv --set data.target=y --set data.useless=ignore --set data.decimal=point)
tutti validate plain.ini "${there[@]}" --set data.missing=indicator --set data.rare=2
expect_code 0
expect_out "'flag': it has one value, or none: what it tells models is whether there is one, as in 20 of 60 rows" \
  "'note': it has another text in every row, or none: what it tells models is whether there is one, as in 20 of 60 rows"
expect_not_in out "left out" "if it names or numbers them"
tutti validate plain.ini "${there[@]}" --set data.missing=indicator
expect_out "'note': it has another text in every row that has one; it is left out; data.rare = 2 makes an input of whether there is one"
tutti validate plain.ini "${there[@]}" --set data.missing=mean
expect_out "'flag': it has one value, or none; it is left out; data.missing = indicator makes an input of whether there is one" \
  "'note': it has another text in every row that has one; it is left out; data.missing = indicator and data.rare = 2 make an input of"
# Numbers of rows are an input where there is no other.
awk 'BEGIN { print "lot,price"; for (i = 0; i < 40; i++) print 980 + i "," i * i }' >years.csv
tutti validate flats.ini --set data.path=years.csv
expect_code 0
expect_out "The recipe is valid" "'lot': it numbers the rows; it is kept, since no other column is left as an input"
expect_not_in out "left out"
tutti validate flats.ini --json
expect_code 0
checks=$((checks + 1))
"$python" - out <<'PY' || complain "the profile as JSON"
import json, sys
profile = json.load(open(sys.argv[1]))["profile"]
columns = {column["name"]: column for column in profile["columns"]}
assert profile["rows"] == 120 and [c["role"] for c in profile["columns"]] == ["ignored", "input", "input", "input", "ignored", "target"]
assert columns["sold"]["content"] == "dates" and columns["sold"]["min"] == 19723 and columns["sold"]["levels"] == 84
assert columns["city"]["missing"] == 7 and columns["city"]["levels"] == 3 and columns["city"]["most"][0]["value"] == "Bern"
assert sum(value["rows"] for value in columns["city"]["most"]) == 113
assert columns["area"]["missing"] == 11 and 9 < columns["area"]["min"] < columns["area"]["mean"] < columns["area"]["max"] < 71
PY
printf 'a,y\n1,1\nx,2\n3,3\n' >mixed.csv
tutti validate plain.ini --set data.path=mixed.csv --set data.target=y
expect_code 2
expect_err "'a': 1 of 3 values is no number, the first in row 1: 'x'; mend it" "data.categorical"
printf 'a,v,y\n1,v1.2.17,1\nx,v1.2.18,2\n3,v1.3.1,3\nx,v2.0.0,3\n' >mixed.csv
tutti validate plain.ini --set data.path=mixed.csv --set data.target=y
expect_err "'a': 2 of 4 values are 'x', the first in row 1, and the others are numbers; if that says that the value is missing, set data.missing_marks = x" "data.categorical"
expect_not_in err "data.strip" # versions are no numbers
# A mark of several words, and a name with a comma, stand in quotes.
awk 'BEGIN { print "\"Zip, home\",income,y"; for (i = 0; i < 60; i++) printf "%05d,%s,%d\n", i % 7, i % 9 ? 1000 + i * 37 % 60 : "Prefer not to say", i % 13 }' >survey.csv
tutti validate plain.ini --set data.path=survey.csv --set data.target=y
expect_code 2
expect_err "'income': 7 of 60 values are 'Prefer not to say', the first in row 0, and the others are numbers; if that says that the value is missing, set data.missing_marks = \"Prefer not to say\"; otherwise mend them" \
  "data.categorical = \"Zip, home\" takes it as categories"
tutti run plain.ini --set data.path=survey.csv --set data.target=y --set 'data.missing_marks="Prefer not to say" -99' --set 'data.categorical="Zip, home"' --set data.missing=indicator --quiet --out survey
expect_code 0
expect_not_in err "survey.csv: "
tutti predict survey survey.csv
expect_code 0
printf '"Zip, home",income\n00001,Prefer not to say\n00001,-99\n' >new.csv
tutti predict survey new.csv
expect_code 0
expect_empty err
checks=$((checks + 1))
[ "$(sed -n 2p out | cut -d, -f2-)" = "$(sed -n 3p out | cut -d, -f2-)" ] || complain "expected the same for two marks"

awk 'BEGIN { print "price,y"; for (i = 0; i < 30; i++) printf "$%d.%02d,%d\n", 100 + i, i, i % 7 }' >prices.csv
tutti validate "$TUTTI_TEST_SRCDIR/ini/table.ini" --set data.path=prices.csv --set data.target=y
expect_in err "'price': 30 of 30 values are numbers but for '\$'; data.strip = \$ reads them as such" "as it is read now, it has another text in every row, and is left out"
# A minus sign of another kind, or behind the number, is none to be dropped; a unit that some cells lack is asked about.
{ echo a,b,c,y && for i in 1 2 3 4 5 6; do echo "−$i.5,$i.25-,$((i * 7))K,$i" && echo "$i.5,$i.75,9${i}00,$i"; done; } >minus.csv
tutti validate plain.ini --set data.path=minus.csv --set data.target=y
expect_err "'a': 6 of 12 values are numbers but for '−', the first in row 0; if it is a minus sign, write it as '-' before the digits" \
  "'b': 6 of 12 values are numbers but for '-', the first in row 0; if it is a minus sign" \
  "'c': 6 of 12 values are numbers but for 'K'; data.strip = K reads them as such; is it the same unit as that of the numbers without it?"
expect_not_in err "data.strip = −" "data.strip = -"
{ echo a,b,y && for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "$i.5,$((i % 3))%,$i"; done; } >percent2.csv
printf 'a,b,y\n1,3 %%,1\nx,4%%,2\n3,-5 %%,3\nz,6 %%,4\n' >mixed.csv
tutti validate plain.ini --set data.path=mixed.csv --set data.target=y
expect_err "'a': 2 of 4 values are no numbers, the first in row 1: 'x'" "'b': 4 of 4 values are numbers but for '%'; data.strip = % reads them as such"
tutti validate plain.ini --set data.path=mixed.csv --set data.target=y --set data.strip=% --set "data.missing_marks=x z" --set data.missing=mean
expect_code 0
expect_not_in out "data.strip" "no numbers" "data.missing_marks"

# A list of marks with commas would mark nothing.
tutti validate plain.ini --set data.path=mixed.csv --set data.target=y --set "data.missing_marks=-999, x"
expect_code 2
expect_err "data.missing_marks: expected marks with blanks between them, found a comma behind '-999'"
for marks in "-99,-999:comma behind '-99'" "none,-99:comma behind 'none'" "-99;-999:semicolon behind '-99'" "x -99,9,-999:comma behind '-99'"; do
  tutti validate plain.ini --set data.path=mixed.csv --set data.target=y --set "data.missing_marks=${marks%%:*}"
  expect_code 2
  expect_err "data.missing_marks: expected marks with blanks between them, found a ${marks#*:}"
done
# Texts with commas, and one number with a decimal comma, are marks.
tutti validate plain.ini --set data.path=mixed.csv --set data.target=y --set 'data.missing_marks="no, 1" no,yes -99,9 -9,999 x z' --set data.missing=mean
expect_code 0

# Names with commas in them, as many as there are semicolons between them.
printf 'length, m;width, m;y\n1,5;2;3\n2,5;4,5;5\n3;1;2,5\n4;2;4\n5;3;1\n6,5;2;2\n' >units.csv
tutti validate plain.ini --set data.path=units.csv --set data.target=y
expect_out "3 columns" "  length, m  input   numbers" "1.5000 to 6.5000"

# Codes that are the same number are one category, which is said; others are several.
printf 'code,y\n007,1\n12,2\n7,3\n7,4\n012x,5\n12,6\n' >codes.csv
tutti validate plain.ini --set data.path=codes.csv --set data.target=y --set data.categorical=code
expect_out "3: 7 (3), 12 (2), 012x (1)" "note: 'code': 007 is the number 7, as others are that are written otherwise, and so they are one category"
sed -i 's/^007/009/' codes.csv
tutti validate plain.ini --set data.path=codes.csv --set data.target=y --set data.categorical=code
expect_out "4: " 9
expect_not_in out "one category"

# A table that does not fit into the memory that it may have: its need and that limit, before the machine is used up.
if [ -z "${TUTTI_TEST_WATCHED-}" ]; then
  { seq -s, 1 30 && yes 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 | head -n 1500000; } >huge.csv
  ulimit -S -v 400000
  tutti run plain.ini --set data.path=huge.csv --set data.target=30 --out huge
  ulimit -S -v unlimited
  expect_code 2
  expect_err "huge.csv: expected rows that fit into 195 MiB, half of what ulimit -v allows, and these need 39" " MiB or more; take a part of the rows or columns" # about 1.5e6 * 30 * 9 bytes
  # A worker says what bounds it in the run's words. Whether it sees so before memory ends or as it does is chance: an array
  # may grow where it is or have to be copied.
  awk 'BEGIN { print "a,b,c,d,e,f,g,h,i,y"; for (i = 0; i < 250000; i++) print i % 97 ".5," i % 89 "," i % 7 "," i % 5 "," i % 3 "," i % 11 "," i % 13 "," i % 17 "," i % 19 "," i % 23 }' >large.csv
  printf '%s\n' '[run]' 'budget = 1' 'memory_limit = 40' '[data]' 'path = large.csv' 'target = y' 'split = 0.8 0.1 0.1' '[space]' 'plugin = mlp' '[hyperparameters]' 'epochs = 1' >large.ini
  tutti run large.ini --out large
  expect_code 2
  expect_err "a worker cannot work" "run.memory_limit"
  rm -r huge.csv large.csv large
fi
# A run says it, too, before it begins, and once.
tutti run plain.ini --set data.path=percent2.csv --set data.target=y --out noted
expect_code 0
expect_err "warning: column 'b': 12 of 12 values are numbers but for '%'; data.strip = % reads them as such"
tutti run plain.ini --set data.path=percent2.csv --set data.target=y --out noted --resume
expect_not_in err "data.strip"
# A part of a run's file is of no use: more memory is.
if [ -z "${TUTTI_TEST_WATCHED-}" ]; then
  cp -r noted swollen
  truncate -s 104M swollen/ensemble.json
  ulimit -S -d 150000
  tutti predict swollen percent2.csv
  ulimit -S -d unlimited
  expect_code 1
  expect_err "ensemble.json: its 104 MiB are more than 73 MiB, half of what ulimit -d allows; give it more memory"
  expect_not_in err "take a part"
fi

# New rows are read as the data were.
awk 'BEGIN { print "price,size,y"; for (i = 0; i < 60; i++) printf "$%d,%s,%d\n", i % 13, i % 7 == 3 ? "unknown" : i % 5 " m", i % 13 + i % 5 }' >signs.csv
tutti run plain.ini --set data.path=signs.csv --set data.target=y --set "data.strip=$ m" --set data.missing_marks=unknown --set data.missing=mean --quiet --out signs
expect_code 0
printf 'price,size\n$3,unknown\n3,2\n£3,2\n' >new.csv
tutti predict signs new.csv
expect_code 0
expect_err "row 2, column 'price': expected a number, found '£3'" "1 of 3 rows cannot be read"

# Texts that are called like the category of missing cells, or of rare values, are told of.
awk 'BEGIN { print "c,y"; for (i = 0; i < 60; i++) print (i % 4 == 0 ? "(missing)" : i % 4 == 1 ? "" : i % 4 == 2 ? "(other)" : "b") "," i % 13 }' >own.csv
tutti validate flats.ini --set data.path=own.csv --set data.target=y
expect_code 0
expect_out "'c': 15 of its texts are '(missing)', the category of missing cells, and count as missing, too: write them otherwise, or set data.missing_marks = (missing)" \
  "'c': 15 of its texts are '(other)', the category of rare values, and count as such, too"
tutti validate flats.ini --set data.path=own.csv --set data.target=y --set "data.missing_marks=(missing)" --set data.rare=0
expect_code 0
expect_not_in out "of its texts"

# New rows that are not UTF-8 are not read, and no such byte is printed.
awk 'BEGIN { print "Größe,Ort,y"; for (i = 0; i < 60; i++) printf "%d,%s,%d\n", i % 7, i % 3 ? "Zürich" : "Bonn", i % 13 }' >places.csv
tutti run plain.ini --set data.path=places.csv --set data.target=y --set data.unseen=other --quiet --out places
expect_code 0
printf 'Größe,Ort\n1,Zürich\n2,Bonn\n' >new.csv
tutti predict places new.csv
expect_code 0
expect_empty err
printf 'Größe,Ort\n1,Z\374rich\n2,Bonn\n\374,Bonn\n1,Bonn,\374\n' >new.csv
tutti predict places new.csv
expect_code 0
expect_err "new.csv:2: row 0, column 'Ort': expected UTF-8, found the byte 0xFC; if the file is from Windows, convert it: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW" \
  "new.csv:4: row 2, column 'Größe': expected UTF-8, found the byte 0xFC" "there is no column for '?'" "3 of 4 rows cannot be read"
checks=$((checks + 1))
[ "$(sed 1d out | grep -c ',,')" = 3 ] || complain "expected three rows without a prediction"
checks=$((checks + 1))
iconv -f UTF-8 -t UTF-8 err >/dev/null || complain "expected messages in UTF-8"
tutti predict places new.csv --strict
expect_code 2
expect_err "expected UTF-8, found the byte 0xFC"
printf 'Gr\366\337e,Ort\n1,Bonn\n' >new.csv
tutti predict places new.csv
expect_code 2
expect_err "new.csv: the name of column 0: expected UTF-8, found the byte 0xF6; if the file is from Windows, convert it: iconv"

# Ends of a range that look alike in few digits are shown in all.
awk 'BEGIN { print "x,y"; for (i = 0; i < 30; i++) printf "%d,%d\n", 20240101 + i * i % 29, i * i % 7 }' >close.csv
tutti validate plain.ini --set data.path=close.csv --set data.target=y
expect_code 0
expect_out "20240101 to 20240129, mean 20240114.5333333"

# A number that may be read in two ways is what it would be in the training file, whatever else its own file has.
awk 'BEGIN { print "size;price;y"; for (i = 0; i < 60; i++) printf "%d;%d.%03d,50;%d\n", i % 7, 10 + i, i * 37 % 1000, i % 13 }' >german.csv
tutti run plain.ini --set data.path=german.csv --set data.target=y --quiet --out german
expect_code 0
expect_in german/data.json '"settled": {"delimiter": "semicolon", "decimal": "comma"}'
printf 'size;price\n3;12.345,00\n' >sure.csv
printf 'size;price\n3;12.345\n' >doubt.csv
tutti predict german sure.csv
cp out sure
tutti predict german doubt.csv
expect_code 0
expect_empty err
same_file out sure
printf 'size;price\n3;12345.67\n' >doubt.csv
tutti predict german doubt.csv
expect_code 0
expect_err "doubt.csv: line 2 has a decimal point, as in 3.5, and the training data have decimal commas; it is read as it stands, but a number such as 1.234 would be 1234, as there"
printf 'size;price\n3;12345.67\n3;12.345\n' >doubt.csv
tutti predict german doubt.csv
expect_code 2
expect_err "doubt.csv: line 2 has a decimal point, as in 3.5, and line 3 a number such as 1.234, which is 1234 in the training data; write all numbers with decimal commas, as there"
# What stands in a column that is not used is nobody's mistake.
printf 'size;price;version\n3;12.345;1.234\n3;12.345;3.5\n' >doubt.csv
tutti predict german doubt.csv
expect_code 0
expect_empty err
printf 'size,price\n3,12.345\n3,12\n' >doubt.csv
tutti predict german doubt.csv
expect_code 0
expect_err "doubt.csv: line 2 has a number such as 1.234, which is 1234 in the training data, with decimal commas, and would be 1.234 where commas separate cells, as here: it is not read; separate cells with semicolons" "row 0, column 'price': expected a number, found '12.345'"

# Names of columns such as 5 % are numbers without the signs that are dropped: how the first row was taken is said.
awk 'BEGIN { print "5 %,95 %,y"; for (i = 0; i < 30; i++) printf "%d %%,%d %%,%d\n", i % 7, i % 11, i % 7 + i % 11 }' >percent.csv
tutti validate plain.ini --set data.path=percent.csv --set data.target=2 --set data.strip=%
expect_err "percent.csv: the first row is taken for a row of data, since '5 %' is a number without what data.strip drops" "set data.header = yes"
tutti validate plain.ini --set data.path=percent.csv --set data.target=y --set data.strip=% --set data.header=yes
expect_code 0
expect_empty err
expect_out "5 %" "95 %"
sed 1d percent.csv >headless.csv
tutti validate plain.ini --set data.path=headless.csv --set data.target=2 --set data.strip=%
expect_not_in err "is taken for"

# American dates, beside others: month/day/year in a column that is named, and nothing is guessed.
awk 'BEGIN { print "sold;built;seen;y"; for (i = 0; i < 40; i++) printf "%d/%d/2024;2%03d-05-06;May %d, 20%02d;%d\n", i % 12 + 1, i % 28 + 1, i, i % 28 + 1, i, i % 12 }' >american.csv
sed '/^decimal/d; /^date_format/d' plain.ini >dates.ini
tutti run dates.ini --set data.path=american.csv --set data.target=y --set data.ignore=seen --set "data.date_formats=sold = %m/%d/%Y" --quiet --out american
expect_code 0
expect_in american/data.json '"name": "sold"' '"date": "%m/%d/%Y"' '"date": ""'
printf 'sold;built\n12/31/2024;2001-05-06\n31/12/2024;2001-05-06\n' >new.csv
tutti predict american new.csv
expect_code 0
expect_err "row 1, column 'sold': expected a date, written as in the training data, found '31/12/2024'" "1 of 2 rows"
tutti validate dates.ini --set data.path=american.csv --set data.target=y --set "data.date_formats=sold = %m/%d/%Y, seen = %b %d, %Y, built = %Y-%m-%d" --json
expect_code 0
checks=$((checks + 1))
[ "$(grep -o '"content": "dates"' out | wc -l)" -eq 3 ] || complain "expected three columns of dates"
for wrong in "sold" "sold = " "= %Y" "sold = %Y built = %Y"; do
  tutti validate dates.ini --set data.path=american.csv --set data.target=y --set "data.date_formats=$wrong"
  expect_code 2
  expect_err "data.date_formats"
done
tutti validate dates.ini --set data.path=american.csv --set data.target=y --set "data.date_formats=bought = %b %d, %Y, sold = %Y"
expect_code 2
expect_err "american.csv has no column 'bought'"
tutti validate dates.ini --set data.path=american.csv --set data.target=y --set "data.date_formats=SOLD = %m/%d/%Y"
expect_code 2
expect_err "data.date_formats" "american.csv has no column 'SOLD'; did you mean 'sold'?"
for wrong in "sold = %m/%d/%Y, sold = %Y:column 'sold' is named twice" "y = %d:expected inputs; column 'y' is a target" \
  "sold = %Q:row 0, column 'sold': expected a date, written as %Q" "sold = %m/%d/%Y,:expected a date, written as %m/%d/%Y,"; do
  tutti validate dates.ini --set data.path=american.csv --set data.target=y --set data.ignore=seen --set "data.date_formats=${wrong%%:*}"
  expect_code 2
  expect_err "${wrong#*:}"
done
# Dates as in 2026-01-31 are read beside those of the recipe's form: in columns of their own, also if all differ.
awk 'BEGIN { print "sold;seen;y"; for (i = 0; i < 40; i++) printf "%d.%d.2024;2024-%02d-%02d;%d\n", i % 28 + 1, i % 12 + 1, i % 12 + 1, i % 28 + 1, i % 12 }' >both.csv
tutti validate dates.ini --set data.path=both.csv --set data.target=y --set data.date_format=%d.%m.%Y --set data.useless=ignore --json
expect_code 0
for column in 0 1; do
  expect_json dates profile columns $column content
  expect_json input profile columns $column role
  expect_json 19723.0 profile columns $column min
done
# Numbers are dates where a format is given, and only if it writes them so, with the zeros before them.
awk 'BEGIN { print "day;back;year;y"; for (i = 0; i < 40; i++) printf "2024%02d%02d;%02d%02d2024;%d;%d\n", i % 12 + 1, i % 28 + 1, i % 28 + 1, i % 12 + 1, 1980 + i, i % 12 }' >compact.csv
compact=(--set data.path=compact.csv --set data.target=y --set data.ignore=back --set "data.date_formats=day = %Y%m%d, year = %Y")
tutti validate dates.ini "${compact[@]}" --set data.useless=ignore --json
expect_code 0
expect_json dates profile columns 0 content
expect_json 19723.0 profile columns 0 min
expect_json dates profile columns 2 content
expect_json 3652.0 profile columns 2 min
tutti run dates.ini "${compact[@]}" --quiet --out compact
expect_code 0
expect_in compact/data.json '"date": "%Y%m%d"' '"date": "%Y"'
printf 'day;year\n20241231;2001\n20241331;2001\n' >new.csv
tutti predict compact new.csv
expect_code 0
expect_err "row 1, column 'day': expected a date, written as in the training data, found '20241331'" "1 of 2 rows"
tutti validate dates.ini --set data.path=compact.csv --set data.target=y --set "data.date_formats=back = %d%m%Y" --json
expect_code 0
expect_json dates profile columns 1 content
expect_json 19723.0 profile columns 1 min
sed 's/;0\([0-9]\)/;\1/' compact.csv >stripped.csv
tutti validate dates.ini --set data.path=stripped.csv --set data.target=y --set "data.date_formats=back = %d%m%Y"
expect_code 2
expect_err "row 0, column 'back': expected a date, written as %d%m%Y (data.date_formats), found '1012024'"

# Zeros before numbers are those of codes, which is said, unless the column is one of categories or dates.
awk 'BEGIN { print "zip,share,y"; for (i = 0; i < 40; i++) printf "%05d,0.%02d,%d\n", 8001 + 23091 * (i % 4), i, i % 7 }' >zips.csv
tutti validate plain.ini --set data.path=zips.csv --set data.target=y
expect_code 0
expect_out "note: 'zip': zeros before its numbers, as in 08001 (10 of them), are those of codes" "data.categorical = zip takes it as categories"
expect_not_in out "'share'"
tutti validate plain.ini --set data.path=zips.csv --set data.target=y --set data.categorical=zip
expect_code 0
expect_not_in out "zeros before"

# Categories of which few are kept, in few of the rows, which is said; not where the others are rare.
awk -v OFS=, 'BEGIN { print "street", "y"; for (i = 0; i < 400; i++) print (i < 40 ? "main" : "s" i % 180), i % 7 }' >streets.csv
tutti validate plain.ini --set data.path=streets.csv --set data.target=y --set data.most_categories=1
expect_code 0
expect_out "note: 'street': 1 of 181 different texts are kept, in 10 % of its rows; the others are one, (other)"
tutti validate plain.ini --set data.path=streets.csv --set data.target=y --set data.rare=3
expect_code 0
expect_out "note: 'street': 1 of 181 different texts are kept, in 10 % of its rows"
tutti validate plain.ini --set data.path=streets.csv --set data.target=y --set data.most_categories=150
expect_code 0
expect_not_in out "are kept"

# What the recipe names as categories is none but that, whatever is in it: its levels are shown, and nobody asks whether
# its texts or its numbers are meant.
printf 'k,w,y\n' >mixture.csv
for i in $(seq 40); do echo "$((i % 2 ? i % 3 + 1 : 12)),$([ $((i % 4)) = 0 ] && echo t$((i % 8)) || echo $((i % 4)).0),$((i % 7))"; done >>mixture.csv
tutti validate plain.ini --set data.path=mixture.csv --set data.target=y --set data.task=regression
expect_err "'w': 10 of 40 values are no numbers"
for missing in error indicator; do
  tutti validate plain.ini --set data.path=mixture.csv --set data.target=y --set data.task=regression --set data.categorical=w,k --set data.missing=$missing
  expect_code 0
  expect_not_in out "are no numbers" "note: 'w'" "note: 'k'" "to 12.000"
  expect_out "5: 1 (10), 2 (10), 3 (10), t0 (5), t4 (5)" "4: 12 (20), "
done
tutti validate plain.ini --set data.path=mixture.csv --set data.target=y --set data.categorical=w,k --json
expect_json categories profile columns 1 content
expect_json null profile columns 0 min

# Rows that are exact copies of others, and rows that are alike by nature: of few values, or of one column with digits
# that are cut off. Groups keep copies together.
awk 'BEGIN { srand(3); print "a,b,c,y"; for (i = 0; i < 80; i++) { row = sprintf("%.3f,%.3f,%s,%.3f", rand(), rand(), i % 3 ? "u" : "", rand()); for (k = 0; k < 1 + i % 2 * 2; k++) print row } }' >copies.csv
tutti validate plain.ini --set data.path=copies.csv --set data.target=y --set data.missing=indicator
expect_code 0
expect_out "note: 80 of 160 rows are exact copies of earlier ones, targets included" "give copies one group (data.groups)"
awk -F, -v OFS=, '{ print $0, NR == 1 ? "g" : $1 }' copies.csv >grouped.csv
tutti validate plain.ini --set data.path=grouped.csv --set data.target=y --set data.missing=indicator --set data.groups=g
expect_code 0
expect_not_in out "copies"
awk 'BEGIN { srand(4); print "a,b,y"; for (i = 0; i < 400; i++) print (rand() > 0.5) "," (rand() > 0.5 ? "u" : "v") "," int(3 * rand()) }' >few.csv
awk 'BEGIN { srand(5); print "a,y"; for (i = 0; i < 400; i++) { a = int(100 * rand()); print a "," a / 50 } }' >one.csv
for table in few one; do
  tutti validate plain.ini --set data.path=$table.csv --set data.target=y
  expect_code 0
  expect_not_in out "copies"
done

# Dates in another order and decimal commas between commas are not guessed, but they are not passed over either.
printf 'sold,built,when,area,y\n' >written.csv
for i in $(seq 10 31); do printf '%s.03.2024,3/%s/24,0%s/04/2024,"%s,5",%s\n' "$i" "$i" $((i % 9 + 1)) "$i" "$i"; done >>written.csv
tutti validate plain.ini --set data.path=written.csv --set data.target=y
expect_code 0
expect_out "note: 'sold': its texts look like dates, as '10.03.2024'; data.date_formats = sold = %d.%m.%Y reads them as such" \
  "'built': its texts look like dates, as '3/10/24'; data.date_formats = built = %m/%d/%y reads" \
  "data.date_formats = when = %d/%m/%Y or %m/%d/%Y reads" \
  "'area': its texts are numbers with decimal commas, as '10,5'; data.decimal = comma reads them as such"
tutti validate plain.ini --set data.path=written.csv --set data.target=y --set data.useless=ignore
expect_out "'sold': its texts look like dates" "'sold': as it is read now, it has another text in every row, and is left out"
tutti validate plain.ini --set data.path=written.csv --set data.target=y --set data.decimal=comma \
  --set "data.date_formats=sold = %d.%m.%Y, built = %m/%d/%y, when = %d/%m/%Y"
expect_code 0
expect_not_in out "look like dates" "decimal commas"
# A mistake among dates is one, however many rows have a date of their own: the column is not left out for it.
{ echo day,a,y && for i in $(seq 10 40); do echo "2024-0$((i / 10))-$((i % 10 + 10)),$((i % 7)),$i"; done && echo 2024-02-30,3,4; } >day.csv
tutti validate plain.ini --set data.path=day.csv --set data.target=y --set data.useless=ignore
expect_code 2
expect_err "day.csv:33: row 31, column 'day': expected a date as in 31 other rows, found '2024-02-30'"
expect_not_in out "left out"
# Nor is one that is said to have dates.
{ echo day,a,y && for i in $(seq 10 40); do echo "$((i % 10 + 10)).0$((i / 10)).2024,$((i % 7)),$i"; done && echo soon,3,4; } >day.csv
tutti validate plain.ini --set data.path=day.csv --set data.target=y --set data.useless=ignore --set "data.date_formats=day = %d.%m.%Y"
expect_code 2
expect_err "day.csv:33: row 31, column 'day': expected a date" "found 'soon'"
# A year of two digits is one of this century, with a time behind it, too.
{ echo when,few,y && for i in $(seq 10 31); do echo "1/$i/24 12:00,$i.1.24 8:30,$i"; done; } >short.csv
tutti validate plain.ini --set data.path=short.csv --set data.target=y
expect_code 0
expect_out "data.date_formats = when = %m/%d/%y %H:%M reads" "data.date_formats = few = %d.%m.%y %H:%M reads"
tutti validate plain.ini --set data.path=short.csv --set data.target=y \
  --set "data.date_formats=when = %m/%d/%y %H:%M, few = %d.%m.%y %H:%M"
expect_code 0
expect_out "2024-01-10 to 2024-01-31"
sed 's/24 12:00/24/; s/\(1[0-4]\).1.24 8/2024-01-\1 08/' short.csv >mixed.csv
tutti validate plain.ini --set data.path=mixed.csv --set data.target=y
expect_out "17 as '15.1.24 8:30' (line 7, %d.%m.%y %H:%M), 5 as '2024-01-10 08:30' (line 2, %Y-%m-%d)"
# Times as programs write them: seconds, AM and PM, a comma before the time, the year first; also if they repeat, and
# where rows without a time are dates alone.
awk 'BEGIN { print "de;us;jp;js;short;form;mon;some;y"
  for (i = 0; i < 60; i++) {
    d = i % 28 + 1; h = i % 24; t = sprintf(":%02d:%02d", i * 7 % 60, i * 11 % 60); half = h % 12 ? h % 12 : 12; m = h < 12 ? "AM" : "PM"
    printf "%02d.01.2023 %02d%s;01/%02d/2023 %02d%s %s;2023/01/%02d %02d%s;", d, h, t, d, half, t, m, d, h, t
    printf "1/%d/2023, %d%s %s;%d.1.23, %02d:%02d;2023/01/%02d %d%s %s GMT+1;", d, half, t, m, d, h, i, d, half, t, m
    printf "Jan %d, 2023 %d:%02d %s;%02d.01.2023%s;%d\n", d, half, i % 2, m, d, i % 3 ? sprintf(" %02d:00:00", i % 2) : "", i % 7
  } }' >times.csv
tutti validate plain.ini --set data.path=times.csv --set data.target=y --set data.useless=ignore
expect_code 0
while read -r column format; do
  expect_out "note: '$column': its texts look like dates" "data.date_formats = $column = $format reads them as such"
done <<'FORMATS'
de %d.%m.%Y %H:%M:%S
us %m/%d/%Y %I:%M:%S %p
jp %Y/%m/%d %H:%M:%S
js %m/%d/%Y, %I:%M:%S %p
short %d.%m.%y, %H:%M
form %Y/%m/%d %I:%M:%S %p %Z
mon %b %d, %Y %I:%M %p
FORMATS
expect_out "'de': as it is read now, it has another text in every row, and is left out" \
  "'some': its texts are dates, but not all of one form: 40 as '02.01.2023 01:00:00' (line 3, %d.%m.%Y %H:%M:%S), 20 as '01.01.2023' (line 2, %d.%m.%Y)"
tutti validate plain.ini --set data.path=times.csv --set data.target=y --set data.ignore=some --json --set "data.date_formats=us = %m/%d/%Y %I:%M:%S %p, js = %m/%d/%Y, %I:%M:%S %p, form = %Y/%m/%d %I:%M:%S %p %Z, de = %d.%m.%Y %H:%M:%S"
for column in 0 1 3 5; do expect_json dates profile columns $column content; done
printf 'a,b,y\n' >neither.csv
for i in $(seq 10 30); do printf '%s.03.2024,"%s,2,3",%s\n' $((i % 20 + 1)) "$i" "$i"; done >>neither.csv
printf '1.2.3.4,"4,5,6",7\n' >>neither.csv
tutti validate plain.ini --set data.path=neither.csv --set data.target=y
expect_code 0
expect_not_in out "look like dates"
expect_not_in out "decimal commas"
# Dates of several forms: which, where, what becomes of them, what to do. A run says it, too.
printf 'sold,odd,few,y\n' >forms.csv
for i in $(seq 10 29); do
  case $((i % 4)) in 0) sold=2024-03-$i ;; 1) sold=3/$i/2024 ;; *) sold=$i.03.2024 ;; esac
  [ "$i" != 15 ] && odd=$i.03.2024 || odd=soon
  [ $((i % 2)) = 0 ] && few=$i.03.2024 || few=never
  printf '%s,%s,%s,%s\n' "$sold" "$odd" "$few" "$i"
done >>forms.csv
tutti validate plain.ini --set data.path=forms.csv --set data.target=y
expect_code 0
expect_out "note: 'sold': its texts are dates, but not all of one form: 10 as '10.03.2024' (line 2, %d.%m.%Y), 5 as '2024-03-12' (line 4, %Y-%m-%d), 5 as '3/13/2024' (line 5, %m/%d/%Y); they are taken as categories; write all as 2026-01-31, or set data.dates = texts if they are categories" \
  "note: 'odd': its texts are dates, but not all of one form: 19 as '10.03.2024' (line 2, %d.%m.%Y); 1 is no date: 'soon' (line 7); they are taken as categories"
expect_not_in out "'few': its texts are dates"
tutti run plain.ini --set data.path=forms.csv --set data.target=y --set run.budget=1 --out forms
expect_err "warning: column 'sold': its texts are dates, but not all of one form: 10 as '10.03.2024' (line 2"
tutti validate plain.ini --set data.path=forms.csv --set data.target=y --set data.dates=texts
expect_not_in out "of one form"
# Most of them of the form that is read: then the others are mistakes.
sed 's/^\(..\)\.03\.2024/2024-03-\1/' forms.csv >mostly.csv
tutti validate plain.ini --set data.path=mostly.csv --set data.target=y --set data.ignore=odd
expect_code 2
expect_err "'sold': its texts are dates, but not all of one form: 15 as '2024-03-10' (line 2, %Y-%m-%d), 5 as '3/13/2024' (line 5, %m/%d/%Y); that is an error; write all as 2026-01-31" \
  "mostly.csv:5: row 3, column 'sold': expected a date as in 15 other rows, found '3/13/2024'"

# What stands for missing values is said, and which rows are left out; what may name the rows; a decimal comma beside
# numbers that may have points between groups of digits.
awk 'BEGIN { print "customer_id,who,humid,mail,share,y"
  for (i = 0; i < 60; i++) printf "%d,user %d,%d,m%d@x.org,\"%d,5 %%\",%s\n", 1000 + i * 37 % 60, i, 500 + i * 7 % 60, i % 57, i % 9, i == 5 ? "" : i % 13 }' |
  sed '9s/^[0-9]*,/,/' >named.csv
tutti validate plain.ini --set data.path=named.csv --set data.target=y --set data.missing=indicator --set data.missing_target=drop
expect_code 0
expect_out "'customer_id': 59 different values in 60 rows: if it names or numbers them, data.ignore = customer_id leaves it out" \
  "'mail': 57 different values in 60 rows" "1 input has missing values: the mean of the column stands for them, one more input says where" \
  "'y': 1 of its values is missing; such rows are left out" \
  "'share': 60 of 60 values are numbers but for '%'; data.strip = % reads them as such (and data.decimal = comma, if commas separate the cells)"
expect_not_in out "data.strip = user" "'humid': 60"
tutti validate plain.ini --set data.path=named.csv --set data.target=y --set data.missing=mean --set data.missing_target=drop --set data.strip=% --set data.decimal=comma
expect_out "stands for them" "share        input   numbers"
expect_not_in out "one more input" "data.strip"
awk 'BEGIN { print "a;b;y"; for (i = 1; i < 40; i++) printf "%d.%03d;%d,5;%d\n", i, i, i, i % 7 }' >points.csv
tutti validate plain.ini --set data.path=points.csv --set data.target=y
expect_code 0
expect_err "points.csv: line 2 has a decimal comma, and line 2 a number such as 1.234, which is read as 1.234 and not as 1234" "data.decimal = comma"
tutti validate plain.ini --set data.path=points.csv --set data.target=y --set data.decimal=comma
expect_empty err
expect_out "1001.0 to 39039"

# Long names and values are cut between characters, and columns stay below each other.
long=$(printf 'αβγδε%.0s' 1 2 3 4 5 6)
printf '%s,y\n' "$long" >greek.csv
for i in 1 2 3 4 5 6; do printf '%s%s,%s\n' "$long" $((i % 2)) $i; done >>greek.csv
tutti validate plain.ini --set data.path=greek.csv --set data.target=y
expect_out "  ${long:0:24}  input " "2: ${long:0:24} (3), ${long:0:24} (3)" "  y                         target "

# A row that cannot be read is left empty; the others are what they are without it.
tutti run flats.ini --out run --quiet
expect_code 0
printf 'id;sold;city;area;currency\n1;2023-05-05;Bern;33,5;CHF\n2;yesterday;Bern;20;CHF\n3;2024-02-02;Atlantis;;CHF\n' >new.csv
tutti predict run new.csv
expect_code 0
expect_out "1,,,,,,"
expect_err "new.csv:3: row 1, column 'sold': expected a date, written as in the training data, found 'yesterday'" "1 of 3 rows cannot be read"
sed 1d out | sed '2d; s/^[0-9]*//' >some
grep -v yesterday new.csv >good.csv
tutti predict run good.csv --strict
expect_code 0
sed 1d out | sed 's/^[0-9]*//' >all
checks=$((checks + 1))
cmp -s some all || complain "other rows are predicted otherwise"
tutti predict run new.csv --strict
expect_code 2
expect_err "found 'yesterday'"
expect_not_in err "warning"
tutti predict run new.csv --json
expect_code 0
expect_out '"mean":[' ',null,'
what="tutti predict run -"
"$TUTTI_PROGRAM" predict run - <good.csv >out 2>err
code=$?
expect_code 0
checks=$((checks + 1))
sed 1d out | sed 's/^[0-9]*//' | cmp -s - all || complain "what comes through a pipe is predicted otherwise"
# So is a row with too few or too many cells, by its line; blank lines are none, and a row of one cell is no blank line.
printf 'id;sold;city;area;currency\n1;2023-05-05;Bern;33,5;CHF\n2;2023-05-05;Bern\n\n3;2024-02-02;Atlantis;;CHF\n4;2024-02-02;Bern;1;CHF;more\n5\n' >odd.csv
tutti predict run odd.csv
expect_code 0
expect_out "1,,,,,," "3,,,,,," "4,,,,,,"
expect_err "odd.csv:3: row 1: expected 5 cells, as in the first line, found 3" "odd.csv:6: row 3: expected 5 cells, as in the first line, found 6" \
  "odd.csv:7: row 4: expected 5 cells, as in the first line, found 1" "3 of 5 rows cannot be read; their predictions are left empty"
sed 1d out | sed '2d; 4,$d; s/^[0-9]*//' >some
checks=$((checks + 1))
cmp -s some all || complain "other rows are predicted otherwise beside rows with odd cells"
tutti predict run odd.csv --strict
expect_code 2
expect_err "odd.csv:3: row 1: expected 5 cells, as in the first line, found 3"
# Whatever is wrong, the first line that is wrong is named: a cell before a row of too few, a target before an input; and
# what comes through a pipe has no path.
printf 'id;sold;city;area;currency;price\n1;2023-05-05;Bern;33,5;CHF;1000\n2;today;Bern;20;CHF;1000\n3;2024-02-02;Bern\n' >early.csv
tutti predict run early.csv --strict
expect_code 2
expect_err "early.csv:3: row 1, column 'sold': expected a date"
printf 'id;sold;city;area;currency;price\n1;2023-05-05;Bern;33,5;CHF;dear\n2;today;Bern;20;CHF;1000\n' >dear.csv
tutti predict run dear.csv --strict
expect_code 2
expect_err "dear.csv:2: row 0, column 'price': expected a finite number as target"
what="tutti predict run - --strict"
"$TUTTI_PROGRAM" predict run - --strict <early.csv >out 2>err
code=$?
expect_code 2
expect_err "tutti: standard input:3: row 1, column 'sold': expected a date"
for wrong in '' 'id;sold;city;area;currency\n' 'id;sold;city\n1;2;3\n' 'id;sold\0' 'PK\003\004'; do
  what="tutti predict run - with $wrong"
  # shellcheck disable=SC2059
  printf "$wrong" | "$TUTTI_PROGRAM" predict run - >out 2>err
  code=$?
  expect_code 2
  expect_err "tutti: standard input:"
done
what="tutti predict run - of rows of which some are wrong"
"$TUTTI_PROGRAM" predict run - <odd.csv >out 2>err
code=$?
expect_code 0
expect_err "warning: standard input:3: row 1: expected 5 cells" "warning: standard input: 3 of 5 rows"
expect_not_in err /dev/stdin
tutti predict run odd.csv --json
expect_out '"unread":[1,3,4]' '"reasons":["odd.csv:3: row 1: expected 5 cells'
for pair in 0:1 1:3 2:4; do # each why, in the order of the numbers
  checks=$((checks + 1))
  "$json_value" out reasons "${pair%:*}" | grep -q "^odd.csv:[0-9]*: row ${pair#*:}[:,]" || complain "expected why row ${pair#*:} is unread"
done
# A reason may quote bytes that are no text.
printf 'id;sold;city;area;currency\n1;2023-05-05;Bern;33,5;CHF\n2;\377\376;Bern;33,5;CHF\n3;soon;Bern;33,5;CHF\n' >bytes.csv
tutti predict run bytes.csv --json
expect_code 0
expect_out '"unread":[1,2]'
checks=$((checks + 1))
"$json_value" out reasons 1 | grep -q "row 2, column 'sold': expected a date" || complain "expected why row 2 is unread"
printf 'id;sold;city;area;currency;price\n1;2023-05-05;Bern;33,5;CHF;1000\n2;2023-05-05;Bern\n' >with.csv
tutti predict run with.csv
expect_code 0
expect_err "1 of 2 rows cannot be read; its prediction is left empty" "metrics are of the 1 of 2 rows with a target and a prediction" "rmse"
expect_not_in err "have no target"
# A number that is finite, and of no use: the other rows have their predictions.
printf 'id;sold;city;area;currency\n1;2023-05-05;Bern;33,5;CHF\n2;2023-05-05;Bern;-3,4028235e38;CHF\n' >huge.csv
tutti predict run huge.csv --json
expect_code 0
expect_out '"unread":[1]'
expect_err "huge.csv:3: row 1, column 'area': -3.40282e+38 is too large to compute with (scaled, it is "
tutti predict run huge.csv --strict
expect_code 2
expect_err "huge.csv:3: row 1, column 'area': -3.40282e+38 is too large"
# Cells that are missing in a column that was whole in training: the mean stands for them, which is said.
printf 'id;sold;city;area;currency\n1;;Bern;33,5;CHF\n2;2023-05-05;Bern;;CHF\n3;;Bern\n' >holes.csv
tutti predict run holes.csv
expect_code 0
expect_err "holes.csv: column 'sold' has no value in 1 of 3 rows, and each training row had one: the mean stands for it"
expect_not_in err "column 'area' has no value" # which had holes in training
# Categories that training had rarely or not.
printf 'id;sold;city;area;currency\n1;2023-05-05;Atlantis;33,5;CHF\n2;2023-05-05;Bern;3;CHF\n3;2023-05-05;Bern;3;CHF\n' >cities.csv
tutti predict run cities.csv
expect_code 0
expect_err "cities.csv: column 'city' has a value in 1 of 3 rows that was rare or absent in training, as 'Atlantis'"
# Both are said of rows that can all be read, too.
printf 'id;sold;city;area;currency\n1;;Atlantis;33,5;CHF\n2;2023-05-05;Bern;3;CHF\n' >both.csv
for strict in "" --strict; do
  tutti predict run both.csv $strict
  expect_code 0
  expect_err "both.csv: column 'sold' has no value in 1 of 2 rows, and each training row had one: the mean stands for it" \
    "both.csv: column 'city' has a value in 1 of 2 rows that was rare or absent in training, as 'Atlantis'"
done
# A category that is missing in a column that was whole: it is (other), or none of the known ones where there is no (other), and so
# is a new one. `kind` has rare values, `size` has none.
awk -v OFS=, 'BEGIN { print "a,kind,size,y"; for (i = 0; i < 80; i++) print i % 7, i < 3 ? "odd" i : (i % 2 ? "old" : "new"), i % 3 ? "big" : "small", i % 5 }' >whole.csv
sed 's/^path = .*/path = whole.csv/; s/^target = .*/target = y/' flats.ini >whole.ini
tutti run whole.ini --quiet --out whole
expect_code 0
printf 'a,kind,size\n0.5,,big\n0.5,old,\n0.5,new,\n0.5,older,huge\n' >gaps.csv
for strict in "" --strict; do
  tutti predict whole gaps.csv $strict
  expect_code 0
  expect_err "column 'kind' has no value in 1 of 4 rows, and each training row had one: it counts as (other), and" \
    "column 'size' has no value in 2 of 4 rows, and each training row had one: it counts as none of the known ones, and" \
    "column 'kind' has a value in 1 of 4 rows that was rare or absent in training, as 'older': it counts as (other), and" \
    "column 'size' has a value in 1 of 4 rows that was rare or absent in training, as 'huge': it counts as none of the known ones, and"
done
# Missing cells that training had are learnt from.
sed '2,20s/,[a-z]*,\([0-9]\)$/,,\1/' whole.csv >holed.csv
tutti run whole.ini --set data.path=holed.csv --quiet --out holed
tutti predict holed gaps.csv
expect_code 0
expect_err "column 'kind' has no value in 1 of 4 rows"
expect_not_in err "column 'size' has no value"
# So it is with the mean alone: `a` is whole, `b` lacks a value in a training row, `c` in a test row only.
awk -v OFS=, 'BEGIN { print "a,b,c,y"; for (i = 0; i < 80; i++) print i % 7, i == 3 ? "" : i % 4, i == 70 ? "" : i % 3, i % 5 }' >numbers.csv
for role in train:0:49 validation:50:64 test:65:79; do
  (IFS=: && set -- $role && seq "$2" "$3" >"$1.txt")
done
sed 's/^path = .*/path = numbers.csv\ntrain_rows = train.txt\nvalidation_rows = validation.txt\ntest_rows = test.txt/
  s/^target = .*/target = y/; s/^missing = .*/missing = mean/; /^split/d; /^rare/d' flats.ini >numbers.ini
tutti run numbers.ini --quiet --out numbers
expect_code 0
printf 'a,b,c\n,1,1\n,2,2\n1,,1\n1,1,\n1,1,1\n' >gaps.csv
for strict in "" --strict; do
  tutti predict numbers gaps.csv $strict
  expect_code 0
  expect_err "gaps.csv: column 'a' has no value in 2 of 5 rows, and each training row had one: the mean stands for it, and" \
    "gaps.csv: column 'c' has no value in 1 of 5 rows, and each training row had one: the mean stands for it, and"
  expect_not_in err "column 'b' has no value"
done
# A wrong quote costs its line alone, wherever the next quote stands, and so does a zero byte.
good=$(sed -n 2p good.csv)
{
  sed -n 1,2p good.csv
  printf '7;2023-05-05;"Bern;33,5;CHF\n%s\n7;2023-05-05;"Bern;33,5;CHF\n%s\n7;2023-05-05;5" wide;33,5;CHF\n' "$good" "$good"
  printf '7;2023-05-05;"Bern;\n33,5;CHF"\n%s\n7;2023-05-05;B\0rn;33,5;CHF\n%s\n"7;2023-05-05;Bern\n%s\n' "$good" "$good" "$good"
} >quotes.csv
tutti predict run quotes.csv
expect_code 0
expect_err "quotes.csv:3: row 1: a quote inside a cell" "quotes.csv:5: row 3:" "quotes.csv:7: row 5: a quote inside a cell" \
  "quotes.csv:8: row 6: expected 5 cells" "quotes.csv:9: row 7:" "quotes.csv:11: row 9: expected text, found a zero byte" \
  "quotes.csv:13: row 11: a quote that opens in this row is never closed" "7 of 13 rows cannot be read"
sed 1d out | grep -v ',,' | sed 's/^[0-9]*//' | sort -u >some
checks=$((checks + 1))
if [ "$(sed 1d out | grep -vc ',,')" != 6 ] || [ "$(wc -l <some)" != 1 ] || ! sed -n 1p all | cmp -s - some; then
  complain "rows beside a wrong quote are not predicted as they are without it"
fi
tutti predict run quotes.csv --strict
expect_code 2
expect_err "quotes.csv:3: row 1: a quote inside a cell"
printf 'id;sold;city;area;currency\n1;2023-05-05;Bern;33,5;"CHF\n2;2023-05-05;Bern;33,5;CHF\n' >last.csv
tutti predict run last.csv --strict
expect_code 2
expect_err "last.csv:2: row 0: a quote that opens in this row is never closed: the file ends inside a quoted cell"
printf 'id;"sold;city;area;currency\n%s\n' "$good" >header.csv
tutti predict run header.csv
expect_code 2
expect_err "header.csv:1: a quote that opens in this row is never closed"
printf 'id;sold;city;area;currency\n1;2023-05-05\n' >none.csv
tutti predict run none.csv
expect_code 2
expect_err "none of 1 row can be read; the last: none.csv:2: row 0: expected 5 cells"
# Rows that are to be learnt from must be right.
printf 'a,y\n1,2\n2\n3,4\n' >torn.csv
tutti run plain.ini --set data.path=torn.csv --set data.target=y --out torn
expect_code 2
expect_err "torn.csv:3: expected 2 cells, as in the first line, found 1"
# Targets beside a row that cannot be read: metrics of the others, and a word about it.
printf 'id;sold;city;area;currency;price\n1;2023-05-05;Bern;33,5;CHF;1000\n2;yesterday;Bern;20;CHF;1000\n' >with.csv
tutti predict run with.csv
expect_code 0
expect_err "left empty" "metrics are of the 1 of 2 rows with a target and a prediction"
printf 'id;sold;city;area;currency;price\n1;2023-05-05;Bern;33,5;CHF;much\n' >with.csv
tutti predict run with.csv
expect_code 0
expect_err "there are no metrics"

# Classes: a row without a label.
sed 's/^target = .*/target = city/; s/^missing = .*/missing = mean\nignore = price/; /^rare/d' flats.ini >cities.ini
tutti run cities.ini --out cities --quiet
expect_code 0
printf 'id;sold;area;currency\n1;2023-05-05;33,5;CHF\n2;2023-05-05;wide;CHF\n' >new.csv
tutti predict cities new.csv
expect_code 0
expect_out "1,,,"
tutti predict cities new.csv --json
expect_out 'null]' '"unread":[1]'
# Metrics of classes are of the rows with a label that can be read: those of a file with them alone.
rows='1;2023-05-05;33,5;CHF;Bern\n2;2023-05-06;20;CHF;Basel\n'
printf 'id;sold;area;currency;city\n7;2023-05-05;40;CHF;\n%b8;2023-05-05;wide;CHF;Bern\n9;2023-05-05;40;CHF;Paris\n' "$rows" >new.csv
tutti predict cities new.csv --out p.csv
expect_code 0
expect_err "'Paris'" "new.csv: metrics are of the 2 of 5 rows with a target and a prediction"
cp out some.txt
printf 'id;sold;area;currency;city\n%b' "$rows" >new.csv
tutti predict cities new.csv --out p.csv
checks=$((checks + 1))
if ! grep -q nll some.txt || ! cmp -s some.txt out; then complain "expected the metrics of the two rows"; fi
# Nothing can be read: that is an error.
printf 'id;sold;area;currency\n1;2023-05-05;wide;CHF\n2;2023-05-05;wider;CHF\n' >new.csv
tutti predict cities new.csv
expect_code 2
expect_err "none of 2 rows can be read" "'wider'"
# Years that name columns look like a row of data: a note says what to do; headerless numbers, and a header, have none.
printf 'name,2019,2020,2021\na,1,2,3\nb,2,3,4\nc,3,4,5\nd,4,5,6\ne,5,6,7\nf,6,7,8\n' >years.csv
tail -n +2 years.csv >bare.csv
printf '[data]\npath = years.csv\ntarget = -1\nsplit = 4 2 1\n[hyperparameters]\nepochs = 1\n' >years.ini
tutti validate years.ini
expect_code 0
expect_err "years.csv: the first row has numbers, and so is taken for a row of data" "set data.header = yes"
checks=$((checks + 1))
[ "$(grep -c "first row" err)" = 1 ] || complain "expected it once"
for setting in data.header=yes data.path=bare.csv; do
  tutti validate years.ini --set $setting --set 'data.split=4 1 1'
  expect_code 0
  expect_not_in err "first row"
done
# A cell of several lines, or such a name, is on one line of the profile.
printf '"a\nb",c,y\n' >lines.csv
for i in 1 2 3 4 5 6 7 8; do printf '"x\n%d",%d.5,%d\n' $((i % 2)) $((i * i)) "$i"; done >>lines.csv
tutti validate plain.ini --set data.path=lines.csv --set data.target=y
expect_code 0
expect_out "  a b  " "x 0 (4), x 1 (4)"
# Blanks between the cells, one or runs of them, also around the rows, with tabs among them and beside decimal commas.
make_blanks() { # BLANKS: a table of three columns with these between its cells
  printf 'a%sb%sy\n' "$1" "$1"
  for i in 1 2 3 4 5 6 7 8; do printf '%s%s%s.5%s%s\n' "$i" "$1" "$((i * i % 7))" "$1" "$((i * 3))"; done
}
for sign in '.' ','; do
  for lines in '' 's/ /   /g' 's/ /  /g; s/^/ /; s/$/  /' 's/ /\t /; s/$/\t/'; do
    make_blanks ' ' | tr . "$sign" | sed "$lines" >blanks.csv
    what="blanks: $sign $lines"
    for setting in data.delimiter=auto data.delimiter=blanks; do
      tutti validate plain.ini --set data.path=blanks.csv --set data.target=y --set $setting --json
      expect_code 0
      expect_json 8 profile rows
      expect_json 0.5 profile columns 1 min
      expect_json 24.0 profile columns 2 max
    done
  done
done
# As auto-mpg.data of the UCI: numbers between runs of blanks, a tab, a name in quotes with blanks inside; a missing value is ?.
for i in 1 2 3 4 5 6 7 8; do printf '%s.0   %s   %s.50\t"make  model %s"\n' "$i" "$((i * i % 7))" "$i" "$((i % 2))"; done | sed '3s/   2 /   ? /' >mpg.data
tutti validate plain.ini --set data.path=mpg.data --set data.target=0 --set data.missing=mean --json
expect_code 0
expect_json 1 profile columns 1 missing
expect_json "make  model 0" profile columns 3 most 0 value
# Tabs between texts of several words are tabs, whatever the words.
printf 'a b\tc  d\ty\n1 2\t3\t5\n2 3\t4\t7\n' >tabs.csv
tutti validate plain.ini --set data.path=tabs.csv --set data.target=y
expect_err "tabs.csv: 2 rows, 3 columns"
# One row of ten may be another: a value is missing, in the first row or a later one.
make_wide() { for i in $(seq 0 22); do echo "0.$((i * 7 % 23 + 10)) $i $((i % 5))"; done; }
for missing in 1 12 23; do
  { echo a b y && make_wide | sed "${missing}s/ [0-9]* /  /"; } >blanks.csv
  what="a value is missing in row $missing"
  tutti validate plain.ini --set data.path=blanks.csv --set data.target=y
  expect_code 2
  expect_err "blanks.csv: most rows are one cell of 3 words, with numbers among them; if blanks separate the cells, set data.delimiter = space"
  sed 's/ /  /' blanks.csv >runs.csv
  tutti validate plain.ini --set data.path=runs.csv --set data.target=y
  expect_err "runs.csv: most rows are one cell of 3 words, with numbers among them; if blanks separate the cells, set data.delimiter = blanks"
done
{ echo a b y && make_wide | sed '3s/ [0-9]* /  /; 9s/ [0-9]* /  /; 15s/ [0-9]* /  /; 20,22s/ [0-9]* /  /'; } >blanks.csv
tutti validate plain.ini --set data.path=blanks.csv --set data.target=y
expect_not_in err "data.delimiter"
# Texts of several words, and digits in groups, are no such table.
printf 'y\n1 234\n2 345\n' >groups.csv
printf 'y\nHigh Street\nStation Road\n' >words.csv
printf 'y\n12 High Street\nStation Road\n3 Mill Lane\n' >mixture.csv
for file in groups words mixture; do
  tutti validate plain.ini --set data.path=$file.csv --set data.target=y
  expect_not_in err "data.delimiter"
done
# One row is no rows: words have the number that they count.
printf "y\n1\n2\n" >one.csv
tutti validate plain.ini --set data.path=one.csv --set data.target=y
expect_code 2
expect_err "2 rows, 1 column" "of 1, 1 is the target"
head -n 2 one.csv >y.csv
tutti validate plain.ini --set data.path=y.csv --set data.target=y
expect_err "1 row, 1 column"
printf 'a,y\n1,2\ninf,3\n-inf,4\nx,\n' >many.csv
tutti validate plain.ini --set data.path=many.csv --set data.target=y
expect_err "'a': 1 of 2 values is no number" "'a': 2 values are infinite" "'y': 1 of its values is missing"
# The short way to ask.
tutti predict -h
expect_code 0
expect_out "Usage: tutti predict"
# A file that is not what it should be is told of where it was named: in the recipe, or on the command line.
printf 'a,y\n1,2\n1,2,3\n' >many.csv
printf '[data]\nplugin = csv\npath = many.csv\n' >named.ini
tutti validate named.ini
expect_usage_error "named.ini:3: $PWD/many.csv:3: expected 2 cells"
tutti validate named.ini --set data.path=./many.csv
expect_usage_error "--set data.path: $PWD/./many.csv:3: expected 2 cells"
tutti validate named.ini --set data.path="$PWD/many.csv"
expect_usage_error "--set data.path: $PWD/many.csv:3: expected 2 cells"
tutti validate named.ini --set data.path=many.csv --set run.keep_weights=maybe
expect_usage_error "--set run.keep_weights: expected yes or no; found 'maybe'"

finish
