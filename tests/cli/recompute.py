#!/usr/bin/env python3
"""Recompute with NumPy what a finished run reports: recompute.py RUN. From the files of its directory alone: every
metric of every split after its definition in docs/metrics.md, and the picks of selector forward by NLL. Written without a
look at the library; exits 1 with the metrics that are off by more than 1e-6 relative."""
import configparser
import json
import math
import os
import statistics
import sys

import numpy as np

FLOOR = float(np.finfo(np.float32).tiny)
erf = np.vectorize(math.erf)


def cdf(z):
    return 0.5 * (1 + erf(z / math.sqrt(2)))


def gaussian_nll(mean, variance, y):
    return 0.5 * (y - mean) ** 2 / variance + 0.5 * np.log(2 * math.pi * variance)


def distance(mean, variance):
    """E|X| of a normal X."""
    s = np.sqrt(variance)
    z = mean / s
    return 2 * s * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) + mean * (2 * cdf(z) - 1)


def log_mean(log_values, weights):
    top = log_values.max(0)
    return top + np.log(np.tensordot(weights, np.exp(log_values - top), 1))


def entropy(p):
    return -np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(-1)


def area(scores, positive):
    """P(a positive row scores higher than another one), ties counting half, from all pairs."""
    a, b = scores[positive], scores[~positive]
    return np.mean((a[:, None] > b) + 0.5 * (a[:, None] == b)) if len(a) and len(b) else math.nan


def risk(scores, losses):
    """Mean over n of the mean loss of the n rows with the least scores; ties share their losses."""
    shared = np.array([losses[scores == s].mean() for s in scores])[np.argsort(scores, kind="stable")]
    return np.mean(np.cumsum(shared) / np.arange(1, len(shared) + 1))


def f1s(label, y, classes):
    hits, size = [(label == c) & (y == c) for c in range(classes)], [(label == c).sum() + (y == c).sum() for c in range(classes)]
    return [2 * h.sum() / n for h, n in zip(hits, size) if n]


def quantiles(m, v, w, p):
    """Of mixtures, [rows][outputs], by bisection."""
    low, high = (m - 40 * np.sqrt(v)).min(0), (m + 40 * np.sqrt(v)).max(0)
    for _ in range(120):
        middle = (low + high) / 2
        below = np.tensordot(w, cdf((middle - m) / np.sqrt(v)), 1) < p
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def classification(p, own, y, w, picks, options):
    """p [members][rows][classes], own [members][rows] (what members tell of themselves; NaN: nothing), y [rows], w
    [members]"""
    rows = np.arange(len(y))
    mean = np.tensordot(w, p, 1)
    nll = -np.log(np.maximum(p[:, rows, y], FLOOR))
    labels, label = p.argmax(2), mean.argmax(1)
    wrong = labels != y
    count = int(options["bins"])
    oracle = p[nll.argmin(0), rows]

    def ece(predicted):
        confidence = predicted.max(1)
        right, bins = predicted.argmax(1) == y, np.clip(np.ceil(confidence * count) - 1, 0, count - 1)
        return sum(abs(right[bins == b].sum() - confidence[bins == b].sum()) for b in range(count)) / len(y)

    within = w @ np.nan_to_num(own)
    expected = {
        "nll": -np.log(np.maximum(mean[rows, y], FLOOR)).mean(), "error": (label != y).mean(),
        "auc": np.nanmean([area(mean[:, c], y == c) for c in range(p.shape[2] == 2, p.shape[2])]),
        "macro-f1": np.mean(f1s(label, y, p.shape[2])), "aurc": risk(1 - mean.max(1), 1.0 * (label != y)),
        "auroc-error": area(1 - mean.max(1), label != y),
        "brier": ((mean - np.eye(p.shape[2])[y]) ** 2).sum(1).mean(), "ece": ece(mean),
        "entropy": entropy(mean).mean(), "expected-entropy": (w @ entropy(p) - within).mean(),
        "mutual-information": (entropy(mean) - w @ entropy(p) + within).mean(),
        "oracle-nll": nll.min(0).mean(), "oracle-error": (oracle.argmax(1) != y).mean(), "oracle-ece": ece(oracle),
        "all-wrong": wrong.all(0).mean(),
        "average-nll": (w @ nll).mean(), "average-error": (w @ wrong).mean(), "average-ece": w @ [ece(q) for q in p],
    }
    if not np.isnan(own).all():
        expected["mutual-information-between"] = (entropy(mean) - w @ entropy(p)).mean()
        expected["mutual-information-within"] = within.mean()
    pairs = [(i, j) for i in range(len(p)) for j in range(i)]
    if pairs:
        differ = [(labels[i] != labels[j]).mean() for i, j in pairs]
        error = [(wrong[i].mean() + wrong[j].mean()) / 2 for i, j in pairs]
        expected["disagreement"] = np.mean(differ)
        expected["normalised-disagreement"] = np.mean([d / e if e else 0 for d, e in zip(differ, error)])
    return expected


