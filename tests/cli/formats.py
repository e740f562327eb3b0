"""Predict a table from a run directory as docs/formats.md says it, without Tutti, and compare.

formats.py RUN ROWS.csv PREDICTED.csv: PREDICTED is what `tutti predict RUN ROWS.csv` wrote. All backends of Tutti, all
calibrators and dates are here, more than in the program of docs/formats.md. It prints which kinds of members it met,
and fails if a column of PREDICTED is further off than float32 rounds."""

import collections
import configparser
import csv
import datetime
import io
import json
import math
import os
import re
import sqlite3
import struct
import sys

import numpy as np

run, rows = sys.argv[1], list(csv.DictReader(open(sys.argv[2], newline="")))
data, ensemble = json.load(open(f"{run}/data.json")), json.load(open(f"{run}/ensemble.json"))
met = set()
FLT_MIN = np.finfo("f4").tiny
classes = len(data["targets"][0]["categories"])  # 0: values

MISSING = {"", *"? NA N/A na n/a #NA #N/A <NA> nan NaN NAN -nan -NaN null NULL".split()}


def category(text):
    try:
        return repr(float(text)).removesuffix(".0")
    except ValueError:
        return text


def days(text, form):
    try:
        date = datetime.datetime.strptime(text, form)
    except ValueError:
        date = datetime.datetime.fromisoformat(text)
    return date.replace(tzinfo=date.tzinfo or datetime.timezone.utc).timestamp() / 86400


def encode():
    plain, bins = [], []
    for column in data["inputs"]:
        cells, known = [row[column["name"]] for row in rows], column["categories"]
        missing = np.array([cell in MISSING for cell in cells])
        if known:
            cells = ["(missing)" if cell in MISSING else category(cell) for cell in cells]
            cells = [cell if cell in known else "(other)" for cell in cells]
            plain += [np.array([cell == c for cell in cells]) for c in known]
            continue
        read = (lambda cell: days(cell, column["date"])) if "date" in column else float
        x = np.array([column["mean"] if cell in MISSING else read(cell) for cell in cells])
        z = np.interp(x, column["knots"], column["levels"]) if "knots" in column else x
        z = (z - data["shift"][len(plain)]) / data["scale"][len(plain)]
        plain.append(z / np.sqrt(1 + (z / column.get("clip", np.inf)) ** 2))
        for period in (365.2425, 7, 1)[: column.get("cycles", 0)]:
            plain += [np.where(missing, 0, wave(2 * np.pi * (x / period % 1))) for wave in (np.sin, np.cos)]
        plain += [missing] if column.get("marks_missing") else []
        edges = column.get("edges", [])
        bins += [np.clip((x - low) / (high - low), 0, 1) for low, high in zip(edges, edges[1:])]
    return np.array(plain, "f4").T, np.array(plain + bins, "f4").T


# --- tensors, by fold ---


def models(path):
    types, blob = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "u1"}, open(path, "rb").read()
    start, folds = 8 + struct.unpack("<Q", blob[:8])[0], collections.defaultdict(dict)
    for name, entry in json.loads(blob[8:start]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            fold, part = re.fullmatch("(fold[0-9]+/)?(.*)", name).groups()
            tensor = np.frombuffer(blob[start + begin : start + end], types[entry["dtype"]]).reshape(entry["shape"])
            folds[fold][part] = tensor
    return list(folds.values())


def softmax(x):
    power = np.exp(x - x.max(1, keepdims=True))
    return power / power.sum(1, keepdims=True)


# --- networks ---

ELU = lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0)))
ACTIVATIONS = {
    "linear": lambda x: x,
    "elu": ELU,
    "gelu": lambda x: x * np.vectorize(lambda z: math.erfc(-z / math.sqrt(2)) / 2)(x),
    "hard-sigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "relu": lambda x: np.maximum(x, 0),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * ELU(x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.logaddexp(x, 0),
    "softsign": lambda x: x / (1 + abs(x)),
    "swish": lambda x: x / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "leaky-relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "crelu": lambda x: np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)], 1),
}


