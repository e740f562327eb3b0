#!/bin/bash
# A run directory may come from anybody: looking at it runs no code of its own, reads only regular files in it, and ends.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
read -ra cc <<< "$CC"
read -ra flags <<< "${TUTTI_TEST_CFLAGS:-}"
mkdir theirs
"${cc[@]}" "${flags[@]}" -std=c11 -shared -fPIC -I"$TUTTI_TEST_SRCDIR/include" -o theirs/selector-marked.so \
  "$TUTTI_TEST_SRCDIR/tests/cli/marked.c" || exit 99
export TUTTI_TEST_MARK=$folder/mark
make_table
cut -d, -f1-3 table.csv >new.csv
regression_recipe >small.ini

marked() {
  checks=$((checks + 1))
  [ -e mark ] || complain "expected the plugin's mark"
  rm -f mark
}
unmarked() {
  expect_absent mark
  rm -f mark
}

# --- code ---

# Folders of plugins count in a run that is started, in its workers, and when it is resumed.
tutti run small.ini --set run.plugin_path=theirs --set selector.plugin=marked --quiet
expect_code 0
marked
tutti run small.ini --set run.plugin_path=theirs --set selector.plugin=marked --quiet --resume
expect_code 0
marked
run=runs/small

# But not in a run that is looked at, unless it is trusted.
look() {
  tutti "$@"
  expect_code 2
  expect_empty out
  expect_err "there is no selector 'marked'" "$folder/theirs" --trust TUTTI_PLUGIN_PATH
  unmarked
  tutti "$@" --trust
  expect_code 0
  marked
}
# Nor where a shell completes a line, whatever the recipe on it names; the plugins that others know are there.
(echo '[selector]'; echo 'plugin = marked'; sed '/^\[selector\]/,/^$/d;s|^\[run\]|&\nplugin_path = theirs|' small.ini) >named.ini
for subject in named.ini $run; do
  tutti settings selector.plu run "$subject" --set selector.plugin=forward
  expect_code 0
  expect_out "selector.plugin="
  unmarked
  for path in run.plugin_path=theirs "run.plugin_path =theirs" "'run. plugin_path = theirs'" "run.plugin_path=$folder/theirs"; do
    tutti settings selector.plugin= run "$subject" --set "$path"
    expect_code 0
    unmarked
    tutti settings selector.plugin= run "$subject" --set "$path" --set selector.plugin=marked
    expect_code 0
    unmarked
  done
done
tutti validate named.ini
marked
look status $run
look evaluate $run
look select $run
look curve $run
look predict $run new.csv
look compare $run
tutti distance $run:0 $run:1
expect_code 2
expect_err "there is no selector 'marked'" --trust
unmarked
tutti distance $run:0 $run:1 --trust
expect_err "does not measure"
marked
TUTTI_PLUGIN_PATH=$folder/theirs:$TUTTI_PLUGIN_PATH tutti status $run
expect_code 0
marked

# Nor does what the directory says count when the user resumes it with a recipe of their own.
tutti run small.ini --quiet --resume
expect_code 2
unmarked
tutti run small.ini --out plain --quiet
expect_code 0
sed -i "s|^plugin_path = [^;]*|plugin_path = $folder/theirs |; s|^retries = [^;]*|retries = 2 |" plain/recipe.ini
cp "$(dirname "$TUTTI_PROGRAM")"/modules/selector-top-m.so theirs/selector-forward.so 2>/dev/null || : >theirs/selector-forward.so
rm plain/trials/000002/test.npy
tutti run small.ini --out plain --quiet --resume
expect_code 0
rm theirs/selector-forward.so

# --- files ---

tutti run small.ini --out whole --quiet
expect_code 0
# refuse FILE MAKE: with MAKE's file in the place of FILE, looking ends soon with a message that names it.
refuse() {
  local file=$1 command
  shift
  rm -rf run
  cp -r whole run
  rm -rf "run/$file"
  (cd run && "$@")
  for command in "status run" "select run" "evaluate run" "predict run new.csv" "compare run"; do
    # shellcheck disable=SC2086
    timeout 5 "$TUTTI_PROGRAM" $command >out 2>err </dev/null
    code=$?
    what="tutti $command, with $file by $*"
    checks=$((checks + 1))
    [ $code -ne 124 ] || complain "expected an end"
    [ $code -ne 139 ] || complain "expected no crash"
    [ $code -eq 0 ] || expect_err "$(basename "$file")"
  done
}
member=$("$json_value" whole/ensemble.json members 0 trial)
member=trials/$(printf %06d "$member")
for file in recipe.ini data.json catalogue.sqlite ensemble.json summary.json splits/test-targets.npy splits/test-rows.npy \
  $member/validation.npy $member/test.npy $member/weights.safetensors; do
  refuse "$file" mkfifo "$file"
  refuse "$file" ln -s /dev/zero "$file"
  refuse "$file" mkdir "$file"
