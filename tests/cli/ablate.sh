#!/bin/bash
# tutti ablate: the matrix, its checks, shared searches, what fails, what is there already.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
regression_recipe >small.ini
sed 's/^seed = .*/seed = 8/; s/^epochs = .*/epochs = 3/' small.ini >other.ini

expect_lines() { # FILE COUNT
  checks=$((checks + 1))
  [ "$(wc -l <"$1")" -eq "$2" ] || complain "expected $2 lines in $1"
}
expect_there() {
  local path
  for path; do
    checks=$((checks + 1))
    [ -e "$path" ] || complain "expected $path"
  done
}

# What is wrong is said before anything trains, with the cell's name.
tutti ablate small.ini --swap selector.plugni=top-m --out runs
expect_usage_error "cell " "selector.plugni: unknown key"
tutti ablate small.ini --swap selector.sizee=1,2 --out runs
expect_usage_error "cell sizee=1_seed-3 of small.ini" "did you mean 'size'"
tutti ablate small.ini --swap selector.plugin=forward,topm --out runs
expect_usage_error "cell topm_seed-3" "did you mean 'top-m'"
tutti ablate small.ini --swap selectr.size=1,2 --out runs
expect_usage_error "did you mean [selector]"
tutti ablate small.ini --swap space.max_depth=2,zero --out runs
expect_usage_error "cell max_depth=zero_seed-3" "space.max_depth: expected an integer"
tutti ablate small.ini --swap data.path=table.csv,absent.csv --out runs
expect_usage_error "cell absent_seed-3" "absent.csv"
tutti ablate small.ini --set run.bugdet=3 --out runs
expect_usage_error "did you mean 'budget'"
tutti ablate small.ini absent.ini --out runs
expect_usage_error "absent.ini"
tutti ablate small.ini small.ini --out runs
expect_usage_error "given twice"
for swap in run.seed=1,2 run.name=a,b run.workers=1,2 selector.size=1,1 selector.size selector= =1 .a=1 a.=1; do
  tutti ablate small.ini --swap "$swap" --out runs
  expect_usage_error "--swap"
done
tutti ablate small.ini --swap selector.size=1,2 --swap selector.size=3 --out runs
expect_usage_error "the key is given twice"
tutti ablate small.ini --swap run.seed=1,2 --out runs
expect_usage_error "--seeds N"

tutti ablate small.ini --set run.seed=9223372036854775807 --seeds 2 --out runs
expect_usage_error "there are no 2 seeds"
tutti ablate small.ini --out table.csv/x
expect_code 1
expect_err "table.csv/x"
tutti ablate small.ini --swap run.budget="$(seq -s, 2 999)" --swap space.max_depth="$(seq -s, 1 999)" --out runs
expect_usage_error "more than 100000 cells"

# A key that only some variants have is swapped in these alone.
for swap in "builder.population=4,6 where" "builder.population=4,6 where nes-re" "builder.population where builder.plugin=nes-re"; do
  tutti ablate small.ini --swap "$swap" --out runs
  expect_usage_error "perhaps followed by ' where section.key=a,b'"
done
# Another word than where is a part of a value, and the error tells of the one that is meant; of other errors it does not.
for condition in "if selector.plugin = top-m" "when selector.plugin=top-m,all"; do
  tutti ablate small.ini --swap "selector.size=1,2 $condition" --out runs
  expect_usage_error "--swap selector.size: cells are chosen by ' where', did you mean that by '${condition%% *}'?" "found '2 ${condition%,*}'"
done
tutti ablate small.ini --swap "builder.population=4,6 if builder.plugin=nes-re" --out runs
expect_usage_error "did you mean that by 'if'?" "builder.population: unknown key"
tutti ablate small.ini --swap "selector.size=1,two few" --out runs
expect_usage_error "found 'two few'"
expect_not_in err "where"
tutti ablate small.ini --swap "builder.population=4,6 where builder.plugin=nes-re" --out runs
expect_usage_error "--swap builder.population: its condition, builder.plugin=nes-re, holds in no cell" "there builder.plugin is nes-rs;"
# A value that occurs does not hide a slip in another, whose cells would silently go without the swap.
tutti ablate small.ini --swap builder.plugin=nes-re,nes-rs --swap "builder.population=10,12 where builder.plugin=nes-re,nes-er" \
  --out runs --dry-run
