#!/bin/bash
# executor.bind: each worker has cores of its own, of those that the manager may use; more workers than cores are refused.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
function_recipe cores 30 4 >sleep.ini
list_cores() { taskset -pc "$1" | sed 's/.*: //'; }
# expand LIST: 0-1,3 as a line of each.
expand() { tr , '\n' <<<"$1" | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done; }
mapfile -t cores < <(expand "$(list_cores $$)")
if [ ${#cores[@]} -lt 2 ]; then
  echo "one core here: which worker has it is not tried"
  exit 77
fi
two="${cores[0]},${cores[1]}"
# workers_of BIND: the cores of each worker of a run with two, as a sorted list.
workers_of() {
  local directory=bound-$1 job pid tries
  what="executor.bind=$1"
  taskset -c "$two" "$TUTTI_PROGRAM" run sleep.ini --out "$directory" --workers 2 --quiet --set "executor.bind=$1" >out 2>err </dev/null &
  job=$!
  for ((tries = 0; tries < 300; tries++)); do
    [ "$(grep -o '"trial":' "$directory/live.json" 2>/dev/null | wc -l)" -eq 2 ] && break
    sleep 0.1
  done
  for pid in $(pgrep -f " worker $directory\$"); do list_cores "$pid"; done | sort -n | xargs >cores.txt
  list_cores $job >manager.txt
  kill -INT $job
  wait $job
}
workers_of cores
checks=$((checks + 2))
[ "$(cat cores.txt)" = "$(printf '%s\n' "${cores[0]}" "${cores[1]}" | sort -n | xargs)" ] ||
  complain "expected a core for each worker, found $(cat cores.txt)"
[ "$(expand "$(cat manager.txt)" | xargs)" = "${cores[0]} ${cores[1]}" ] || complain "expected that the manager keeps its cores, found $(cat manager.txt)"
workers_of no
checks=$((checks + 1))
read -ra lists <cores.txt
for list in "${lists[@]}"; do
  [ "$(expand "$list" | wc -l)" -eq 2 ] || complain "expected that each worker may use both, found $(cat cores.txt)"
done

function_recipe quick 0 4 >quick.ini
what='more workers than cores'
taskset -c "$two" "$TUTTI_PROGRAM" run quick.ini --out none --workers 3 --set executor.bind=cores >out 2>err </dev/null
code=$?
expect_code 2
expect_err 'executor.bind = cores: 3 workers with 1 cores each' 'may use 2 cores' 'bind = no'
expect_absent none
taskset -c "$two" "$TUTTI_PROGRAM" run quick.ini --out none --workers 2 --set executor.bind=cores --set executor.blas_threads=2 >out 2>err </dev/null
code=$?
expect_code 2
expect_err '2 workers with 2 cores each'
expect_absent none
# The same bits.
tutti run quick.ini --out free --workers 2 --quiet
expect_code 0
tutti run quick.ini --out kept --workers 2 --quiet --set executor.bind=cores
expect_code 0
checks=$((checks + 1))
cmp -s free/summary.json kept/summary.json || complain 'expected the same result'
finish