def network(layers, weights, x):
    value = {layers[0]["label"]: x}
    for layer in layers[1:]:
        op, label, reads = layer["op"], layer["label"], [value[name] for name in layer["inputs"]]
        if op == "dense":
            value[label] = reads[0] @ weights[f"{label}/weight"] + weights.get(f"{label}/bias", 0)
        elif op == "activation":
            value[label] = ACTIVATIONS[layer.get("activation", "relu")](reads[0])
        elif op == "batch-norm":
            part = lambda name, unset: weights.get(f"{label}/{name}", unset)
            spread = np.sqrt(part("variance", 1) + layer.get("epsilon", 1e-5))
            value[label] = part("gamma", 1) * (reads[0] - part("mean", 0)) / spread + part("beta", 0)
        elif op in ("dropout", "drop-path", "identity", "detach"):
            value[label] = reads[0]
        elif op == "concat":
            value[label] = np.concatenate(reads, 1)
        elif op in ("add", "mean"):
            value[label] = sum(reads) / (len(reads) if op == "mean" else 1)
        elif op == "head-softmax":
            return softmax(reads[0].astype("f8")), None
        elif op == "head-linear":
            return reads[0].astype("f8"), np.full(reads[0].shape, np.nan)
        elif op == "head-gaussian":
            mean, spread = np.split(reads[0].astype("f8"), 2, 1)
            spread = layer.get("floor", 1e-3) + np.logaddexp(layer.get("scale", 1) * spread, 0)
            return mean, spread if layer.get("variance") else spread**2
        else:
            sys.exit(f"op {op} is not in this example")


# --- others ---


def forest(part, x, prior):
    leaves, row = [], np.arange(len(x))
    for root in part("roots")[:-1]:
        at = np.full(len(x), root)
        while (inner := part("columns")[at] >= 0).any():
            above = x[row, np.maximum(part("columns")[at], 0)] > part("thresholds")[at]
            at = np.where(inner, root + part("children")[at] + above, at)
        leaves.append(at)
    trees, leaves = len(leaves), np.array(leaves)  # [trees, rows]
    if classes:
        shares = np.zeros((len(x), classes))
        for r, node in ((r, node) for nodes in leaves for r, node in enumerate(nodes)):
            said = slice(part("children")[node], part("children")[node] - part("columns")[node])
            shares[r, part("classes")[said]] += part("shares")[said]
        return (shares + prior / classes) / (trees + prior), None
    means = part("thresholds")[leaves].astype("f8")
    variance = means.var(0) + part("variances")[part("children")[leaves]].mean(0, dtype="f8")
    return means.mean(0), (trees * variance + prior * part("variance")) / (trees + prior)


def ubjson(read, kind):
    numbers = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
    count = lambda: int(ubjson(read, read(1)))
    if kind in numbers:
        return np.frombuffer(read(np.dtype(numbers[kind]).itemsize), numbers[kind])[0]
    if kind == b"S":
        return read(count()).decode()
    if kind == b"[":
        typed = read(2)[:1] if read(1) == b"$" else None  # the type of all, and the sign #
        return [ubjson(read, typed or read(1)) for _ in range(count())]
    made = {}  # of the sign {
    while (kind := read(1)) != b"}":
        name = read(int(ubjson(read, kind))).decode()
        made[name] = ubjson(read, read(1))
    return made


def boosted(part, x):
    read = io.BytesIO(part("model").tobytes()).read
    learner, row = ubjson(read, read(1))["learner"], np.arange(len(x))
    model, start = learner["gradient_booster"]["model"], float(learner["learner_model_param"]["base_score"].strip("[]"))
    sums = np.zeros((len(x), classes if classes > 2 else 1))
    for tree, of in zip(model["trees"], model["tree_info"]):
        left, right, column, value = (np.array(tree[key]) for key in
            ("left_children", "right_children", "split_indices", "split_conditions"))
        at = np.zeros(len(x), int)
        while (inner := left[at] >= 0).any():
            at = np.where(inner, np.where(x[row, column[at]] < value[at], left[at], right[at]), at)
        sums[:, of] += value[at]
    if not classes:
        return sums[:, 0] + start, part("variance")
    second = 1 / (1 + np.exp(-sums) * (1 / start - 1))
    return at_least(np.hstack([1 - second, second]) if classes == 2 else softmax(sums)), None


def at_least(shares):
    shares = np.maximum(shares, 1e-7)
    return shares / shares.sum(1, keepdims=True)


def machine(part, x):
    distance = ((x[:, None].astype("f8") - part("vectors")) ** 2).sum(2)
    kernel, weights, rho = np.exp(-part("gamma") * distance), part("coefficients"), iter(part("rho"))
    if not classes:
        return kernel @ weights[0] - next(rho), part("variance")
    told, ends = part("classes"), np.cumsum(part("counts"))
    pairs, sigmoids = np.zeros((len(told), len(told), len(x))), iter(np.transpose(part("sigmoids", np.zeros((2, 0)))))
    for i in range(len(told)):
        for j in range(i + 1, len(told)):
            of_i, of_j = (slice(ends[k] - part("counts")[k], ends[k]) for k in (i, j))
            f = kernel[:, of_i] @ weights[j - 1, of_i] + kernel[:, of_j] @ weights[i, of_j] - next(rho)
            a, b = next(sigmoids, (None, None))
            pairs[i, j] = f > 0 if a is None else np.clip(1 / (1 + np.exp(a * f + b)), 1e-7, 1 - 1e-7)
            pairs[j, i] = 1 - pairs[i, j]
    shares = np.zeros((len(x), classes))
    if part("sigmoids", None) is None:
        shares[:, told] = pairs.sum(1).T / (len(told) * (len(told) - 1) / 2)
    else:
        shares[:, told] = [couple(r) for r in pairs.transpose(2, 0, 1)]
    return at_least(shares), None