def regression(p, own, y, w, picks, options):
    """p [members][rows][outputs][2], own [members][rows][outputs] (the parts of the variances that members tell as their
    own; NaN: nothing), y [rows][outputs], w [members]; they count so many picks, or none"""
    m, v = p[..., 0], np.maximum(p[..., 1], FLOOR)
    within = np.tensordot(w, np.nan_to_num(own), 1)
    mean, aleatoric = np.tensordot(w, m, 1), np.tensordot(w, v - np.nan_to_num(own), 1)
    spread = np.tensordot(w, (m - mean) ** 2, 1)
    if options["epistemic"] == "picks" and picks > 1:
        between = spread * picks / (picks - 1)
    elif options["epistemic"] == "population" or len(w) == 1:
        between = spread
    else:
        between = spread / (1 - (w ** 2).sum())
    epistemic = between + within
    total = aleatoric + epistemic
    s, error = np.sqrt(total), y - mean
    z = error / s
    nlls = gaussian_nll(m, v, y).sum(2)
    among = sum(w[i] * w[j] * distance(m[i] - m[j], v[i] + v[j]) for i in range(len(w)) for j in range(len(w)))
    crps = np.tensordot(w, distance(y - m, v), 1) - 0.5 * among
    half = statistics.NormalDist().inv_cdf((1 + float(options["level"])) / 2)
    levels = np.arange(1, 20) / 20
    squares = (error ** 2).mean(1)
    level = float(options["level"])
    ends = {l: [quantiles(m, v, w, 0.5 + side * l / 2) for side in (-1, 1)] for l in {0.5, 0.8, 0.9, 0.95, level}}
    inside = {l: ((lower <= y) & (y <= upper)).mean() for l, (lower, upper) in ends.items()}
    lower, upper = ends[level]
    outside = np.maximum(0, np.maximum(lower - y, y - upper))
    told = {} if np.isnan(own).all() else {
        "epistemic-between": math.sqrt(between.mean()), "epistemic-within": math.sqrt(within.mean())}
    return {
        "nll": -log_mean(-nlls, w).mean(), "nll-moments": gaussian_nll(mean, total, y).sum(1).mean(),
        "rmse": math.sqrt(squares.mean()), "mae": abs(error).mean(),
        "r2": (1 - (error ** 2).sum(0) / ((y - y.mean(0)) ** 2).sum(0)).mean(), "crps": crps.mean(),
        "crps-moments": (distance(error, total) - 0.5 * distance(0 * error, 2 * total)).mean(),
        "coverage-50": inside[0.5], "coverage-80": inside[0.8], "coverage-90": inside[0.9], "coverage-95": inside[0.95],
        "interval-width": (upper - lower).mean(),
        "interval-score": (upper - lower + 2 / (1 - level) * outside).mean(),
        "aurc": np.mean([risk(total[:, o], abs(error[:, o])) for o in range(y.shape[1])]),
        "coverage": (abs(z) <= half).mean(), "width": (2 * half * s).mean(),
        "calibration-error": np.mean([abs((cdf(z) <= q).mean(0) - q) for q in levels]),
        "width-coverage-area": (2 * s.mean(0) * abs(z).mean(0)).mean(),
        "nll-min": (np.log(s).mean(0) + 0.5 * np.log((z ** 2).mean(0)) + 0.5 + 0.5 * math.log(2 * math.pi)).sum(),
        "aleatoric": math.sqrt(aleatoric.mean()), "epistemic": math.sqrt(epistemic.mean()),
        "oracle-nll": nlls.min(0).mean(),
        "oracle-rmse": math.sqrt(((y - m) ** 2).mean(2).min(0).mean()), "average-nll": (w @ nlls).mean(),
        "average-rmse": w @ np.sqrt(((y - m) ** 2).mean((1, 2))), **told,
    }


