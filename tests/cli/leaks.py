#!/usr/bin/env python3
"""What rows are used for, from the files of run directories alone.

leaks.py recompute RUN TOP CSV JSON NPY: losses, curves and choices of RUN from its predictions and targets; and what `tutti
predict` wrote of its test rows, in three forms, from its members' own predictions of them. TOP is what selector top-m chose.
leaks.py unaffected RUN OTHER: OTHER has other test rows; all else has the same bits, and what is of the test rows differs.
leaks.py led RUN OTHER: OTHER has other validation rows, and other candidates: the search follows results.
leaks.py untrained RUN OTHER: OTHER has other validation rows; weights and predictions have the same bits, losses differ.
leaks.py ood RUN SPLIT: rows out of distribution are told from test rows, and not from validation rows."""
import csv
import json
import math
import re
import sqlite3
import sys

import numpy as np

FLOOR = float(np.finfo(np.float32).tiny)
faults = []


def expect(condition, text):
    if not condition:
        faults.append(text)


def close(a, b, text, relative=1e-5):
    a, b = np.asarray(a, float), np.asarray(b, float)
    expect(a.shape == b.shape and np.allclose(a, b, rtol=relative, atol=1e-7), f"{text}: {a} where {b} is expected")


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def trials_of(run):
    catalogue = sqlite3.connect(f"file:{run}/catalogue.sqlite?mode=ro", uri=True)
    columns = "number, candidate, parent, origin, asked_after, state, loss, told, failure, report"
    return [dict(zip(columns.split(", "), row)) for row in
            catalogue.execute(f"SELECT {columns} FROM trials ORDER BY number")]


def folder(run, number):
    return f"{run}/trials/{number:06d}"


def targets_of(run, split):
    classes = read_json(run + "/summary.json")["task"] == "classification"
    return np.load(f"{run}/splits/{split}-{'labels' if classes else 'targets'}.npy")


def nll(p, y):
    """Of predictions [rows][classes] and labels, or [rows][outputs][2] and values: the mean over rows."""
    if p.ndim == 2:
        return -np.log(np.maximum(p[np.arange(len(y)), y].astype(float), FLOOR)).mean()
    mean, variance = p[..., 0].astype(float), np.maximum(p[..., 1].astype(float), FLOOR)
    return (0.5 * (y - mean) ** 2 / variance + 0.5 * np.log(2 * math.pi * variance)).sum(1).mean()


# --- recompute ---


def curve_of(run, number):
    with open(folder(run, number) + "/curve.csv", encoding="utf-8") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def check_trial(run, trial, patience):
    number, report = trial["number"], json.loads(trial["report"])
    name = f"trial {number}"
    p = {split: np.load(f"{folder(run, number)}/{split}.npy") for split in ("validation", "test")}
    losses = {split: nll(p[split], targets_of(run, split)) for split in p}
    expect(abs(losses["validation"] - losses["test"]) > 1e-5, f"{name}: both splits have the same loss: nothing is tested")
    close(trial["loss"], losses["validation"], f"{name}: the objective")
    for split, loss in losses.items():
        close(report["losses"][split]["nll"], loss, f"{name}: nll of {split}")
    curve = curve_of(run, number)
    watched = [epoch["validation_loss"] for epoch in curve]
    best = int(np.argmin(watched))
    expect(report["best_epoch"] == best + 1, f"{name}: epoch {report['best_epoch']} was kept, {best + 1} is the best")
    expect(report["epochs"] == len(curve) and (len(curve) == 12 or len(curve) == best + 1 + patience),
           f"{name}: it stopped after epoch {len(curve)}, the best being {best + 1}")
    # The curve is in standardised units, and a mean over outputs.
    scale, outputs = 0, 1
    if p["test"].ndim == 3:
        train = targets_of(run, "train")
        outputs = train.shape[1]
        scale = np.log(train.std(0)).sum()
    close(watched[best] * outputs + scale, losses["validation"], f"{name}: the curve at the epoch that was kept", 1e-4)
    return len(curve) < 12


