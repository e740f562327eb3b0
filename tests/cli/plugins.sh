#!/bin/bash
# tutti list, inspect, doctor: what is there, what does not load and why.
. "$TUTTI_TEST_SRCDIR/tests/cli/harness.sh"

tutti list
expect_code 0
expect_out space backend builder surrogate acquisition maximiser selector executor pruner calibrator cpu nes-rs local
# Backend cuda wants a device, and says what it lacks.
grep -v '^  cuda ' out >others
expect_not_in others unavailable
tutti list backend
expect_code 0
expect_out cpu function
expect_not_in out nes-rs
tutti list --json
expect_code 0
expect_json space 0 kind
expect_json true 0 works
tutti list backend --json
expect_json backend 0 kind
expect_json cpu 0 name
tutti list bakend
expect_usage_error bakend backend
tutti list one two
expect_usage_error "found 'one' and 'two'"

tutti inspect backend/cpu
expect_code 0
expect_out "backend/cpu" licence file learning_rate "(searchable)"
tutti inspect backend/cpu --json
expect_json cpu name
expect_json backend kind
tutti inspect backend/cpu --markdown
expect_out '### cpu' '| `learning_rate` |'
tutti inspect --json
expect_code 0
expect_json space 0 kind
tutti inspect backend/cpuu
expect_usage_error cpuu "did you mean 'cpu'"
tutti inspect bakend/cpu
expect_usage_error bakend
tutti inspect cpu
expect_usage_error "expected KIND/NAME"

tutti doctor
expect_code 0
expect_out processor memory BLAS "journal mode" "0 of them broken"
# What the backend says of its products is what the processor has.
vectors=$(sed -n 's/^processor.*vectors: //p' out)
units="the same, which is slower than float32"
if [ "$vectors" = avx512 ]; then
  ! grep -qw avx512_bf16 /proc/cpuinfo || units=AVX512-BF16
  ! grep -qw amx_bf16 /proc/cpuinfo || units=AMX-BF16
fi
expect_out "backend cpu: products in float32 by $vectors; with precision = bfloat16 by $units"
tutti doctor --json
expect_code 0
expect_json 0 plugins broken
expect_json cpu plugins uses 0 name
"$json_value" out processor cores >cores
checks=$((checks + 1))
[ "$(cat cores)" -ge 1 ] || complain "expected at least one core"
tutti doctor /nowhere/at/all
expect_out "/nowhere/at/all: there is no such folder"

# Broken plugins are listed with the reason, and harm nothing.
mkdir broken empty
echo "this is no shared object" >broken/backend-broken.so
cp /dev/null broken/space-empty.so
echo "no plugin's name" >broken/README
good=$TUTTI_PLUGIN_PATH

# Where not one plugin of a kind is found, the folder is probably another; so it is for a library without its plugins.
printf '[space]\nplugin = mlp\n[data]\nplugin = toy-sine\n' >kinds.ini
TUTTI_PLUGIN_PATH='' TUTTI_PLUGIN_FOLDER=$folder/empty tutti validate kinds.ini
expect_usage_error "there is no " ", nor any other " ": looked in $folder/empty; set the environment variable TUTTI_PLUGIN_PATH"
TUTTI_PLUGIN_PATH='' TUTTI_PLUGIN_FOLDER=$folder/none tutti validate kinds.ini
expect_usage_error "no folder of plugins was found; set the environment variable TUTTI_PLUGIN_PATH"
export TUTTI_PLUGIN_PATH=$good:$folder/broken:$folder/empty:$folder/absent
tutti list
expect_code 0
expect_out "cpu" "broken" "unavailable" "backend-broken.so" "space-empty.so"
expect_not_in out README
tutti list --json
expect_code 0
tutti doctor
expect_code 1
expect_out "2 of them broken" "backend-broken.so: "
tutti doctor --json
expect_code 1
expect_json 2 plugins broken
tutti inspect backend/broken
expect_usage_error backend-broken.so
tutti inspect --markdown
expect_code 0
expect_not_in out "### broken"

# An earlier folder shadows a later one, and doctor says so; the same file by two ways is one plugin.
cp "$(readlink -f "$good/backend-cpu.so")" broken/backend-cpu.so
mkdir links
ln -s "$folder/broken/backend-cpu.so" links/backend-cpu.so
for path in "$good:$folder/broken" "$folder/broken:$folder/links"; do
  export TUTTI_PLUGIN_PATH=$path
  tutti inspect backend/cpu
  expect_code 0
  expect_out "${path%%:*}/backend-cpu.so"
  tutti inspect backend/cpu --verbose
  expect_code 0
  tutti list backend
  expect_code 0
  checks=$((checks + 1))
  [ "$(grep -c '^  cpu ' out)" = 1 ] || complain "expected backend cpu once"
done
expect_not_in out "links"
export TUTTI_PLUGIN_PATH=$good:$folder/broken
tutti inspect backend/cpu --verbose
expect_err "$good/backend-cpu.so shadows $folder/broken/backend-cpu.so"
tutti doctor
expect_out "$folder/broken/backend-cpu.so is not used: $good/backend-cpu.so shadows it" "2 of them broken"
tutti doctor --json
expect_json 1 plugins shadowed
expect_json "$good/backend-cpu.so" plugins shadowed 0 by
export TUTTI_PLUGIN_PATH=$folder/broken:$folder/links:$folder/broken
tutti doctor --json
expect_json 1 plugins shadowed
expect_json "$folder/broken/backend-cpu.so" plugins shadowed 0 by

# Two files of one folder that say the same: the error names both.
cp broken/backend-cpu.so broken/backend-quick.so
tutti inspect backend/quick
expect_usage_error "$folder/broken/backend-quick.so: it says that it is backend cpu, as $folder/broken/backend-cpu.so is"
rm broken/backend-cpu.so
tutti inspect backend/quick
expect_usage_error "its file has to be named backend-cpu.so"

export TUTTI_PLUGIN_PATH=$folder/empty
tutti doctor
expect_out "found"
# A folder that is not there does no harm, and is said.
touch file
export TUTTI_PLUGIN_PATH=$folder/absent:$folder/file
tutti list
expect_code 0
expect_err "$folder/absent, where plugins are to be looked for, does not exist" "$folder/file, where plugins are to be looked for, is not a folder"
finish