def forward(p, y, size):
    """Positions that selector forward takes by NLL, from scratch at each step."""
    if p.ndim == 3:
        logs = np.log(np.maximum(p[:, np.arange(len(y)), y], FLOOR))
    else:
        logs = -gaussian_nll(p[..., 0], np.maximum(p[..., 1], FLOOR), y).sum(2)
    picks = []
    while len(picks) < min(size, len(p)):
        losses = [np.inf if k in picks else -log_mean(logs[picks + [k]], np.full(len(picks) + 1, 1 / (len(picks) + 1))).mean()
                  for k in range(len(p))]
        picks.append(int(np.argmin(losses)))
    return picks


def evaluation_section(run):
    """The keys of [evaluation] in the effective recipe."""
    recipe = configparser.RawConfigParser(inline_comment_prefixes=(";",))
    recipe.read(run + "/recipe.ini")
    return recipe["evaluation"]


# How different members are made is no function of predictions.
ELSEWHERE = {"architecture-diversity", "architecture-distance", "hyperparameter-distance"}


def complaints(found, expected):
    """What is wrong with the metrics that a run reports of a split; null is what is not known."""
    for name in sorted((set(found) | set(expected)) - ELSEWHERE):
        if name not in expected:
            yield f"{name} is not known here: write its definition into recompute.py"
        elif name not in found:
            yield f"{name} is missing"
        else:
            a, b = math.nan if found[name] is None else found[name], expected[name]
            if not (abs(a - b) <= 1e-6 * abs(b) + 1e-9 or math.isnan(a) and math.isnan(b)):
                yield f"{name} is {a}, expected {b}"


def main(run):
    with open(run + "/summary.json", encoding="utf-8") as file:
        summary = json.load(file)
    truth = "labels" if summary["task"] == "classification" else "targets"
    members = [(member["trial"], member["weight"]) for member in summary["ensemble"]["members"]]
    picks = sum(member.get("picks", 0) for member in summary["ensemble"]["members"])

    with open(run + "/data.json", encoding="utf-8") as file:
        origin = json.load(file).get("target_origin", 0)

    def parts(split, trial, shape):
        path = f"{run}/trials/{trial:06d}/{split}-epistemic.npy"
        return np.load(path).astype(float) if os.path.exists(path) else np.full(shape, math.nan)

    def load(split, trials):
        targets = np.load(f"{run}/splits/{split}-{truth}.npy")
        if truth == "targets":
            targets = targets - origin
        predictions = np.stack([np.load(f"{run}/trials/{trial:06d}/{split}.npy") for trial in trials]).astype(float)
        return predictions, targets

    faults, options = 0, evaluation_section(run)
    for part in summary["evaluation"]:
        p, y = load(part["split"], [trial for trial, _ in members])
        weights = np.array([weight for _, weight in members])
        own = np.stack([parts(part["split"], trial, p.shape[1:-1]) for trial, _ in members])
        expected = (classification if p.ndim == 3 else regression)(p, own, y, weights, picks, options)
        found = {metric["name"]: metric["value"] for metric in part["metrics"]}
        for complaint in complaints(found, expected):
            faults += 1
            print(f"{part['split']}: {complaint}")
        # Of several targets, each alone: as if there were no others.
        targets = part.get("targets", [])
        if len(targets) != (p.shape[2] if p.ndim == 4 and p.shape[2] > 1 else 0):
            faults += 1
            print(f"{part['split']}: {len(targets)} targets have metrics of their own")
        for o, target in enumerate(targets):
            one = slice(o, o + 1)
            expected = regression(p[:, :, one], own[:, :, one], y[:, one], weights, picks, options)
            found = {metric["name"]: metric["value"] for metric in target["metrics"]}
            for complaint in complaints(found, expected):
                faults += 1
                print(f"{part['split']}, {target['target']}: {complaint}")
    if summary["ensemble"]["selector"] == "forward":
        p, y = load("validation", range(summary["trials"]["done"]))
        picks = forward(p, y, len(members))
        if picks != [trial for trial, _ in members]:
            faults += 1
            print(f"forward chose {members}, expected {picks}")
    print(f"{len(summary['evaluation'])} splits recomputed, {faults} faults")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
