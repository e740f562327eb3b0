#!/bin/bash
# The tables of docs/data.md on files that went wrong: each file is made as the table has it, and the message has to be
# there, of validate and of run, or of predict. So the page and the program cannot part.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
data_page=$TUTTI_TEST_SRCDIR/docs/data.md

# table HEADING: the rows of the table whose first heading that is, cells between tabs, without the marks of code. A file
# stands there as printf writes it.
table() {
  sed -n "/^| $1 |/,/^\$/p" "$data_page" | sed '1,2d; /^$/d; s/^| //; s/ |$//; s/ | /\t/g; s/`//g; s/\\|/|/g'
}

# make FILE AS: the file that a row describes.
# shellcheck disable=SC2059
make() {
  case $2 in
    nothing) : >"$1" ;;
    "thirty days") { echo a,b,yield && for i in $(seq 10 39); do echo "$i,$((i % 7)),2024-0$((i / 10))-$((i % 10 + 10))"; done; } >"$1" ;;
    "a folder") mkdir -p "$1" ;;
    "gzipped, cut short") seq 20000 | sed 's/.*/&,&,&/; 1i a,b,yield' | gzip | head -c 20000 >"$1" ;;
    "one cell of 300,000 bytes") printf 'a,b,yield\n1,%0300000d,3\n2,x,4\n3,x,5\n4,x,6\n5,x,7\n' 0 | sed 's/,0/,x/' >"$1" ;;
    *) printf "$2" >"$1" ;;
  esac
}

printf '%s\n' '[run]' 'budget = 1' '[data]' 'path = t.csv' 'target = yield' 'split = 3 1 1' '[space]' 'plugin = mlp' \
  '[hyperparameters]' 'epochs = 1' '[selector]' 'plugin = all' >t.ini
rows=0
while IFS=$'\t' read -r name file end message; do
  rm -rf t.csv run
  make t.csv "$file"
  rows=$((rows + 1))
  for command in validate "run --out run"; do
    # shellcheck disable=SC2086
    tutti $command t.ini
    what="$name: tutti $command"
    cat out err >said
    case $end in
      refused) expect_code 2; expect_absent run; expect_in said "$message" ;;
      noted) expect_code 0; [ "$command" = validate ] || message=${message/#note:/warning: column}; expect_in said "$message" ;;
      "warned of") expect_code 0; expect_in said "$message" ;;
      read) expect_code 0; [ "$command" != validate ] || { expect_in said "$message"; expect_not_in said "warning: " "note: 'a'" "note: 'b'"; } ;;
      *) complain "expected refused, noted, warned of or read, found $end" ;;
    esac
  done
done < <(table "a table that")
checks=$((checks + 1))
[ "$rows" -ge 30 ] || complain "expected 30 rows in the table, found $rows"

# New rows: those that can be read are predicted.
printf 'a,b,yield\n' >t.csv
for i in 1 2 3 4 5 6 7 8 9 10; do printf '%s.5,%s,%s\n' "$i" "$([ $((i % 2)) = 0 ] && echo up || echo down)" "$((i * i % 7))"; done >>t.csv
tutti run t.ini --quiet --out model
expect_code 0
rows=0
while IFS=$'\t' read -r name file left message; do
  make new.csv "$file"
  rows=$((rows + 1))
  tutti predict model new.csv
  what="$name: tutti predict"
  checks=$((checks + 1))
  if [ "$left" = none ]; then
    expect_code 2
    expect_empty out
  else
    expect_code 0
    [ "$(sed 1d out | grep -vc ',,')" = "$left" ] || complain "expected $left rows with a prediction"
  fi
  expect_err "$message"
done < <(table "new rows that")
checks=$((checks + 1))
[ "$rows" -ge 8 ] || complain "expected 8 rows in the table, found $rows"
finish