def couple(r):
    k = len(r)
    if k == 2:
        return r[0, 1], r[1, 0]
    p, q = np.full(k, 1 / k), np.diag((r**2).sum(0)) - r * r.T
    for _ in range(max(100, k)):
        qp, pqp = q @ p, p @ q @ p
        if abs(qp - pqp).max() < 0.005 / k:
            break
        for i in range(k):
            p[i] += (p @ q @ p - q[i] @ p) / q[i, i]
            p /= p.sum()
    return p


def process(part, x):
    def covariance(a, b):
        squares = (((a[:, None] - b) / part("lengths")) ** 2).sum(2)
        s = np.sqrt(5 * squares)
        return part("amplitude") * (np.exp(-squares / 2) if part("kernel") else (1 + s + s**2 / 3) * np.exp(-s))
    points, x = part("points").astype("f8"), x.astype("f8")
    own = covariance(points, points) + part("noise") * np.eye(len(points))
    beside = covariance(x, points)
    mean = part("mean") + beside @ np.linalg.solve(own, part("values") - part("mean"))
    epistemic = np.maximum(part("amplitude") - (beside * np.linalg.solve(own, beside.T).T).sum(1), 0)
    return mean, epistemic + part("noise"), epistemic


# --- members and ensemble ---

recipe = configparser.ConfigParser(inline_comment_prefixes=";", interpolation=None, strict=False)
recipe.read(f"{run}/recipe.ini")
catalogue = sqlite3.connect(f"file:{run}/catalogue.sqlite?mode=ro", uri=True)
trials = dict(catalogue.execute("SELECT number, candidate FROM trials"))


def setting(trial, learner, key):
    searched = json.loads(trials[trial])["hyperparameters"]
    for name in (f"{learner}.{key}", key):
        if name in searched:
            return float(searched[name])
    return float(recipe.get(learner, key, fallback=recipe.get("backend", key, fallback=0)))


def predict(trial, tensors, folder):
    if os.path.exists(f"{folder}/network.json"):
        if setting(trial, "cpu", "prediction_draws"):
            sys.exit(f"trial {trial} predicts by draws of dropout, which this example does not")
        met.add("network")
        return network(json.load(open(f"{folder}/network.json"))["layers"], tensors, everything)
    said = []
    for output in range(1 if classes else len(data["targets"])):
        part = lambda name, unset=np.nan: tensors.get(f"{output}.{name}", unset)
        if f"{output}.vectors" in tensors:
            met.add("svm")
            said.append(machine(part, plain))
        elif f"{output}.points" in tensors:
            met.add("gp")
            said.append(process(part, plain))
        elif f"{output}.model" in tensors:
            met.add("boosted")
            said.append(boosted(part, plain))
        else:
            met.add("forest")
            said.append(forest(part, plain, setting(trial, "trees", "prior")))
    if classes:
        return said[0]
    return [np.stack([np.broadcast_to(one, len(rows)) for one in each], 1) for each in zip(*said)]


f4 = lambda x: x.astype("f4").astype("f8")


def entropy(p):
    return -(p * np.log(np.maximum(p, 1e-300))).sum(-1, keepdims=True)


def member(trial, folder):
    """Mean, variance and the part of it that is its own; or probabilities."""
    folds = [predict(trial, tensors, folder) for tensors in models(f"{folder}/weights.safetensors")]
    means = np.array([f4(said[0]) for said in folds])
    mean = f4(means.mean(0))
    if classes:
        return mean, None, np.maximum(entropy(mean) - entropy(means).mean(0), 0)
    own = means.var(0) + np.mean([said[2] if len(said) > 2 else 0 * mean for said in folds], 0)
    variance = means.var(0) + np.mean([said[1] for said in folds], 0)
    scale = np.array(data["target_scale"])
    return mean * scale + data["target_shift"], variance * scale**2, own * scale**2


