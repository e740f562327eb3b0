#!/bin/bash
# The completions of shells are what the program says of its commands, and they complete what a person types.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
completion=$TUTTI_TEST_SRCDIR/docs/bash-completion/tutti

# expect_current COMMAND FILE: the command prints the file.
expect_current() {
  tutti "$1"
  expect_code 0
  expect_empty err
  checks=$((checks + 1))
  diff "$TUTTI_TEST_SRCDIR/docs/$2" out >difference || {
    head -n 20 difference
    complain "docs/$2 is not current: run make reference, and commit it"
  }
}
expect_current zsh-completion zsh-completion/_tutti
expect_current fish-completion fish-completion/tutti.fish
expect_current bash-completion bash-completion/tutti

# shellcheck source=/dev/null
. "$completion"
mkdir -p folder/deep
touch one.ini two.csv folder/three.ini
installed=$(mktemp -d)
printf '# A recipe that is installed.\n[run]\nbudget = 1\n' >"$installed/quick.ini"
export TUTTI_RECIPE_FOLDER=$installed

# complete_to "EXPECTED" WORD...: what the last word, empty or begun, completes to, sorted. Words are parted as bash does it: "="
# is one of its own, also the last, behind which nothing is typed yet.
complete_to() {
  local expected=$1 found typed
  shift
  what="completing: tutti $*"
  COMP_WORDS=(tutti "$@")
  COMP_CWORD=$#
  typed=${COMP_WORDS[COMP_CWORD]}
  [ "$typed" != = ] || typed=
  _tutti "$TUTTI_PROGRAM" "$typed" "${COMP_WORDS[COMP_CWORD - 1]}"
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
complete_to "folder one.ini quick" run ""
complete_to "folder one.ini quick" check ""
complete_to "quick" run qu
cp "$installed/quick.ini" "$installed/\$(touch ran).ini"
complete_to '$(touch ran) folder one.ini quick' run ""
expect_absent ran
rm "$installed/\$(touch ran).ini"
complete_to "folder/deep folder/three.ini" validate folder/
complete_to "" run one.ini ""
complete_to "folder one.ini quick" run --workers 2 --set a.b = c ""
complete_to "folder one.ini quick" run --workers = 2 ""
complete_to "folder one.ini quick" run --quiet ""
# What --set takes is what the recipe or run on the line has, also when settings before have changed that.
mkdir -p settings/past && cd settings || exit 1
touch one.ini two.csv out err
cat >own.ini <<'INI'
[data]
plugin = csv
path = two.csv
[backend]
plugin = trees
INI
cp own.ini 'my own.ini'
complete_to "" run --set sel
complete_to "data.missing= data.missing_marks= data.missing_target=" run own.ini --set data.mis
complete_to "data.missing= data.missing_marks= data.missing_target=" run --quiet own.ini --set = data.mis
complete_to "data.missing_marks=" run own.ini -s data.missing_m
complete_to "drop error indicator mean" run own.ini --set data.missing =
complete_to "drop error indicator mean" run own.ini --set = data.missing =
complete_to "drop" run own.ini --set = data.missing = dr
complete_to "drop error" run own.ini --set data.missing_target =
complete_to "no yes" run own.ini --set run.keep_weights =
complete_to "trees" run own.ini --set backend.plugin = tr
complete_to "two.csv" run own.ini --set data.path = tw
# shellcheck disable=SC2088
complete_to "" run own.ini --set data.path = '~/'
complete_to "" run own.ini --set run.budget =
complete_to "" run own.ini --set nothing.here =
complete_to "" run own.ini --out = data.mis
complete_to "" run own.ini --quiet = data.mis
COMP_LINE='tutti run --set data.path= own.ini --set data.missing_m'
complete_to "data.missing_marks=" run --set data.path = own.ini --set data.missing_m
unset COMP_LINE
for earlier in "--set backend.plugin = cpu" "--set = backend.plugin = cpu" "-s backend.plugin = cpu" "-sbackend.plugin = cpu" \
  '--set backend.plugin = "cpu"'; do
  read -ra words <<<"$earlier"
  complete_to "backend.epochs=" run own.ini "${words[@]}" --set backend.epo
done
complete_to "hyperparameters.max_depth=" run own.ini --set hyperparameters.max_d
complete_to "hyperparameters.max_depth=" run own.ini --set backend.max_depth = 99999999 --set hyperparameters.max_d
complete_to "selector.plugin=" ablate own.ini --swap selector.pl
# Words are what the shell will make of them; the value of another option is no recipe.
for word in '"my own.ini"' "'my own.ini'" 'my\ own.ini' '$PWD/own.ini' "$(realpath --relative-to="$HOME" . | sed 's|^|~/|')/own.ini"; do
  complete_to "data.missing_marks=" run "$word" --set data.missing_m
done
complete_to "" run '$(touch ran; echo own.ini)' --set data.missing_m
expect_absent ran
cp own.ini past/recipe.ini
printf '[run]\nbudget = 3\n[backend]\nplugin = function\n[hyperparameters]\nx0 = uniform 0 1\n' >points.ini
complete_to "" run --out past points.ini --set data.missing_m
complete_to "backend.scaled=" run --out past points.ini --set backend.scal
# Of a run that is looked at, what is chosen from its pool.
complete_to "calibrator.plugin=" select past --set calibrator.plu
complete_to "" select past --set data.missing_m
complete_to "" evaluate past --set run.bud
# A pipe is not waited for, and one that a recipe extends not for ever.
mkfifo pipe
complete_to "data.missing_marks=" run pipe own.ini --set data.missing_m
echo 'extends = pipe' >endless.ini
complete_to "" run endless.ini --set data.missing_m
complete_to "one.ini" run --set data.missing = drop on
# Where bash does not part words at "=", it replaces them as a whole.
COMP_WORDS=(tutti run own.ini --set data.missing=dr) COMP_CWORD=4
_tutti "$TUTTI_PROGRAM" data.missing=dr --set
checks=$((checks + 1))
[ "${COMPREPLY[*]}" = data.missing=drop ] || complain "expected the whole word, found ${COMPREPLY[*]}"
COMP_WORDS=(tutti run own.ini --set=data.missing=dr) COMP_CWORD=3
_tutti "$TUTTI_PROGRAM" --set=data.missing=dr own.ini
checks=$((checks + 1))
[ "${COMPREPLY[*]}" = --set=data.missing=drop ] || complain "expected the whole option, found ${COMPREPLY[*]}"
# The real bash, in a terminal.
for line in 'run own.ini --set data.missi|run own.ini --set data.missing' 'run own.ini --set data.missing=dr|run own.ini --set data.missing=drop ' \
  'run own.ini --set=backend.plugin=tree|run own.ini --set=backend.plugin=trees ' 'run own.ini --set run.budg|run own.ini --set run.budget=' \
  'run own.ini --set "data.missing=dr|run own.ini --set "data.missing=drop" ' 'run "my own.ini" --set data.path=tw|run "my own.ini" --set data.path=two.csv ' \
  'run own.ini --set calibrator.plugin=isot|run own.ini --set calibrator.plugin=isotonic ' 'run own.ini --out pas|run own.ini --out past/' \
  'run own.ini --out="pas|run own.ini --out="past/' 'run own.ini --set data.path="tw|run own.ini --set data.path="two.csv" ' \
  'run own.ini --set=data.missing="dr|run own.ini --set=data.missing="drop" '; do
  what="bash completes ${line%%|*}"
  timeout 60 python3 - "$completion" "$TUTTI_PROGRAM ${line%%|*}" <<'PY' >out 2>err
import os, pty, re, sys
process, terminal = pty.fork()
if not process:
    os.environ.update(TERM="dumb", PS1="")
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
def find(pattern, said=""):
    while not (found := re.search(pattern, said)):
        said += os.read(terminal, 4096).decode()
    return found
os.write(terminal, f"stty columns 1000; PS1=; source {sys.argv[1]}; echo READ''Y\n".encode())
find("READY")
os.write(terminal, (sys.argv[2] + "\t\x01echo '<\x05>'\n").encode())  # the line is printed, not run
print(find(r"(?<!')<[^<>]*tutti ([^<>]*)>\r?\n")[1] + "|")
PY
  expect_out "${line#*|}|"
done
cd .. && rm -r settings
complete_to "folder" run one.ini --out ""
complete_to "folder" run one.ini --out = fol
complete_to "folder" run one.ini --out =
complete_to "folder" status ""
complete_to "folder" predict ""
complete_to "err folder one.ini out two.csv" predict folder ""
complete_to "two.csv" predict folder --out t
complete_to "folder" compare folder ""
complete_to "folder one.ini quick" ablate one.ini ""
complete_to "builder" list bu
complete_to "selector/greedy" inspect selector/gree
complete_to "darts" distance --space dar
complete_to "" status folder --trials ""

# The other shells, where they are: zsh in a terminal of its own, fish by its own question.
PATH=$(dirname "$TUTTI_PROGRAM"):$PATH
if command -v zsh >there; then
  what="zsh -n"
  zsh -n "$TUTTI_TEST_SRCDIR/docs/zsh-completion/_tutti" >out 2>err
  code=$?
  expect_code 0
  expect_empty err
  cat >completes.zsh <<'ZSH'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= PROMPT=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -d $PWD/dump; echo READ''Y"
zpty -r shell line '*READY*'
zpty -w -n shell "$2"$'\t'
zpty -w -n shell $'\C-a'"echo '<"$'\C-e'">'"$'\n'
zpty -r shell line '*<*>*<*>*'
print -r -- $line
zpty -d shell
ZSH
  printf '[run]\nbudget = 1\n[data]\nplugin = csv\npath = two.csv\n' >table.ini
  for words in "tutti sel:tutti select" "tutti run table.ini --set selector.plu:--set selector.plugin=" \
    "tutti run table.ini --set data.missing=dr:--set data.missing=drop" "tutti run table.ini --set data.path=tw:data.path=two.csv" "tutti run one.ini --dry:one.ini --dry-run" "tutti validate fol:tutti validate folder" "tutti run qu:tutti run quick"; do
    what="zsh completes ${words%%:*}"
    timeout 20 zsh -f completes.zsh "$TUTTI_TEST_SRCDIR/docs/zsh-completion" "${words%%:*}" >out 2>err
    expect_out "${words##*:}"
  done
  what="zsh asks the program on the line"
  PATH=/usr/bin:/bin timeout 20 zsh -f completes.zsh "$TUTTI_TEST_SRCDIR/docs/zsh-completion" "$TUTTI_PROGRAM run table.ini --set selector.plu" >out 2>err
  expect_out "--set selector.plugin="
fi
if command -v fish >there; then
  # fish_to "EXPECTED" LINE: the completions of a line, without their descriptions.
  fish_to() {
    what="fish completes $2"
    HOME=$PWD fish --no-config -c "source $TUTTI_TEST_SRCDIR/docs/fish-completion/tutti.fish; complete -C '$2'" 2>err |
      cut -f1 | sort | xargs >out
    checks=$((checks + 1))
    [ "$(cat out)" = "$1" ] || complain "expected $1"
  }
  fish_to "select" "tutti sel"
  fish_to "check" "tutti che"
  fish_to "--resume" "tutti run one.ini --re"
  fish_to "folder/" "tutti status fol"
  fish_to "one.ini" "tutti validate on"
  fish_to "quick" "tutti run qu"
  fish_to "selector/greedy" "tutti inspect selector/gree"
  fish_to "two.csv" "tutti predict folder --out two"
  fish_to "selector.plugin=" "tutti run table.ini --set selector.plu"
  fish_to "data.missing=drop" "tutti run table.ini --set data.missing=dr"
  fish_to "--set=data.missing=drop" "tutti run table.ini --set=data.missing=dr"
  fish_to "data.path=two.csv" "tutti run table.ini --quiet --set data.path=tw"
  fish_to "data.path=folder/" "tutti run table.ini --set data.path=fol"
  PATH=/usr/bin:/bin fish_to "selector.plugin=" "$TUTTI_PROGRAM run table.ini --set selector.plu"
  PATH=/usr/bin:/bin fish_to "" "tutti run table.ini --set selector.plu"
  expect_empty err
fi
rm -r "$installed"
finish