def check_choice(run, trials, top):
    losses = [trial["loss"] for trial in trials]
    expected = sorted(range(len(trials)), key=lambda k: losses[k])[:4]
    found = [member["trial"] for member in read_json(top)["members"]]
    expect(found == expected, f"top-m chose {found}, expected {expected}")
    test = [nll(np.load(folder(run, k) + "/test.npy"), targets_of(run, "test")) for k in range(len(trials))]
    expect(sorted(range(len(trials)), key=lambda k: test[k])[:4] != expected, "test rows choose the same: nothing is tested")
    for step in read_json(top)["trace"]:
        close(step["loss"], losses[step["trial"]], f"top-m: the loss of trial {step['trial']}")


def entropy(p):
    return -np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(-1)


def quantile(w, m, v, p):
    """Of each row's mixture of normals, by bisection: m, v [members][rows]."""
    low, high = (m - 9 * np.sqrt(v)).min(0), (m + 9 * np.sqrt(v)).max(0)
    normal = np.vectorize(lambda z: (1 + math.erf(z / math.sqrt(2))) / 2)
    for _ in range(60):
        x = (low + high) / 2
        below = w @ normal((x - m) / np.sqrt(v)) < p
        low, high = np.where(below, x, low), np.where(below, high, x)
    return x


def expected_columns(run):
    """By name, from the members' predictions of the test rows."""
    summary = read_json(run + "/summary.json")
    members = summary["ensemble"]["members"]
    w = np.array([member["weight"] for member in members])
    p = np.stack([np.load(folder(run, member["trial"]) + "/test.npy") for member in members]).astype(float)
    description = read_json(run + "/data.json")
    if p.ndim == 3:
        mean = np.tensordot(w, p, 1)
        columns = {f"p_{name}": mean[:, k] for k, name in enumerate(("down", "up"))}
        whole, inner = entropy(mean), w @ entropy(p)
        columns.update(entropy=whole, expected_entropy=inner, mutual_information=np.maximum(whole - inner, 0))
        return columns
    columns, picks = {}, sum(member["picks"] for member in members)
    with open(run + "/recipe.ini", encoding="utf-8") as file:
        unbiased = not re.search(r"^epistemic = population", file.read(), re.MULTILINE)
    names = [target["name"] for target in description["targets"]]
    for k, name in enumerate(names):
        end = f"_{name}" if len(names) > 1 else ""
        m, v = p[:, :, k, 0], p[:, :, k, 1]
        mean = w @ m
        aleatoric, epistemic = w @ v, w @ (m - mean) ** 2 * (picks / (picks - 1) if unbiased else 1)
        columns.update({"mean" + end: mean, "aleatoric" + end: np.sqrt(aleatoric), "epistemic" + end: np.sqrt(epistemic),
                        "total" + end: np.sqrt(aleatoric + epistemic),
                        "lower" + end: quantile(w, m, v, 0.025), "upper" + end: quantile(w, m, v, 0.975)})
        expect(abs(aleatoric - epistemic).min() > 1e-9, "aleatoric and epistemic are the same: nothing is tested")
    return columns


