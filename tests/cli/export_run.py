"""ONNX graphs computed with NumPy alone, by the definitions of ONNX's operators: what a runtime must make of an export."""

import math

import numpy
import onnx
from onnx import numpy_helper

_TYPES = {1: numpy.float32, 2: numpy.uint8, 7: numpy.int64, 8: object, 9: numpy.bool_, 11: numpy.float64}
_erf = numpy.vectorize(math.erf, otypes=[numpy.float64])


def _windows(x, a, fill):
    """[rows, channels, out_height, out_width, taps] of an image, with `fill` beyond it."""
    (kh, kw), (sy, sx) = a["kernel_shape"], a.get("strides", [1, 1])
    dy, dx = a.get("dilations", [1, 1])
    top, left, bottom, right = a.get("pads", [0, 0, 0, 0])
    x = numpy.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    height = (x.shape[2] - dy * (kh - 1) - 1) // sy + 1
    width = (x.shape[3] - dx * (kw - 1) - 1) // sx + 1
    taps = [
        x[:, :, i * dy : i * dy + sy * (height - 1) + 1 : sy, j * dx : j * dx + sx * (width - 1) + 1 : sx]
        for i in range(kh)
        for j in range(kw)
    ]
    return numpy.stack(taps, axis=-1)


def _conv(a, x, w, b=None):
    a = dict(a, kernel_shape=list(w.shape[2:]))
    groups = a.get("group", 1)
    windows = _windows(x, a, 0)
    parts = []
    for g in range(groups):
        each_in, each_out = x.shape[1] // groups, w.shape[0] // groups
        window = windows[:, g * each_in : (g + 1) * each_in]
        kernel = w[g * each_out : (g + 1) * each_out].reshape(each_out, each_in, -1)
        parts.append(numpy.einsum("ncyxk,uck->nuyx", window, kernel))
    made = numpy.concatenate(parts, axis=1)
    return made if b is None else made + b[None, :, None, None]


def _average_pool(a, x):
    assert a.get("count_include_pad", 0) == 0
    return _windows(x, a, 0).sum(-1) / _windows(numpy.ones_like(x), a, 0).sum(-1)


def _batch_norm(a, x, gamma, beta, mean, variance):
    shape = [1, -1] + [1] * (x.ndim - 2)
    gamma, beta, mean, variance = (v.reshape(shape) for v in (gamma, beta, mean, variance))
    return (x - mean) / numpy.sqrt(variance + a["epsilon"]) * gamma + beta


def _slice(x, begin, end, axes, steps=None):
    where = [slice(None)] * x.ndim
    for b, e, axis, step in zip(begin, end, axes, steps if steps is not None else [1] * len(axes)):
        where[axis] = slice(b, e, step)
    return x[tuple(where)]


def _softmax(a, x):
    e = numpy.exp(x - x.max(axis=a["axis"], keepdims=True))
    return e / e.sum(axis=a["axis"], keepdims=True)


def _encode(a, x):
    codes = dict(zip((k.decode() for k in a["keys_strings"]), a["values_int64s"]))
    return numpy.vectorize(lambda text: codes.get(text, a["default_int64"]), otypes=[numpy.int64])(x)


def _reduce_sum(a, x, axes=None):
    return x.sum(axis=None if axes is None else tuple(axes), keepdims=bool(a.get("keepdims", 1)))


def _trees(a, x):
    """All rows at once, tree by tree, from the root to a leaf."""
    places = list(zip(a["nodes_treeids"], a["nodes_nodeids"]))
    index = {place: i for i, place in enumerate(places)}
    yes, no = (
        numpy.array([index[tree, to] for (tree, _), to in zip(places, a[f"nodes_{way}nodeids"])]) for way in ("true", "false")
    )
    modes, missing = numpy.array(a["nodes_modes"]), numpy.array(a["nodes_missing_value_tracks_true"], dtype=bool)
    columns, thresholds = numpy.array(a["nodes_featureids"]), numpy_helper.to_array(a["nodes_values_as_tensor"])
    leaf, below = modes == b"LEAF", modes == b"BRANCH_LT"
    assert set(modes) <= {b"LEAF", b"BRANCH_LT", b"BRANCH_LEQ"}
    says = numpy.zeros((len(places), a["n_targets"]))
    leaves = [index[place] for place in zip(a["target_treeids"], a["target_nodeids"])]
    numpy.add.at(says, (leaves, a["target_ids"]), numpy_helper.to_array(a["target_weights_as_tensor"]))
    made = numpy.zeros((len(x), a["n_targets"]))
    for root in (i for i, (_, node) in enumerate(places) if node == 0):
        at = numpy.full(len(x), root)
        while not leaf[at].all():
            value = x[numpy.arange(len(x)), columns[at]]
            low = (value < thresholds[at]) | (~below[at] & (value == thresholds[at])) | (missing[at] & numpy.isnan(value))
            at = numpy.where(leaf[at], at, numpy.where(low, yes[at], no[at]))
        made += says[at]
    return made.astype(numpy.float32)


