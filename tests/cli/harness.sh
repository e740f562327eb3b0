# harness.sh - sourced by the tests here. A test works in an empty folder; `tutti ...` runs the program with its output in
# the files out and err and its exit code in $code; expect_* check them and go on (with TUTTI_TEST_FIRST set, only until one
# fails); the last line is `finish`.
# shellcheck shell=bash
set -u
json_value=$TUTTI_TEST_BUILDDIR/tests/cli/json-value
folder=$(mktemp -d "${TMPDIR:-/tmp}/tutti-cli-XXXXXX")
trap 'cd /; rm -rf "$folder"' EXIT
cd "$folder" || exit 99
unset NO_COLOR OPENBLAS_CORETYPE TUTTI_VERBOSE
what='' code=0 failures=0 checks=0

tutti() {
  what="tutti $*"
  "$TUTTI_PROGRAM" "$@" >out 2>err </dev/null
  code=$?
}

complain() {
  failures=$((failures + 1))
  printf 'FAILED: %s\n  %s\n  exit code %s\n' "$what" "$1" "$code"
  sed 's/^/  out: /' out | head -n 8
  sed 's/^/  err: /' err | head -n 8
  [ -z "${TUTTI_TEST_FIRST:-}" ] || exit 1
}

expect_code() {
  checks=$((checks + 1))
  [ "$code" -eq "$1" ] || complain "expected exit code $1"
}

# expect_error: the program ended with an error, whichever.
expect_error() {
  checks=$((checks + 1))
  [ "$code" -ne 0 ] || complain 'expected an error'
}

# expect_in FILE TEXT...: every text stands in the file.
expect_in() {
  local file=$1 text
  shift
  for text; do
    checks=$((checks + 1))
    grep -qF -e "$text" "$file" || complain "expected in $file: $text"
  done
}
expect_out() { expect_in out "$@"; }
expect_err() { expect_in err "$@"; }

# expect_not_in FILE TEXT...: none of the texts stands in the file.
expect_not_in() {
  local file=$1 text
  shift
  for text; do
    checks=$((checks + 1))
    ! grep -qF -e "$text" "$file" || complain "not expected in $file: $text"
  done
}

expect_empty() {
  checks=$((checks + 1))
  [ ! -s "$1" ] || complain "expected nothing in $1"
}

# An error of the user's: exit code 2, a message that has these texts, nothing on stdout, nothing written.
expect_usage_error() {
  expect_code 2
  expect_empty out
  expect_err "tutti" "$@"
  expect_absent runs
}

expect_absent() {
  checks=$((checks + 1))
  [ ! -e "$1" ] || complain "expected no $1"
}

# expect_json VALUE KEY...: `out` is JSON, and the keys lead to the value.
expect_json() {
  local expected=$1 found
  shift
  checks=$((checks + 1))
  found=$("$json_value" out "$@" 2>&1)
  [ "$found" = "$expected" ] || complain "expected $expected at $*, found $found"
}

# sql RUN QUERY: what a query says of the run's catalogue.
sql() { "$TUTTI_TEST_BUILDDIR/tests/cli/sql" "$1/catalogue.sqlite" "$2"; }

# trials RUN: what became of each, but who trained it and how long it took.
trials() { sql "$1" "SELECT number, candidate, parent, origin, asked_after, state, loss, told, failure, report FROM trials"; }

same_trials() { # RUN RUN
  checks=$((checks + 2))
  trials "$1" >first.txt
  trials "$2" >second.txt
  [ -s first.txt ] || complain "expected trials in $1"
  cmp -s first.txt second.txt || complain "expected the same trials in $1 and $2"
}

same_file() { # FILE FILE
  checks=$((checks + 1))
  cmp -s "$1" "$2" || complain "expected the same bytes in $1 and $2"
}

# in_terminal COMMAND: run it on a terminal of 80 columns; all that is drawn goes to out, the exit code to $code.
in_terminal() {
  what="in a terminal: $1"
  : >err
  TERM=xterm script -qec "stty cols 80; $1" /dev/null >out </dev/null
  code=$?
}

# Set $python to one that has NumPy. Debian's NumPy is in /usr/bin/python3, which need not be the first on PATH.
find_numpy() {
  local candidate
  python=''
  for candidate in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import numpy' 2>/dev/null || python=$candidate
  done
  [ -n "$python" ] || { echo "FAILED: this test needs NumPy (Debian: python3-numpy)"; exit 1; }
}

# Let a library of the build tree find the others: where it is to be installed in the system's own folders, as in a Debian
# package, it has no run path.
find_built_libraries() {
  export LD_LIBRARY_PATH="$TUTTI_TEST_BUILDDIR/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}

# From any.ini, of six trials, make small.ini: with such a seed, $seed, of the run and of its split, if it has one, that the
# ensemble of twelve trials has an old model as a new member. The run of twelve is left in the folder long.
find_seed_for_old_member() {
  for seed in 1 2 3 4 5 6 7 8 9 10 none; do
    sed "s/seed = .*/seed = $seed/" any.ini >small.ini
    rm -rf long
    tutti run small.ini --quiet --out long --set run.budget=12
    expect_code 0
    tutti curve long --budgets 6,12 --json
    "$python" - <<'PY' && break
import json, sys
short, long = ({m["trial"] for m in point["ensemble"]} for point in json.load(open("out")))
sys.exit(not {trial for trial in long - short if trial < 6})
PY
  done
  checks=$((checks + 1))
  [ "$seed" != none ] || complain "expected a seed with which a longer run takes an old model in"
}

finish() {
  [ "$failures" -eq 0 ] || { echo "$failures of $checks checks failed"; exit 1; }
  echo "$checks checks passed"
}