def check_predictions(run, as_csv, as_json, as_npy):
    with open(as_csv, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = read_json(as_json)
    array = np.load(as_npy)
    expected = expected_columns(run)
    names = [name for name in rows[0] if name not in ("row", "label")]
    expect(sorted(names) == sorted(expected), f"predict gives {names}, expected {sorted(expected)}")
    for i, name in enumerate(names):
        close([float(row[name]) for row in rows], expected[name], f"predict: {name} as CSV", 1e-4)
        close(columns[name], expected[name], f"predict: {name} as JSON", 1e-4)
        close(array[:, i], expected[name], f"predict: {name} as NPY", 1e-4)
    if "label" in rows[0]:
        labels = ["down" if a > b else "up" for a, b in zip(expected["p_down"], expected["p_up"])]
        expect([row["label"] for row in rows] == labels and columns["label"] == labels, "predict: labels")
    return len(rows)


def recompute(run, top, as_csv, as_json, as_npy):
    trials = trials_of(run)
    early = [check_trial(run, trial, 3) for trial in trials]
    expect(any(early), "no trial stopped early: nothing is tested")
    check_choice(run, trials, top)
    rows = check_predictions(run, as_csv, as_json, as_npy)
    print(f"{len(trials)} trials, {rows} rows recomputed, ", end="")


# --- other rows ---


def same_file(run, other, path):
    with open(f"{run}/{path}", "rb") as one, open(f"{other}/{path}", "rb") as two:
        return one.read() == two.read()


def without(report, split):
    """A report without what is of a split."""
    report = json.loads(report)
    report["losses"].pop(split)
    report["files"] = [entry for entry in report["files"] if entry["name"] != split + ".npy"]
    return report


def unaffected(run, other):
    one, two = trials_of(run), trials_of(other)
    expect(len(one) == len(two), f"{len(one)} and {len(two)} trials")
    for a, b in zip(one, two):
        number = a["number"]
        for key in a:
            same = without(a[key], "test") == without(b[key], "test") if key == "report" else a[key] == b[key]
            expect(same, f"trial {number}: {key} depends on test rows: {a[key]} and {b[key]}")
        for file in ("validation.npy", "curve.csv", "network.json", "weights.safetensors"):
            path = f"trials/{number:06d}/{file}"
            expect(same_file(run, other, path), f"{path} depends on test rows")
        path = f"trials/{number:06d}/test.npy"
        expect(not same_file(run, other, path), f"{path} is the same: nothing is tested")
    expect(same_file(run, other, "ensemble.json"), "the ensemble depends on test rows")
    metrics = [{part["split"]: part["metrics"] for part in read_json(path + "/summary.json")["evaluation"]}
               for path in (run, other)]
    expect(metrics[0]["validation"] == metrics[1]["validation"], "metrics of validation rows depend on test rows")
    expect(metrics[0]["test"] != metrics[1]["test"], "metrics of test rows are the same: nothing is tested")


def led(run, other):
    one, two = ([trial["candidate"] for trial in trials_of(path)] for path in (run, other))
    expect(one != two, "no candidate depends on validation rows: nothing is tested")


def untrained(run, other):
    one, two = trials_of(run), trials_of(other)
    for a, b in zip(one, two):
        number = a["number"]
        expect(a["candidate"] == b["candidate"], f"trial {number}: the candidate depends on validation rows")
        for file in ("weights.safetensors", "test.npy"):
            path = f"trials/{number:06d}/{file}"
            expect(same_file(run, other, path), f"{path} depends on validation rows")
        train, other_train = ([epoch["train_loss"] for epoch in curve_of(r, number)] for r in (run, other))
        expect(train == other_train, f"trial {number}: the losses of training depend on validation rows")
        expect(a["loss"] != b["loss"], f"trial {number}: the same loss: nothing is tested")
    print(f"{len(one)} trials, ", end="")


# --- rows out of distribution ---


def auroc(run, inside, outside):
    """The probability that an outside row has the higher entropy, ties counting half, over all pairs."""
    members = read_json(run + "/ensemble.json")["members"]
    weights = np.array([member["weight"] for member in members])

    def scores(split):
        p = np.stack([np.load(f"{folder(run, member['trial'])}/{split}.npy") for member in members]).astype(float)
        return entropy(np.tensordot(weights, p, 1))

    a, b = scores(inside)[:, None], scores(outside)[None, :]
    return (b > a).mean() + 0.5 * (b == a).mean()


def ood(run, split):
    found = {part["split"]: {metric["name"]: metric["value"] for metric in part["metrics"]}
             for part in read_json(run + "/summary.json")["evaluation"]}
    expected = auroc(run, "test", split)
    close(found[split]["auroc-entropy"], expected, "auroc-entropy against test rows", 1e-9)
    expect(abs(expected - auroc(run, "validation", split)) > 1e-6, "validation rows give the same: nothing is tested")


if __name__ == "__main__":
    {"led": led, "ood": ood, "recompute": recompute, "unaffected": unaffected, "untrained": untrained}[sys.argv[1]](*sys.argv[2:])
    print(f"{len(faults)} faults")
    for fault in faults:
        print(fault)
    sys.exit(len(faults) > 0)