expect_code 0
expect_err "warning: --swap builder.population: its condition, builder.plugin=nes-re,nes-er, names 'nes-er', which no cell has: there builder.plugin is nes-re or nes-rs; did you mean 'nes-re'?"
tutti ablate small.ini --swap "selector.size=1,2 where selector.plugin=top-m" --swap selector.plugin=top-m,all --out runs
expect_usage_error "--swap selector.plugin: give it before --swap selector.size"
tutti ablate small.ini --swap "selector.size=1,2 where selector.size=1" --out runs
expect_usage_error "cannot depend on its own value"
tutti ablate small.ini --swap "selector.size=1,2 where spce.max_depth=2" --out runs
expect_usage_error "spce.max_depth=2, holds in no cell, since no cell has a key spce.max_depth; did you mean 'space.max_depth'?"
# A key or value that is not there is answered with the one that is meant, and with those that there are.
tutti ablate small.ini --swap "selector.size=1,2 where selector.Plugn=forward" --out runs
expect_usage_error "no cell has a key selector.Plugn; did you mean 'plugin'? ([selector] has: plugin, size, "
tutti ablate small.ini --swap "selector.size=1,2 where selector.zzzzzz=forward" --out runs
expect_usage_error "no cell has a key selector.zzzzzz ([selector] has: plugin, size, "
tutti ablate small.ini --swap builder.plugin=nes-re,nes-rs --swap "builder.population=4,6 where builder.plugin=nes_re" --out runs
expect_usage_error "there builder.plugin is nes-re or nes-rs; did you mean 'nes-re'?" "conditions see the recipe"
tutti ablate small.ini --swap "selector.size=1,2 where run.budget=1000" --out runs
expect_usage_error "there run.budget is 6; conditions see"
tutti ablate small.ini --swap selector.plugin=top-m,tom-p --swap "selector.size=1,2 where selector.plugin=top-m" --out runs
expect_usage_error "--swap selector.size where selector.plugin=top-m: " "did you mean 'top-m'"
tutti ablate small.ini --swap builder.plugin=nes-re,nes-rs --swap "builder.population=10,12 where builder.plugin=nes-re,agebo" \
  --swap "builder.parents=5,10 where builder.population=12" --seeds 2 --set run.budget=5 --out parts --quiet
expect_code 0
ls parts/runs >cells
printf '%s\n' nes-re_population=10_seed-{3,4} nes-re_population=12_parents={5,10}_seed-{3,4} nes-rs_seed-{3,4} | sort >wanted
checks=$((checks + 1))
sort cells | cmp -s - wanted || complain "expected eight cells, found $(tr '\n' ' ' <cells)"
cp parts/ablation.json out
expect_json 10 cells 0 settings builder.population
checks=$((checks + 1))
! grep -q '"builder.population"' <(sed -n '/"name": "nes-rs_seed-3"/,/}/p' parts/ablation.json) || complain "a cell has a key that it lacks"

# A hyperparameter that has one value is the backend's, or a learner's; conditions call it as the recipe does.
tutti ablate small.ini --swap hyperparameters.optimiser=sgd,adam \
  --swap "hyperparameters.momentum=0.5,0.9 where hyperparameters.optimiser=sgd" --out runs --dry-run
expect_code 0
expect_out "All 3 cells are valid" "optimiser=sgd_momentum=0.9_seed-3" "optimiser=adam_seed-3"
tutti ablate small.ini --set backend.plugin=mixed --set hyperparameters.learner=trees --swap hyperparameters.trees.min_leaf=1,3 \
  --swap "hyperparameters.trees.trees=5,9 where hyperparameters.trees.min_leaf=3" --out runs --dry-run
expect_code 0
expect_out "All 3 cells are valid" "min_leaf=1_seed-3" "min_leaf=3_trees=9_seed-3"
tutti ablate small.ini --swap "selector.size=1,2 where hyperparameters.epoch=3" --out runs
expect_usage_error "since no cell has a key hyperparameters.epoch; did you mean 'epochs'?"

