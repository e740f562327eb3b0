# exported.sh - sourced: compares an ONNX model with what tutti predict gives, in NumPy and, where there is one, in a runtime.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of harness.sh and recipes.sh
find_numpy
"$python" -c 'import onnx' 2>/dev/null || { echo "FAILED: this test needs ONNX for Python (Debian: python3-onnx)"; exit 1; }
# A Python that has onnxruntime, too, if there is one: TUTTI_ONNX_PYTHON, or one of those in PATH.
runtime=''
for candidate in ${TUTTI_ONNX_PYTHON:-} python3 "$python"; do
  [ -n "$runtime" ] || ! "$candidate" -c 'import onnxruntime, onnx, numpy' 2>/dev/null || runtime=$candidate
done

# compare_export RUN ROWS [OPTION...]: RUN.onnx gives what RUN.json says of these rows.
compare_export() {
  what="export.py $*"
  "$python" "$TUTTI_TEST_SRCDIR/tests/cli/export.py" "$@" >out 2>err
  code=$?
  expect_code 0
  expect_out "same:"
  [ -z "$runtime" ] || {
    what="export.py $* --runtime"
    "$runtime" "$TUTTI_TEST_SRCDIR/tests/cli/export.py" "$@" --runtime >out 2>err
    code=$?
    expect_code 0
    expect_out "same:"
  }
}

# expect_exported RUN ROWS [OPTION...]: predict these rows, export the run, and compare; options are for both.
expect_exported() {
  local name=$1 rows=$2
  shift 2
  tutti predict "$name" "$rows" --json "$@"
  expect_code 0
  cp out "$name.json"
  tutti export "$name" --to "$name.onnx" "$@"
  expect_code 0
  expect_out "$name.onnx: "
  compare_export "$name" "$rows"
}
