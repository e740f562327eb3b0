"""export.py RUN ROWS --unknown COLUMN: a category that RUN.onnx does not know is none of those of that column in ROWS.
export.py RUN ROWS [--runtime]: RUN.onnx gives what `tutti predict` gave in RUN.json for the rows of ROWS (a .csv, or an .idx or
.npy of images), computed by NumPy or by onnxruntime; and it is an ONNX model by the standard checker."""

import csv
import datetime
import json
import struct
import sys

import numpy
import onnx

TOLERANCE = 1e-5


def number(word):
    """The number of a cell, or the days since 1970 of a date; NaN where it is missing."""
    if word.count("-") == 2 and ":" in word:
        return (datetime.datetime.fromisoformat(word) - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    return float(word or "nan")


def rows_of(path, model):
    inputs = [(value.name, value.type.tensor_type.elem_type) for value in model.graph.input]
    if path.endswith(".idx"):
        with open(path, "rb") as file:
            _, rows, height, width = struct.unpack(">IIII", file.read(16))
            return {"image": numpy.frombuffer(file.read(), dtype=numpy.uint8).reshape(rows, height, width, 1)}
    if path.endswith(".npy"):
        return {"image": numpy.load(path)}
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    feeds = {}
    for name, element in inputs:
        words = [[row[name.removeprefix("column ")]] for row in rows]
        if element == onnx.TensorProto.STRING:
            feeds[name] = numpy.array(words, dtype=object)
        else:
            feeds[name] = numpy.array([[number(word)] for [word] in words])
    return feeds


def columns_of(output, wanted):
    """The columns of the program's that an output of the model stands for."""
    if output == "probabilities":
        return [name for name in wanted if name.startswith("p_")]
    if output in wanted:
        return [output]
    others = ("between_", "within_")
    return [name for name in wanted if name.startswith(output + "_") and not name[len(output) + 1 :].startswith(others)]


def compare(found, wanted):
    for name, values in found.items():
        if name == "label":
            assert list(values) == wanted["label"], name
            continue
        columns = columns_of(name, wanted)
        right = numpy.array([[numpy.nan if v is None else v for v in wanted[column]] for column in columns], dtype=float).T
        assert right.size, f"{name}: not among {list(wanted)}"
        values = values.reshape(right.shape)
        scale = numpy.nanmax(abs(right), initial=0) if name != "mean" else right.std(axis=0) + 1e-3
        off = abs(values - right)
        assert (numpy.isnan(values) == numpy.isnan(right)).all(), f"{name}: NaN in other places"
        assert (numpy.nan_to_num(off) <= TOLERANCE * numpy.maximum(scale, 1e-3)).all(), f"{name}: off by {numpy.nanmax(off)}"


def check_unknown(model, feeds, column):
    import export_run

    def means(word):
        words = numpy.full(feeds[column].shape, word, dtype=object)
        return export_run.run(model, {**feeds, column: words})["mean"]

    unknown = means("a new one")
    assert numpy.array_equal(unknown, means("another new one"))
    known = sorted(set(feeds[column].ravel()))
    for word in known:
        assert not numpy.allclose(means(word), unknown), f"{word} is what an unknown category is"
    print("none of", *known)


def main(run, rows, *options):
    model = onnx.load(run + ".onnx")
    onnx.checker.check_model(model, full_check=True)
    if "--unknown" in options:
        check_unknown(model, rows_of(rows, model), options[-1])
        return
    with open(run + ".json") as file:
        wanted = json.load(file)
    feeds = rows_of(rows, model)
    if "--runtime" in options:
        import onnxruntime

        session = onnxruntime.InferenceSession(run + ".onnx")
        names = [output.name for output in session.get_outputs()]
        found = dict(zip(names, session.run(None, feeds)))
    else:
        import export_run

        found = export_run.run(model, feeds)
    assert set(found) >= ({"label", "probabilities", "entropy"} if "label" in wanted else {"mean", "total", "epistemic", "lower", "upper"})
    compare(found, wanted)
    kinds = sorted({node.op_type for node in model.graph.node})
    print("same:", wanted["rows"], "rows,", len(model.graph.node), "nodes:", *kinds, "give", *found)


if __name__ == "__main__":
    main(*sys.argv[1:])