# Where it stands: at its end, while it is at work, and stopped.
tutti status parts
expect_code 0
expect_out "cells       8: 8 finished, 0 running, 0 failed, 0 waiting" "state       not running"
expect_not_in out "resume"
tutti status parts --json
expect_json 8 counts finished
expect_json finished cells 7 state
"$TUTTI_PROGRAM" ablate small.ini --swap run.budget=2000,3000 --seeds 2 --out slow --quiet --workers 1 >/dev/null 2>&1 &
slow=$!
await() { # PATTERN: in the status, within a minute
  for _ in $(seq 300); do
    tutti status slow
    grep -q "$1" out && return
    sleep 0.2
  done
  complain "expected '$1'"
}
await "  running   budget=2000_seed-3: [1-9][0-9]* of 2000 trials"
expect_out "cells       4: 0 finished, 1 running, 0 failed, 3 waiting" "state       running"
# What the workers of the cell are at, and its best, as the status of its run has it.
await "workers     . of 1 at work"
expect_out "best        trial" "trials/s"
tutti status slow --json
expect_json 2000 cells 0 status trials budget
expect_json 1 cells 0 status live workers
expect_not_in out '"all_trials"'
kill -INT $slow
wait $slow
tutti status slow --watch
expect_code 0
expect_out "cells       4: 0 finished, 0 running, 0 failed, 4 waiting" "the same tutti ablate with --resume goes on" \
  "  stopped   budget=2000_seed-3: "
# A trial that was begun when its run was killed is not done.
"$TUTTI_PROGRAM" ablate small.ini --swap selector.size=1,2 --set hyperparameters.epochs=1000000 --out endless --quiet --workers 1 >/dev/null 2>&1 &
endless=$!
for ((i = 0; i < 3000; i++)); do
  "$TUTTI_PROGRAM" status endless 2>/dev/null | grep -q "workers     1 of 1 at work" && break
  sleep 0.02
done
kill -STOP $endless # so that it does not see how its child ends
pkill -KILL -P $endless
kill -KILL $endless
wait $endless 2>/dev/null
tutti status endless --json
expect_code 0
expect_json 0 cells 0 trials
tutti compare endless
expect_code 2
expect_err "size=1_seed-3: not finished: its search has not ended; tutti ablate --resume ends it"
tutti report endless --to endless.html
expect_code 0
expect_out "endless.html: 1 run"
expect_in endless.html "1 more run has not begun." "0 of "
sed 's/"name": "budget=2000_seed-3"/"name": "..\/x"/' slow/ablation.json >torn && mv torn slow/ablation.json
tutti status slow
expect_code 1
expect_err "slow: ablation.json: expected a cell's name"
echo '{}' >slow/ablation.json
tutti status slow
expect_code 1
expect_err "slow/ablation.json: expected the cells of an ablation"
tutti compare slow
expect_code 1
expect_err "slow/ablation.json: expected the cells of an ablation"

# The plan: every combination, which share a search, nothing written.
tutti ablate small.ini other.ini --swap selector.size=1,2 --swap space.max_depth=1,2 --seeds 2 --out runs --dry-run
expect_code 0
expect_absent runs
expect_out "All 16 cells are valid" "small_size=1_max_depth=1_seed-3" "other_size=2_max_depth=2_seed-9" \
  "small_size=2_max_depth=1_seed-4  (selects from the pool of small_size=1_max_depth=1_seed-4)"
tutti ablate small.ini --swap space.widths="16 32,8" --swap selector.epistemic=unbiased --dry-run --json
expect_code 0
expect_json "widths=16-32_epistemic=unbiased_seed-3" cells 0 name
expect_json "16 32" cells 0 settings space.widths
expect_json waiting cells 1 state
# What a selector or a calibrator names belongs to it.
limit="selector.max_cost=1e6 where selector.plugin=within-cost"
tutti ablate small.ini --swap selector.plugin=forward,within-cost --swap "$limit" --swap calibrator.plugin=none,by-task --dry-run
expect_code 0
for cell in forward_by-task within-cost_max_cost=1e6_none within-cost_max_cost=1e6_by-task; do
  expect_out "${cell}_seed-3  (selects from the pool of forward_none_seed-3)"
done