done
# What SQLite would read beside the catalogue, too: it would wait for a pipe for ever.
for file in catalogue.sqlite-journal catalogue.sqlite-wal catalogue.sqlite-shm; do
  refuse "$file" mkfifo "$file"
  tutti status run
  expect_code 1
  expect_err "$file: expected a regular file"
done
for file in recipe.ini data.json catalogue.sqlite splits; do
  refuse "$file" ln -s "$folder/whole/$file" "$file"
  tutti status run
  checks=$((checks + 1))
  [ "$code" -ne 0 ] || complain "expected that a link to $file elsewhere is refused"
  expect_err "$file" "link"
done
refuse "$member/test.npy" ln -s "$folder/whole/$member/test.npy" "$member/test.npy"
tutti evaluate run
expect_code 1
expect_err test.npy "regular file"

# --- the catalogue ---

sql=$TUTTI_TEST_BUILDDIR/tests/cli/sql
# Whoever changes a catalogue on purpose has its checksums fit; or there are none, as in runs from before there were.
sound="DROP TABLE sums; DROP TABLE fact_sums"
# catalogue STATEMENTS: with these done to the catalogue, reading it is refused.
catalogue() {
  local expected=${2-1}
  rm -rf run
  cp -r whole run
  "$sql" run/catalogue.sqlite "$sound; $1" || complain "expected to run: $1"
  timeout 5 "$TUTTI_PROGRAM" status run >out 2>err </dev/null
  code=$?
  what="tutti status run, after $1"
  expect_code "$expected"
  expect_err catalogue
}
catalogue "UPDATE trials SET told = 0"
catalogue "UPDATE trials SET told = told + 1"
catalogue "UPDATE trials SET asked_after = 4, told = 4 WHERE told = 5" # only that a result is told twice is wrong
catalogue "UPDATE trials SET asked_after = 6 - number"
catalogue "UPDATE trials SET parent = number"
catalogue "UPDATE trials SET state = NULL WHERE number = 1"
catalogue "UPDATE trials SET candidate = '{}'" 2
catalogue "DELETE FROM trials WHERE number = 2"
catalogue "DROP TABLE facts; CREATE VIEW facts AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i FROM n) SELECT i AS key, i AS value FROM n"
# Names of files in it lead nowhere else.
for name in ../../../table.csv "$folder/table.csv" .. .; do
  rm -rf run
  cp -r whole run
  "$sql" run/catalogue.sqlite "$sound; UPDATE trials SET report = replace(report, 'network.json', '$name')"
  tutti run small.ini --out run --resume
  expect_code 1
  expect_err catalogue "$name" "in its folder"
done

# What others wrote cannot reach the terminal's controls.
rm -rf run
cp -r whole run
tutti evaluate run --ensemble <(sed $'s/"selector": "[a-z]*"/"selector": "\\\\u001b[2J"/' whole/ensemble.json)
expect_code 0
expect_not_in out $'\033'
tutti $'stat\033[2J'
expect_code 2
expect_not_in err $'\033'
tutti predict whole new.csv --out $'nowhere\033[2J/p.csv'
expect_code 1
expect_not_in err $'\033'
mkdir $'plugins\033[2J'
TUTTI_PLUGIN_PATH=$'plugins\033[2J':${TUTTI_PLUGIN_PATH:-} tutti doctor
expect_code 0
expect_out "plugins?[2J"
expect_not_in out $'\033'
# Nor can a class of theirs, where predictions are printed on a terminal.
classification_recipe >odd.ini
sed $'s/,up$/,u\033[2Jp/' table.csv >odd.csv
tutti run odd.ini --set data.path="$PWD/odd.csv" --out odd --quiet
expect_code 0
tutti predict odd odd.csv
expect_in out $'\033[2J' # a file holds the data as they are
if command -v script >/dev/null; then
  in_terminal "$TUTTI_PROGRAM predict odd odd.csv 2>/dev/null"
  expect_code 0
  expect_out "u?[2Jp"
  expect_not_in out $'\033'
fi
finish
