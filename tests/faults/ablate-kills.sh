#!/bin/bash
# An ablation that is killed or interrupted leaves no process behind, and resumed it comes to the same bits; its cells never
# have more workers than they may.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
regression_recipe | sed 's/^epochs = .*/epochs = 150/; s/^budget = .*/budget = 12/' >small.ini
function_recipe slow 0.03 16 >slow.ini
matrix=(small.ini slow.ini --swap "selector.size=1,2" --swap "run.window=2,4")

# processes_of DIRECTORY [WORD]: how many processes name it (and the word) in their command lines.
processes_of() {
  local count=0 file words line
  for file in /proc/[0-9]*/cmdline; do
    { mapfile -d '' -t words <"$file"; } 2>/dev/null || continue # it has ended
    line="${words[*]} "
    case $line in *"$folder/$1"*) [[ $line != *"${2- }"* ]] || count=$((count + 1)) ;; esac
  done
  echo "$count"
}

# process_of DIRECTORY: the number of the process that makes this run.
process_of() {
  local file words
  for file in /proc/[0-9]*/cmdline; do
    { mapfile -d '' -t words <"$file"; } 2>/dev/null || continue
    case "${words[*]} " in *" run "*"--out $folder/$1 "*) basename "${file%/cmdline}" ;; esac
  done
}

# start_ablation DIRECTORY OPTION...: in the background, as $ablation.
start_ablation() {
  local directory=$1
  shift
  what="tutti ablate ... --out $directory $*"
  setsid env --default-signal=INT "$TUTTI_PROGRAM" ablate "${matrix[@]}" --out "$folder/$directory" "$@" >out 2>err </dev/null &
  ablation=$!
}

# expect_gone DIRECTORY: soon no process works there.
expect_gone() {
  local i
  checks=$((checks + 1))
  for ((i = 0; i < 100; i++)); do
    [ "$(processes_of "$1")" -eq 0 ] && return
    sleep 0.05
  done
  complain "expected no process to work in $1"
}

same_result() { # DIRECTORY
  checks=$((checks + 1))
  cmp -s <(sed "s|$folder/$1|DIR|" "$1/ablation.json") <(sed "s|$folder/whole|DIR|" whole/ablation.json) ||
    complain "expected the ablation.json of an uninterrupted ablation in $1"
}

# Left alone, with three workers: there are never more, and there are as many.
start_ablation whole --workers 3
most=0
while kill -0 "$ablation" 2>/dev/null; do
  workers=$(processes_of whole " worker ")
  [ "$workers" -le "$most" ] || most=$workers
done
wait "$ablation"
code=$?
expect_code 0
checks=$((checks + 1))
[ "$most" -eq 3 ] || complain "expected at most and at some time 3 workers, found $most"
expect_gone whole

# Killed again and again, the process group and all.
for pause in 0.05 0.1 0.2 0.4 0.3 0.15 0.6 0.5; do
  start_ablation killed --workers 2 --resume --quiet
  sleep "$pause"
  kill -9 -- "-$ablation" 2>/dev/null
  wait "$ablation" 2>/dev/null
done
expect_gone killed
start_ablation killed --workers 1 --resume --quiet
wait "$ablation"
code=$?
expect_code 0
expect_empty err
same_result killed

# Interrupted, as by Ctrl-C: it ends in good order, and says how to go on.
start_ablation interrupted --workers 2
sleep 0.7
kill -INT "$ablation"
wait "$ablation"
code=$?
expect_code 130
expect_err "interrupted" "--resume"
expect_empty out
checks=$((checks + 1))
[ "$(processes_of interrupted)" -eq 0 ] || complain "expected every cell to have ended"
start_ablation interrupted --workers 4 --resume
for ((i = 0; i < 300; i++)); do # until it has the lock
  grep -q "FLOCK .* WRITE $ablation " /proc/locks && break
  sleep 0.02
done
"$TUTTI_PROGRAM" ablate "${matrix[@]}" --out interrupted --resume >/dev/null 2>second.err
code=$?
expect_code 2
expect_in second.err "in use"
wait "$ablation"
code=$?
expect_code 0
same_result interrupted

# A cell that is killed from outside fails, the others go on, and --resume tries it again.
start_ablation struck --workers 1
for ((i = 0; i < 200; i++)); do
  [ -e struck/runs/small_size=1_window=2_seed-3/worker.log ] && break
  sleep 0.02
done
kill -9 "$(process_of struck/runs/small_size=1_window=2_seed-3)"
wait "$ablation"
code=$?
expect_code 1
expect_out "Failed" "small_size=1_window=2_seed-3: the process was killed by signal 9" \
  "small_size=2_window=2_seed-3: small_size=1_window=2_seed-3, whose search it shares, failed"
start_ablation struck --resume
wait "$ablation"
code=$?
expect_code 0
same_result struck

# Workers that have nothing to do go to a run that is left, which is stopped for that and comes to the same.
function_recipe long 0.2 60 >long.ini
function_recipe short 0.2 2 >short.ini
tutti ablate short.ini long.ini --workers 2 --out spread
expect_code 0
expect_err "long_seed-5 begins, with 1 worker" "long_seed-5 begins, with 2 workers" "2 of 2 done"
expect_not_in err "short_seed-5 begins, with 2"
checks=$((checks + 1))
[ "$(grep -c "long_seed-5 begins" err)" -eq 2 ] || complain "expected one stop"
tutti run long.ini --set hyperparameters.seconds=0 --out alone --quiet
expect_code 0
tutti status alone --json
expect_json "$("$json_value" spread/runs/long_seed-5/summary.json best loss)" best loss
finish