# The matrix: selectors and sizes cost one search a seed.
tutti ablate small.ini --swap selector.plugin=forward,top-m --swap selector.size=1,3 --seeds 2 --workers 2 --out first
expect_code 0
expect_out "8 runs: 4 variants, 1 data set, 2 blocks" "selector.plugin" "selector.size" "nll (lower is better)" "top-m"
expect_err "8 of 8 done"
checks=$((checks + 1))
[ "$(find first/runs -name catalogue.sqlite -type f | wc -l)" -eq 2 ] || complain "expected two searches"
expect_there first/ablation.json first/recipes/top-m_size=3_seed-4.ini first/logs/forward_size=1_seed-3.log
for seed in 3 4; do
  # What was selected from the shared pool is what a run of its own selects.
  tutti run first/recipes/top-m_size=3_seed-$seed.ini --out alone-$seed --quiet
  expect_code 0
  for file in ensemble.json summary.json; do
    checks=$((checks + 1))
    cmp -s "alone-$seed/$file" "first/runs/top-m_size=3_seed-$seed/$file" || complain "$file of seed $seed differs"
  done
done

# Cells are ordinary runs.
cell=first/runs/top-m_size=3_seed-4
for command in status evaluate select; do
  tutti $command $cell
  expect_code 0
done
tutti predict $cell table.csv --out predictions.csv
expect_code 0
tutti run first/recipes/top-m_size=3_seed-4.ini --out $cell --resume --quiet
expect_code 0

# Cells of one search become one pool, in which each of their models counts once, and a directory that needs no other.
for size in 3 4; do
  tutti select first/runs/forward_size=3_seed-4 $cell --set selector.plugin=top-m --set selector.size=$size --out pool-$size
  expect_code 0
  expect_out "$cell: 6 models are left out, since runs before it have the same"
done
mv first elsewhere
for command in status evaluate report; do
  tutti $command pool-4
  expect_code 0
done
tutti predict pool-3 table.csv --out pool.csv
expect_code 0
checks=$((checks + 1))
cmp -s pool.csv predictions.csv || complain "expected the predictions of the cell that chooses so"
sed -i 's/^budget = .*/budget = 99/' pool-4/runs/2/recipe.ini
tutti evaluate pool-4
expect_code 1
expect_err "pool-4/runs/2/recipe.ini: size or checksum"
mv elsewhere first

# A directory that has an ablation is not begun again; with --resume nothing is left to do, or cells are added.
cp first/ablation.json before.json
tutti ablate small.ini --swap selector.plugin=forward,top-m --swap selector.size=1,3 --seeds 2 --out first
expect_code 2
expect_err "already holds an ablation" "--resume"
tutti ablate small.ini --swap selector.plugin=forward,top-m --swap selector.size=1,3 --seeds 2 --out first --resume --json
expect_code 0
expect_err "was finished before"
expect_not_in err " begins"
checks=$((checks + 1))
{ cmp -s out before.json && cmp -s first/ablation.json before.json; } || complain "expected the same ablation.json"
tutti ablate small.ini --swap selector.plugin=all --seeds 3 --out first --resume
expect_code 0
expect_err "all_seed-5 begins"
tutti compare first/runs
expect_code 0
expect_out "11 runs: 5 variants, 1 data set, 3 blocks"
tutti ablate small.ini --swap selector.plugin=forward,top-m --swap selector.size=1,3 --set run.window=5 --out first --resume
expect_code 2
expect_err "holds another run" "window"

# With a larger budget, finished searches go on, and what was selected from them is selected again; a smaller one changes
# nothing.
for budget in 4 6 5; do
  tutti ablate small.ini --swap selector.size=1,3 --set run.budget=$budget --out grown --resume --json
  expect_code 0
  expect_err "2 of 2 done"
  cp err grown-$budget.err
done
checks=$((checks + 2))
grep -q "size=3_seed-3 begins" grown-6.err || complain "expected the cells to go on"
! grep -q "begins" grown-5.err || complain "expected that nothing is left to do"
for size in 1 3; do
  tutti run grown/recipes/size=${size}_seed-3.ini --out alone-grown-$size --quiet --set run.budget=6
  expect_code 0
  checks=$((checks + 1))
  grep -q '"done": 6' grown/runs/size=${size}_seed-3/summary.json || complain "expected six trials"
  same_file alone-grown-$size/ensemble.json grown/runs/size=${size}_seed-3/ensemble.json
done