plain, everything = encode()
members = [member(m["trial"], f"{run}/trials/{m['trial']:06d}") for m in ensemble["members"]]
weights = np.array([m["weight"] for m in ensemble["members"]])
means, variances, own = (list(each) for each in zip(*members))
weigh = lambda values: np.tensordot(weights, values, 1)
fit = ensemble.get("calibration", {}).get("fit", {})


def combined_classes():
    votes = ensemble["combination"] == "vote"
    p = weigh([np.eye(classes)[p.argmax(1)] for p in means] if votes else means)
    total = entropy(p)
    within = 0 * total if votes else weigh(own)
    expected = np.maximum((0 if votes else weigh([entropy(each) for each in means])) - within, 0)
    mutual = np.maximum(total - expected, 0)
    if "inverse_temperature" in fit:
        p = softmax(np.log(np.maximum(p, FLT_MIN)) * fit["inverse_temperature"])
    elif "factors" in fit:
        p = softmax(np.log(np.maximum(p, FLT_MIN)) * fit["factors"] + fit["shifts"])
    elif "classes" in fit:
        p = np.stack([np.interp(p[:, c], each["at"], each["value"]) for c, each in enumerate(fit["classes"])], 1)
        p /= p.sum(1, keepdims=True)
    if fit:
        share = np.divide(mutual, total, out=0 * total, where=total > 0)
        total = entropy(p)
        expected, mutual = (1 - share) * total, share * total
    names = ["p_" + c for c in data["targets"][0]["categories"]]
    names += ["entropy", "expected_entropy", "mutual_information"]
    return dict(zip(names, np.hstack([p, total, expected, mutual]).T))


def quantile(p, m, v):
    """Of mixtures of Gaussians, [members][rows] each, by bisection."""
    cdf = np.vectorize(lambda z: math.erfc(-z / math.sqrt(2)) / 2)
    s = np.sqrt(v)
    low, high = (m - 10 * s).min(0), (m + 10 * s).max(0)
    for _ in range(60):
        middle = (low + high) / 2
        below = weigh(cdf((middle - m) / s)) < p
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def combined_values():
    mean, squares = weigh(means), 1 - np.square(weights).sum()
    picks = sum(m.get("picks", 0) for m in ensemble["members"])
    divisors = {"population": 1, "unbiased": squares, "picks": 1 - 1 / picks if picks > 1 else squares}
    between = weigh((means - mean) ** 2) / (divisors[recipe["evaluation"]["epistemic"]] if len(weights) > 1 else 1)
    aleatoric, epistemic = weigh(np.subtract(variances, own)), between + weigh(own)
    noise, spread = np.array(fit.get("aleatoric_factors", 1.0)), np.array(fit.get("epistemic_factors", 1.0))
    if "scores" in fit:
        scores = np.array(fit["scores"])
        rank = math.ceil((scores.shape[1] + 1) * 0.95 - 1e-9)
        half = scores[:, rank - 1] if rank <= scores.shape[1] else np.inf
        half = half * (np.sqrt(aleatoric + epistemic) if fit["normalised"] else np.ones_like(mean))
        lower, upper = mean - half, mean + half
    else:
        spreads = np.where(epistemic > 0, spread, 1.0)
        m, v = mean + np.sqrt(spreads) * (means - mean), noise * np.subtract(variances, own) + spreads * own
        lower, upper = quantile(0.025, m, v), quantile(0.975, m, v)
    aleatoric, epistemic, origin = aleatoric * noise, epistemic * spread, data.get("target_origin", 0)
    told = {"mean": mean + origin, "aleatoric": np.sqrt(aleatoric), "epistemic": np.sqrt(epistemic)}
    told |= {"total": np.sqrt(aleatoric + epistemic), "lower": lower + origin, "upper": upper + origin}
    names = [target["name"] for target in data["targets"]]
    several = len(names) > 1
    return {f"{key}_{names[t]}" if several else key: x[:, t] for key, x in told.items() for t in range(len(names))}


told = combined_classes() if classes else combined_values()
with open(sys.argv[3], newline="") as file:
    said = list(csv.DictReader(file))
print("members:", *sorted(met))
wrong = []
for name, found in told.items():
    right = np.array([float(row[name] or "nan") for row in said])
    if np.isnan(right).all() and np.isnan(found).all():
        continue
    deviation = name.startswith(("aleatoric", "epistemic", "total"))
    scale = 1 if classes else abs(right).max() if deviation else np.ptp(right)
    off = abs(found - right).max() / (scale or 1)
    if not off <= 2e-5:
        wrong.append(f"{name} is off by {off:.1e}")
sys.exit("; ".join(wrong) if wrong else 0)