def _sum(values):
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
_OPERATORS = {
    "Abs": lambda a, x: abs(x),
    "Add": lambda a, x, y: x + y,
    "And": lambda a, x, y: x & y,
    "ArgMax": lambda a, x: x.argmax(axis=a["axis"], keepdims=bool(a["keepdims"])),
    "AveragePool": _average_pool,
    "BatchNormalization": _batch_norm,
    "Cast": lambda a, x: x.astype(_TYPES[a["to"]]),
    "Concat": lambda a, *x: numpy.concatenate(x, axis=a["axis"]),
    "Conv": _conv,
    "Div": lambda a, x, y: x / y,
    "Elu": lambda a, x: numpy.where(x > 0, x, numpy.expm1(numpy.minimum(x, 0))),
    "Equal": lambda a, x, y: x == y,
    "Erf": lambda a, x: _erf(x).astype(x.dtype),
    "Exp": lambda a, x: numpy.exp(x),
    "Cos": lambda a, x: numpy.cos(x),
    "Flatten": lambda a, x: x.reshape(math.prod(x.shape[: a["axis"]]), -1),
    "Floor": lambda a, x: numpy.floor(x),
    "Gather": lambda a, x, i: x.take(i, axis=a.get("axis", 0)),
    "Gemm": lambda a, x, w, b: x @ w + b,
    "GlobalAveragePool": lambda a, x: x.mean(axis=(2, 3), keepdims=True),
    "Greater": lambda a, x, y: x > y,
    "HardSigmoid": lambda a, x: numpy.clip(a["alpha"] * x + a["beta"], 0, 1),
    "Identity": lambda a, x: x,
    "IsNaN": lambda a, x: numpy.isnan(x),
    "LabelEncoder": _encode,
    "Less": lambda a, x, y: x < y,
    "LeakyRelu": lambda a, x: numpy.where(x > 0, x, a["alpha"] * x),
    "Log": lambda a, x: numpy.log(x),
    "MatMul": lambda a, x, y: x @ y,
    "Max": lambda a, x, y: numpy.maximum(x, y),
    "MaxPool": lambda a, x: _windows(x, a, -numpy.inf).max(-1),
    "Mean": lambda a, *x: _sum(x) / len(x),
    "Min": lambda a, x, y: numpy.minimum(x, y),
    "Mul": lambda a, x, y: x * y,
    "Neg": lambda a, x: -x,
    "Not": lambda a, x: ~x,
    "Pad": lambda a, x, p: numpy.pad(x, list(zip(p[: x.ndim], p[x.ndim :]))),
    "ReduceMax": lambda a, x: x.max(axis=tuple(a["axes"]), keepdims=bool(a.get("keepdims", 1))),
    "ReduceMin": lambda a, x: x.min(axis=tuple(a["axes"]), keepdims=bool(a.get("keepdims", 1))),
    "ReduceSum": _reduce_sum,
    "Relu": lambda a, x: numpy.maximum(x, 0),
    "Reshape": lambda a, x, shape: x.reshape(shape),
    "Selu": lambda a, x: _SELU_SCALE * numpy.where(x > 0, x, _SELU_ALPHA * numpy.expm1(numpy.minimum(x, 0))),
    "Sigmoid": lambda a, x: 1 / (1 + numpy.exp(-x)),
    "Sin": lambda a, x: numpy.sin(x),
    "Slice": lambda a, *x: _slice(*x),
    "Softmax": _softmax,
    "Softplus": lambda a, x: numpy.logaddexp(x, 0),
    "Softsign": lambda a, x: x / (1 + abs(x)),
    "Sqrt": lambda a, x: numpy.sqrt(x),
    "Sub": lambda a, x, y: x - y,
    "Sum": lambda a, *x: _sum(x),
    "Tanh": lambda a, x: numpy.tanh(x),
    "Transpose": lambda a, x: x.transpose(a["perm"]),
    "TreeEnsembleRegressor": _trees,
    "Unsqueeze": lambda a, x, axes: numpy.expand_dims(x, tuple(axes)),
    "Where": lambda a, c, x, y: numpy.where(c, x, y),
}


def _loop(a, values, most, go_on, state):
    """A loop over one value, whose body sees all that is around it."""
    body = a["body"]
    for number in range(int(most)):
        if not go_on:
            break
        inner = dict(zip((i.name for i in body.input), (numpy.array(number), numpy.array(go_on), state)))
        inner = _compute(body, {**values, **inner})
        go_on, state = (inner[output.name] for output in body.output)
    return state


def _compute(graph, values):
    for node in graph.node:
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        given = [values[name] for name in node.input]
        with numpy.errstate(over="ignore"):
            if node.op_type == "Loop":
                made = _loop(attributes, values, *given)
            else:
                made = _OPERATORS[node.op_type](attributes, *given)
        values[node.output[0]] = made
    return values


def run(model, feeds):
    """The outputs of an onnx.ModelProto for {input: array}, by name."""
    values = dict(feeds)
    for constant in model.graph.initializer:
        if constant.data_type == onnx.TensorProto.STRING:
            values[constant.name] = numpy.array([text.decode() for text in constant.string_data], dtype=object)
        else:
            values[constant.name] = numpy_helper.to_array(constant)
    values = _compute(model.graph, values)
    return {output.name: values[output.name] for output in model.graph.output}