# A cell that is killed while it goes on is not at its end, whatever its summary says; whoever goes on then chooses from
# all trials that there are, and so does a cell that joins in.
tutti ablate small.ini --swap selector.size=1,3 --set run.budget=4 --out killed --quiet
expect_code 0
tutti select killed/runs/size=3_seed-3 --keep --set selector.size=2
expect_code 0
# grow EXTRA...: begin to go on, until the search has more trials than before.
grow() {
  "$TUTTI_PROGRAM" ablate small.ini --swap selector.size=1,3 --set run.budget=5000 --out killed --resume --quiet --workers 1 \
    >/dev/null 2>grow.err &
  grower=$!
  checks=$((checks + 1))
  for _ in $(seq 300); do
    tutti status killed
    ! grep -q "  running   size=1_seed-3: \([89]\|[1-9][0-9]\+\) of 5000 trials" out || return 0
    sleep 0.2
  done
  complain "expected the search to go on"
}
grow
tutti status killed
expect_out "cells       2: 0 finished, 1 running, 0 failed, 1 waiting"
kill -KILL $grower
wait $grower 2>/dev/null
expect_in grow.err "size=3_seed-3: its ensemble was kept by tutti select, and is chosen by the recipe again"
for _ in $(seq 100); do
  tutti status killed
  ! grep -q "1 running" out || sleep 0.1
done
expect_out "cells       2: 0 finished, 0 running, 0 failed, 2 waiting"
tutti ablate small.ini --swap selector.size=1,2,3 --set run.budget=4 --out killed --resume
expect_code 1
expect_err "trials already, and 4 are asked for; ask for as many at least"
trials=$(sed -n 's/.* has \([0-9]*\) trials already.*/\1/p' err | head -n 1)
tutti ablate small.ini --swap selector.size=1,2,3 --set run.budget="$trials" --out killed --resume
expect_code 0
expect_err "size=1_seed-3 begins" "size=2_seed-3 begins" "size=3_seed-3 begins"
checks=$((checks + 1))
[ "$(cat killed/runs/*/summary.json | grep -c "\"done\": $trials")" -eq 3 ] || complain "expected ensembles from the same trials"
tutti status killed
expect_out "cells       3: 3 finished, 0 running, 0 failed, 0 waiting"
# A search that was made longer by hand: what is selected from it has all its trials, and with its budget says so.
tutti ablate small.ini --swap selector.size=1,3 --set run.budget=4 --out byhand --quiet
expect_code 0
tutti run byhand/runs/size=1_seed-3/recipe.ini --out byhand/runs/size=1_seed-3 --resume --set run.budget=6 --quiet
expect_code 0
tutti compare byhand
expect_out "size=3_seed-3: not finished: the search that it shares goes on, or has since its ensemble was chosen; tutti ablate --resume ends it"
tutti report byhand --to byhand.html
expect_code 0
expect_in byhand.html "The ensemble of size=3_seed-3 was chosen when 4 of its trials were done." "size=3_seed-3 is left out: not finished"
expect_not_in byhand.html "The ensemble of size=1_seed-3"
tutti report byhand/runs/size=3_seed-3 --to one.html
expect_in one.html "The ensemble was chosen when 4 trials were done; more are by now."
for budget in 4 6; do
  tutti ablate small.ini --swap selector.size=1,3 --set run.budget=$budget --out byhand --resume
  expect_code 0
  expect_err "size=3_seed-3 begins"
  larger="size=1_seed-3 has 6 trials, and run.budget is 4: it stays as it is"
  if [ $budget = 4 ]; then expect_err "$larger"; else expect_not_in err "$larger"; fi
  tutti compare byhand # all have the same trials, whatever their recipes ask for
  expect_code 0
  expect_out "2 runs: 2 variants, 1 data set, 1 block" "selector.size"
  expect_not_in out "run.budget"
  tutti report byhand/runs/size=3_seed-3 --to one.html # "of 4" would be less than what is done
  if [ $budget = 4 ]; then expect_in one.html "counts. 6 trials are done"; else expect_in one.html "6 of 6 trials are done"; fi
done
# One whose process dies has failed, and what there was before is not its end.
grow
pkill -KILL -P $grower
wait $grower
tutti status killed
expect_out "0 finished, 0 running, 2 failed" "size=1_seed-3: the process was killed by signal 9" "size=3_seed-3: size=1_seed-3, whose search it shares, failed"

# Nor is one begun again that has more trials than are asked for now, whatever its time.
for extent in "1h 6" "2h 5"; do
  tutti ablate small.ini --swap selector.size=1 --set "run.time=${extent% *}" --set "run.budget=${extent#* }" --out timed --resume
  expect_code 0
done
expect_err "was finished before"

