#!/bin/bash
# A third party's op, brought by a space and a backend of one package: manager, workers and readers of the run know it from
# the plugins that the recipe names; a backend that does not know it refuses before anything is trained.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"
read -ra cc <<< "$CC"
read -ra flags <<< "${TUTTI_TEST_CFLAGS:-}"
mkdir package
# build OUTPUT FLAGS...: a module of the package
build() {
  local output=$1
  shift
  "${cc[@]}" "${flags[@]}" -std=c11 -shared -fPIC "$@" -I"$TUTTI_TEST_SRCDIR/include" "$TUTTI_TEST_SRCDIR/tests/cli/gate.c" \
    -o "package/$output" || { echo "cannot build $output"; exit 1; }
}
build space-gate.so
build backend-gate.so -DBACKEND
build space-headed.so '-DHEAD="headed"'
export TUTTI_PLUGIN_PATH=$PWD/package:$TUTTI_PLUGIN_PATH

cat >gate.ini <<'END'
[run]
seed = 1
budget = 6
workers = 2
[data]
plugin = toy-sine
split = 2 1 0
[space]
plugin = gate
[backend]
plugin = gate
[builder]
plugin = nes-rs
[selector]
plugin = forward
size = 2
END

tutti list backend
expect_code 0
expect_out gate
tutti validate gate.ini --set backend.plugin=cpu
expect_usage_error "backend cpu does not have: layer 1 'gate', op acme-gate; choose another [backend] or [space]"
tutti run gate.ini --out gated
expect_code 0
for network in gated/trials/*/network.json; do
  expect_in "$network" '{"op": "acme-gate", "label": "gate", "inputs": ["input"], "width": '
done
tutti status gated --json
expect_code 0
expect_json finished all_trials 5 state

# ONNX has no such op: the export names it, and writes nothing.
tutti export gated --to gated.onnx
expect_code 2
expect_err "trial " ": layer \"gate\", op acme-gate" "ONNX has no counterpart" "leave its trials out of the ensemble"
expect_absent gated.onnx
tutti export gated --to gated.folder/
expect_code 2
expect_err "op acme-gate"
expect_absent gated.folder

# A network of a file that has the op: space fixed reads it, since the backend brings the op.
network=$(find gated/trials -name network.json | sort | head -n 1)
tutti run gate.ini --out fixed --set space.plugin=fixed --set "space.network=$network"
expect_code 0
checks=$((checks + 1))
cmp -s "$network" fixed/trials/000000/network.json || complain "expected the same network in fixed"

# A head of a plugin: metrics and predictions know those of [head] alone, so it is refused before anything is trained,
# whoever brings the network.
tutti run gate.ini --out headed --set space.plugin=headed
expect_usage_error "ended the network in acme-head, and the run's head is head-gaussian"
expect_absent headed/trials/000000
sed 's/{"op": "head-gaussian".*/{"op": "acme-head", "label": "head", "inputs": ["gate"]}/' "$network" >headed.json
tutti validate gate.ini --set space.plugin=fixed --set space.network=headed.json
expect_usage_error "acme-head"
tutti validate gate.ini --set head.kind=acme-head
expect_usage_error "acme-head"

finish
