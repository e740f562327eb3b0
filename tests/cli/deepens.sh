#!/bin/bash
# Builder deepens: one configuration, of the recipe, of a file or of another run, and many initialisations.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
cat >base.ini <<'INI'
[run]
budget = 4
[data]
plugin = toy-sine
[space]
plugin = dense-skip
nodes = 2
[hyperparameters]
epochs = 5
learning_rate = log-uniform 1e-3 1e-1
INI
cat >deepens.ini <<'INI'
extends = base.ini
[builder]
plugin = deepens
from = pool
[selector]
plugin = all
INI

# configuration DIRECTORY TRIAL: architecture and hyperparameters of a trial, without its seed.
configuration() {
  sed 's/"seed.*//' "$1/trials/$(printf %06d "$2")/network.json" 2>/dev/null
}

tutti run base.ini --out pool
expect_code 0
best=$("$json_value" pool/summary.json best trial)
tutti run deepens.ini --out deep
expect_code 0
expect_out "Ensemble of 4"
for trial in 0 1 2 3; do
  checks=$((checks + 2))
  [ "$(configuration deep "$trial")" = "$(configuration pool "$best")" ] || complain "trial $trial is not the pool's best"
  ! cmp -s "deep/trials/00000$trial/validation.npy" "pool/trials/$(printf %06d "$best")/validation.npy" ||
    complain "trial $trial repeats the pool's initialisation"
done
checks=$((checks + 1))
! cmp -s deep/trials/000000/validation.npy deep/trials/000001/validation.npy || complain "two equal initialisations"

# A trial by its number, and a configuration by hand.
tutti run deepens.ini --out second --set builder.trial=$(((best + 1) % 4)) --set run.budget=2
expect_code 0
checks=$((checks + 1))
[ "$(configuration second 0)" = "$(configuration pool $(((best + 1) % 4)))" ] || complain "not the trial that was named"
cat >hand.json <<'JSON'
{"architecture": {"node1": "32-tanh", "skip1_0": "yes", "node2": "identity", "skip2_0": "no", "skip2_1": "no"},
 "hyperparameters": {"learning_rate": 0.01}}
JSON
tutti run deepens.ini --out hand --set builder.from=hand.json --set run.budget=2
expect_code 0
expect_out "32-tanh"


# Its rows must be those of the pool: other splits would test on what has chosen, or even trained, the configuration.
tutti run deepens.ini --out bad --set run.seed=2
expect_usage_error "[builder] from: " "pool has other data or splits" "their fingerprint is" "and this run's is" "data.split_seed"
checks=$((checks + 1))
[ "$(grep -oE '[0-9a-f]{16}' err | sort -u | wc -l)" -eq 2 ] || complain "expected both fingerprints"
tutti run deepens.ini --out bad --set data.split=0.5,0.3,0.2
expect_usage_error "pool has other data or splits"
tutti run deepens.ini --out same-rows --set run.seed=2 --set data.split_seed=1 --set run.budget=2
expect_code 0
checks=$((checks + 1))
[ "$(configuration same-rows 0)" = "$(configuration pool "$best")" ] || complain "not the pool's best"

# The severity says on which rows of a pool the best is looked for.
tutti run deepens.ini --out bad --set builder.severity=2
expect_usage_error "severity 2" "validation-2" "data.shift"
tutti run deepens.ini --out bad --set builder.severity=2 --set builder.trial=1
expect_usage_error "severity" "trial"
tutti run deepens.ini --out bad --set builder.severity=2 --set builder.from=hand.json
expect_usage_error "severity" "hand.json"

# What cannot be: another space, no such trial, an empty run, no JSON, nothing there.
tutti run deepens.ini --out bad --set space.nodes=3
expect_usage_error "from" "none of this recipe"
tutti run deepens.ini --out bad --set builder.trial=17
expect_usage_error "trial" "no trial 17"
echo '{"architecture"' >torn.json
tutti run deepens.ini --out bad --set builder.from=torn.json
expect_usage_error "torn.json, line 2: " "expected a run directory or a candidate"
echo '{"architecture": "x", "hyperparameters": {"learning_rate": 0.01}}' >unknown.json
tutti run deepens.ini --out bad --set builder.from=unknown.json
expect_usage_error "from" "none of this recipe"
tutti run deepens.ini --out bad --set builder.from=nowhere
expect_usage_error "expected a run directory or a candidate as JSON" "nowhere cannot be read: No such file or directory"
mkdir empty
tutti run deepens.ini --out bad --set builder.from=empty
expect_err "empty"
checks=$((checks + 1))
[ "$code" -ne 0 ] || complain "expected a failure"

# Nothing named, and more than one configuration: one is drawn, and said.
tutti run deepens.ini --out drawn --set builder.from= --set run.budget=2
expect_code 0
expect_err "drawn at random"
finish
