#!/bin/bash
# Makes the seeds of the fuzz targets from what the program itself writes, and from small files of each format. Seeds that are
# there stay: those of past crashes have names of their own.
#
#   tests/fuzz/seeds.sh                  with ./tutti built, sqlite3 and python3
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
tutti=${TUTTI_PROGRAM:-$top/tutti}
work=$(mktemp -d)
seeds=$work/seeds
trap 'rm -rf "$work"' EXIT
cd "$work"
for target in candidate catalogue cifar csv data frames gz idx ini network npy reply run safetensors; do
  mkdir -p "$seeds/$target"
done

# rows CATALOGUE: its rows as lines (tests/fuzz/rows.h).
rows() {
  local typed='CASE typeof(%s) WHEN '"'null'"' THEN '"'n'"' WHEN '"'integer'"' THEN '"'i'"' WHEN '"'real'"' THEN '"'r'"' ELSE '"'t'"' END || coalesce(%s, '"''"')'
  local table columns column query
  for table in facts trials times; do
    query="'$table'"
    columns=$(sqlite3 "$1" "SELECT name FROM pragma_table_info('$table')")
    for column in $columns; do
      # shellcheck disable=SC2059
      query+=" || char(9) || $(printf "$typed" "$column" "$column")"
    done
    sqlite3 "$1" "SELECT $query FROM $table"
  done
}

# plain RECIPE: without the comments.
plain() { sed "s|$work|/data|; s/ *;.*//; /^$/d" "$1"; }

# archive RUN: its files, one after the other, as the target run reads them; without the summary, which has a checksum.
archive() {
  local file
  (
    cd "$1"
    rows catalogue.sqlite >rows
    plain recipe.ini >recipe.ini.new
    mv recipe.ini.new recipe.ini
    for file in $(find recipe.ini data.json ensemble.json splits trials -type f 2>/dev/null | sort) rows; do
      printf '%s %s\n' "$file" "$(stat -c %s "$file")"
      cat "$file"
    done
  )
}

# small NAME RECIPE OPTION...: a run of few and tiny networks.
small() {
  local name=$1 recipe=$2
  shift 2
  "$tutti" run "$recipe" --out "$work/$name" --workers 1 --quiet "$@" >/dev/null 2>&1
}

cat >table.csv <<'CSV'
x1,x2,group,y,kind
0.5,1.25,a,2,up
-1,2e-3,b,0.5,down
3,,c,1.5,up
7.25,-4,a,-1,down
0.1,0.2,b,0.25,up
2,2,c,0.125,down
1,-1,a,3,up
4,0.5,b,1,down
5,5,c,2.5,up
6,6,a,1.75,down
CSV
methods=$top/tests/faults/methods
small sine "$methods/nes-rs.ini" --set run.budget=3 --set data.rows=20 --set hyperparameters.epochs=2 --set space.widths="4 8" --set selector.size=2
small graph "$methods/nasbot.ini" --set run.budget=4 --set hyperparameters.epochs=1 --set data.rows=20
small skip "$methods/agebo.ini" --set run.budget=3 --set data.rows=20 --set hyperparameters.epochs=1 --set space.widths="4 8"
small value "$methods/random.ini" --set run.budget=3 --set run.window=1 --set backend.seconds=0
small forest "$methods/forest.ini" --set run.budget=2 --set backend.trees=2 --set data.rows=20
table=(--set data.path="$work/table.csv" --set data.missing=mean --set run.budget=2 --set hyperparameters.epochs=2 --set space.widths=4)
small numbers "$top/ini/csv-regression.ini" "${table[@]}" --set data.target=y --set data.split="0.6 0.2 0.2"
small classes "$top/ini/csv-classification.ini" "${table[@]}" --set data.target=kind --set data.stratify=no --set data.split="0.6 0.2 0.2" --set space.dropout=0

for run in sine graph skip value forest numbers classes; do
  [ -e "$run/catalogue.sqlite" ] || { echo "no run $run" >&2; continue; }
  rows "$run/catalogue.sqlite" >"$seeds/catalogue/$run"
  archive "$run" >"$seeds/run/$run"
  cp "$run/recipe.ini" "$seeds/ini/run-$run"
  [ ! -e "$run/data.json" ] || cp "$run/data.json" "$seeds/data/$run"
  [ ! -e "$run/trials/000000/network.json" ] || cp "$run/trials/000000/network.json" "$seeds/network/$run"
  [ ! -e "$run/trials/000000/weights.safetensors" ] || cp "$run/trials/000000/weights.safetensors" "$seeds/safetensors/$run"