# A search that was begun by a cell further behind goes on there.
tutti ablate small.ini --swap selector.plugin=top-m --out later --quiet
expect_code 0
tutti ablate small.ini --swap selector.plugin=forward,top-m --out later --resume --json
expect_code 0
expect_json "top-m_seed-3" cells 0 search
checks=$((checks + 1))
[ -L later/runs/forward_seed-3/catalogue.sqlite ] || complain "expected the search of top-m to be used"

# Where a cell chooses by times, the search that it shares measures them, whichever cell has it; and only there. A search that
# was finished without them is resumed once, and trains nothing.
sed 's/^plugin = forward/plugin = within-cost\nmax_cost = 1e6/; /^size = /d' small.ini >within.ini
catalogue() { "$TUTTI_TEST_BUILDDIR/tests/cli/sql" "$1/runs/cost=flops_seed-3/catalogue.sqlite" "$2"; }
timed() { catalogue "$1" "SELECT count(json_extract(report, '\$.microseconds')) FROM trials"; }
ended() { catalogue "$1" "SELECT number, at FROM times"; }
for costs in flops,bytes flops,microseconds microseconds,flops; do
  tutti ablate within.ini --swap selector.cost=$costs --out $costs --quiet
  expect_code 0
  checks=$((checks + 2))
  [ "$(find $costs/runs -name catalogue.sqlite -type f | wc -l)" -eq 1 ] || complain "expected one search"
  [ "$(timed $costs)" -eq "$([ $costs = flops,bytes ] && echo 0 || echo 6)" ] || complain "expected times where they are needed"
done
ended flops,bytes >trained
tutti ablate within.ini --swap selector.cost=flops,bytes,microseconds --out flops,bytes --resume
expect_code 0
expect_err "3 of 3 done" "cost=bytes_seed-3 was finished before" "cost=microseconds_seed-3 begins"
checks=$((checks + 2))
[ "$(timed flops,bytes)" -eq 6 ] || complain "expected times"
ended flops,bytes | cmp -s - trained || complain "expected that nothing is trained again"
tutti ablate within.ini --swap selector.cost=flops,bytes,microseconds --out flops,bytes --resume
expect_code 0
expect_not_in err " begins"

# Several data sets: blocks are data sets and seeds; a setting that goes with a data set makes no variant.
sed '1!s/0\.1/0.7/' table.csv >table2.csv
sed 's/^path = .*/path = table2.csv/; s/^epochs = .*/epochs = 4/' small.ini >second.ini
tutti ablate small.ini second.ini --swap selector.size=1,2 --out sets --quiet
expect_code 0
expect_out "4 runs: 2 variants, 2 data sets, 2 blocks" "  table" "  table2"
expect_not_in out "epochs"
expect_not_in out "second"
expect_empty err

# Files of one name are told apart by their folders.
mkdir one two
cp table.csv one/data.csv
cp table2.csv two/data.csv
tutti ablate small.ini --swap data.path=one/data.csv,two/data.csv --out folders --quiet
expect_code 0
expect_there folders/runs/one_seed-3 folders/runs/two_seed-3
expect_out "2 runs: 1 variant, 2 data sets" "  one" "  two"
# With recipes that are called differently but say the same, their names tell variants apart; but not from other runs.
cp small.ini again.ini
tutti ablate small.ini again.ini --out names --quiet
expect_code 0
expect_out "2 variants" "recipe" "again"
tutti compare names alone-3
expect_code 0
expect_not_in out "again"
mkdir sub
cp small.ini sub/small.ini
cp table.csv sub
tutti ablate ./small.ini sub/small.ini --dry-run
expect_code 0
expect_out "  small_seed-3" "  sub-small_seed-3"

# A cell that fails does not stop the others.
function_recipe tests 0 4 >function.ini
sed 's/^seconds = .*/fault = error/' function.ini >broken.ini
tutti ablate function.ini broken.ini --out some --workers 1
expect_code 1
expect_out "Failed" "broken_seed-5: none of 4 trials finished" "1 run: 1 variant"
expect_err "2 of 2 done (1 failed)"
expect_there some/ablation.json
tutti status some
expect_out "cells       2: 1 finished, 0 running, 1 failed, 0 waiting" "  failed    broken_seed-5: none of 4 trials finished"
tutti ablate broken.ini --out none --json
expect_code 1
expect_json failed cells 0 state
expect_json null comparison
finish
