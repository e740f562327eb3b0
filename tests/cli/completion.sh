#!/bin/bash
# The bash completion is what the program says of its commands, and it completes what a person types.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
completion=$TUTTI_TEST_SRCDIR/docs/bash-completion/tutti

tutti bash-completion
expect_code 0
expect_empty err
checks=$((checks + 1))
diff "$completion" out >difference || {
  head -n 20 difference
  complain "docs/bash-completion/tutti is not current: run make reference, and commit it"
}

# shellcheck source=/dev/null
. "$completion"
mkdir -p folder/deep
touch one.ini two.csv folder/three.ini

# complete_to "EXPECTED" WORD...: what the last word, empty or begun, completes to, sorted.
complete_to() {
  local expected=$1 found
  shift
  what="completing: tutti $*"
  COMP_WORDS=(tutti "$@")
  COMP_CWORD=$#
  _tutti "$TUTTI_PROGRAM" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  found=$(printf '%s\n' "${COMPREPLY[@]}" | sort | xargs)
  checks=$((checks + 1))
  [ "$found" = "$expected" ] || complain "expected $expected, found $found"
}
: >out
: >err
rm difference

complete_to "$("$TUTTI_PROGRAM" --help | awk '/^  s/ { print $1 }' | sort | xargs)" s
complete_to "select" sel
complete_to "--help --version" --
complete_to "evaluate" help ev
complete_to "--resume" run --re
complete_to "--dry-run --help --json --out --quiet --resume --set --usage --verbose --workers" run one.ini --
complete_to "folder one.ini" run ""
complete_to "folder one.ini" check ""
complete_to "folder/deep folder/three.ini" validate folder/
complete_to "" run one.ini ""
complete_to "folder one.ini" run --workers 2 --set a.b = c ""
complete_to "folder one.ini" run --workers = 2 ""
complete_to "folder one.ini" run --quiet ""
complete_to "" run one.ini --set ""
complete_to "" run one.ini --set selector.size = ""
complete_to "folder" run one.ini --out ""
complete_to "folder" run one.ini --out = fol
complete_to "folder" run one.ini --out =
complete_to "folder" status ""
complete_to "folder" predict ""
complete_to "err folder one.ini out two.csv" predict folder ""
complete_to "two.csv" predict folder --out t
complete_to "folder" compare folder ""
complete_to "folder one.ini" ablate one.ini ""
complete_to "builder" list bu
complete_to "selector/greedy" inspect selector/gree
complete_to "darts" distance --space dar
complete_to "" status folder --trials ""
finish