done
cp sine/catalogue.sqlite "$seeds/catalogue/file"
cp sine/splits/train-rows.npy "$seeds/npy/rows"
cp sine/splits/train-targets.npy "$seeds/npy/targets"
cp sine/trials/000000/validation.npy "$seeds/npy/predictions"
cp "$methods"/*.ini "$seeds/ini/"
cp table.csv "$seeds/csv/table"
tr , ';' <table.csv >"$seeds/csv/semicolons"
tail -n 4 table.csv | tr , '\t' >"$seeds/csv/tabs"
printf '"a ""quoted"" name","two\nlines",z\r\n1,"2",inf\r\n-1e309,NA,""\r\n' >"$seeds/csv/quoted"
printf '\xef\xbb\xbfx,y\n1,2\n' >"$seeds/csv/mark"
gzip -9n <table.csv >"$seeds/gz/table"
{ gzip -9n <table.csv; printf '1,1,a,1,up\n' | gzip -1n; } >"$seeds/gz/members"
head -n 3 table.csv >"$seeds/gz/text"

# candidate NUMBER RUN: its first candidate, with the number that the target candidate has for the space in front; the
# hyperparameters are the target's.
candidate() {
  local json
  json=$(sqlite3 "$2/catalogue.sqlite" "SELECT json_set(candidate, '$.hyperparameters', json('{\"rate\": 0.25}')) FROM trials LIMIT 1")
  # shellcheck disable=SC2059
  printf "\\x0$1%s" "${json//%/%%}" >"$seeds/candidate/$2"
}
small layers "$methods/smbo-ensemble.ini" --set run.budget=2 --set run.window=1 --set data.rows=20 --set builder.bootstraps=1 || true
candidate 0 sine
candidate 1 layers
candidate 2 skip
candidate 7 graph

python3 - "$seeds" <<'PYTHON'
import sys, struct, os
seeds = sys.argv[1]
def put(name, data):
    with open(os.path.join(seeds, name), "wb") as f:
        f.write(data)
candidate = lambda number, architecture: bytes([number]) + (
    '{"architecture": %s, "hyperparameters": {"rate": 0.25}, "seed": "7"}' % architecture).encode()
put("candidate/fixed", candidate(3, "{}"))
put("candidate/nasbench201", candidate(5, '"|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_1x1~1|skip_connect~2|"'))
put("candidate/nasbench201-index", candidate(5, '"7"'))
put("candidate/darts-named", candidate(4, '"darts-v2"'))
put("candidate/layer-graph-cnn", candidate(8, '"resnet"'))
put("candidate/depth-width", candidate(6, '{"cells": "5", "channels": "12"}'))
def npy(name, kind, order, shape, data, version=1):
    head = ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (kind, order, shape)).encode()
    head = head.ljust(63 - (10 if version == 1 else 12)) + b"\n"
    put("npy/" + name, b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(head)) + head + data)
npy("images", "|u1", False, (2, 2, 1, 3), bytes(range(12)))
npy("integers", "<i8", False, (5,), struct.pack("<5q", *range(5)))
npy("fortran", "<f4", True, (2, 2), bytes(16))
npy("empty", "<f8", False, (0, 4), b"", 2)
images = struct.pack(">4B3I", 0, 0, 8, 3, 2, 3, 3) + bytes(range(18))
labels = struct.pack(">4BI", 0, 0, 8, 1, 2) + bytes([1, 0])
put("idx/two", struct.pack("<H", len(images)) + images + labels)
colours = struct.pack(">4B4I", 0, 0, 8, 4, 1, 2, 2, 3) + bytes(range(12))
put("idx/colours", struct.pack("<H", len(colours)) + colours + struct.pack(">4BI", 0, 0, 8, 1, 1) + b"\0")
put("cifar/two", (bytes([3]) + bytes(range(256)) * 12) + bytes([9]) + bytes(3072))
frame = lambda kind, trial, text: struct.pack("<BQI", kind, trial, len(text)) + text
put("frames/ready", frame(0, 0, b"") + frame(2, 1, b'{"trial": 1}') + frame(4, 1, b'{"state": "finished"}'))
put("frames/split", frame(4, 2 ** 63, b"x" * 300) + b"\x02")
done = b'{"status": "ok", "state": "%s", "failure": "%s", "seconds": 0.5, "loss": %s, "report": {"epochs": 1, "files": []}}\n'
put("reply/done", b"".join(done % (b"finished", b"", loss) for loss in (b"0.5", b"1e300", b"-2")))
put("reply/mixed", b"Lkilled\nP{}\n" + done % (b"failed", b"no memory", b"null") + b"Ttook too long\n" + done % (b"pruned", b"", b"3"))
put("safetensors/notes", struct.pack("<Q", 128) + (
    b'{"__metadata__": {"a": "b"}, "w": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}}').ljust(128) + bytes(8))
PYTHON
cp -rn "$seeds" "$here"
