#!/bin/bash
# A plugin that ends or stops the manager is named, the run ends with exit code 1, and it is resumed when the plugin is
# mended. What a plugin prints is not among the results. A worker that does not get ready is replaced.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
. "$TUTTI_TEST_SRCDIR/tests/cli/recipes.sh"
make_table
mkdir plugins
export TUTTI_PLUGIN_PATH=$PWD/plugins:${TUTTI_PLUGIN_PATH:-}
put() { cp "$TUTTI_TEST_BUILDDIR/tests/faults/.libs/broken.so" "plugins/selector-$1.so"; }
recipe() { regression_recipe | awk -v name="$1" '/^\[selector\]/ { print; print "plugin = " name; on = 1; next } /^\[/ { on = 0 } !on'; }

# fails FAULT TEXT...: the run ends with 1 and these texts, and is resumed to the result of a sound plugin.
put sound
recipe sound | sed "s/^name = .*/name = sound/" >sound.ini
# members RUN: keep its members and weights in a file of the run.
members() { grep -E '"(trial|weight)"' "runs/$1/ensemble.json" >"runs/$1/members"; }
tutti run sound.ini --quiet
expect_code 0
members sound
fails() {
  local fault=$1
  shift
  put "$fault"
  recipe "$fault" | sed "s/^name = .*/name = $fault\nplugin_timeout = 2/" >"$fault.ini"
  tutti run "$fault.ini" --quiet
  expect_code 1
  expect_empty out
  expect_err "selector $fault $1" "${@:2}" "an error of the plugin" "resume with: tutti run runs/$fault/recipe.ini"
  TUTTI_TEST_MENDED=1 tutti run "runs/$fault/recipe.ini" --out "runs/$fault" --resume --quiet
  expect_code 0
  members "$fault"
  checks=$((checks + 1))
  cmp -s runs/sound/members "runs/$fault/members" || complain "expected the ensemble of the sound plugin"
}
fails leaves-at-work "called exit()"
fails leaves-quickly-at-work "called quick_exit()"
fails leaves-at-once-at-work "called _exit()"
fails leaves-as-c-says-at-work "called _Exit()"
fails hangs-at-work "did not return within run.plugin_timeout"
if [ "${TUTTI_TEST_WATCHED:-}" != sanitizers ]; then # they catch these signals themselves
  fails aborts-at-work "aborted"
  fails recurses-at-work "crashed (segmentation fault)"
fi

# Whoever looks at a run has no limit, but an interrupt ends a plugin that does not return.
put hangs-later
recipe hangs-later | sed 's/^name = .*/name = later/' >later.ini
tutti run later.ini --quiet
expect_code 0
TUTTI_TEST_LATER=$PWD/hanging "$TUTTI_PROGRAM" select runs/later >out 2>err </dev/null &
child=$!
what="tutti select, interrupted while its selector hangs"
for ((i = 0; i < 600; i++)); do
  [ ! -e hanging ] || break
  sleep 0.1
done
kill -TERM "$child"
wait "$child"
code=$?
expect_code 130
expect_empty out
expect_err "selector hangs-later did not return within five seconds of the interrupt"

# A process of its own may end as it likes.
put forks-at-work
recipe forks-at-work >forks.ini
tutti run forks.ini --out forks --quiet
expect_code 0
expect_empty err

put prints-at-work
recipe prints-at-work >prints.ini
tutti run prints.ini --out prints --quiet --json
expect_code 0
expect_err '{"printed": true}'
expect_not_in out printed
expect_json 6 trials 'done'
tutti select prints --json
expect_code 0
expect_not_in out printed

# A worker that dies before it is ready is replaced, but not for ever.
put dies-in-workers
recipe dies-in-workers >dies.ini
TUTTI_TEST_DEATHS=2 tutti run dies.ini --out twice --quiet --workers 1
expect_code 0
expect_err "a worker did not get ready: the worker ended with exit code 7; starting another"
rm death.*
TUTTI_TEST_DEATHS=3 tutti run dies.ini --out often --quiet --workers 1
expect_code 1
expect_err "3 workers in a row did not get ready" "exit code 7" "worker.log"
tutti run dies.ini --out often --quiet --resume
expect_code 0
checks=$((checks + 1))
cmp -s twice/ensemble.json often/ensemble.json || complain "expected the same ensemble"

# BLAS, which surrogates use in the manager, has one thread there, unless the user says otherwise.
put tells-its-threads
recipe tells-its-threads >threads.ini
OPENBLAS_NUM_THREADS=3 tutti run threads.ini --out three --quiet
expect_code 1
expect_err "selector tells-its-threads: BLAS has 3 threads"
unset OPENBLAS_NUM_THREADS
tutti run threads.ini --out one --quiet
expect_code 1
expect_err "selector tells-its-threads: BLAS has 1 threads"
# So it is with whatever looks at a run: where memory is limited, threads of OpenBLAS wait for theirs for ever.
tutti select runs/sound --set selector.plugin=tells-its-threads
expect_code 1
expect_err "selector tells-its-threads: BLAS has 1 threads"

# A write beyond the limit on file sizes is a full disk.
(ulimit -f 26 && exec "$TUTTI_PROGRAM" run sound.ini --out limited --quiet) >out 2>err
code=$?
what="tutti run, with a limit on file sizes"
expect_code 1
expect_err "make room" "--resume"
tutti run sound.ini --out limited --quiet --resume
expect_code 0
checks=$((checks + 1))
cmp -s runs/sound/ensemble.json limited/ensemble.json || complain "expected the ensemble of an undisturbed run"
finish
