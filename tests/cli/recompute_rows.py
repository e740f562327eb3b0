#!/usr/bin/env python3
"""Recompute with NumPy what tutti compare --json says of rows that only one of two variants gets wrong:
recompute_rows.py COMPARISON. From the files of the run directories alone, in exact arithmetic where there is any; exits 1
with the figures that are off."""
import itertools
import json
import os
import sys
from fractions import Fraction
from math import comb

import numpy as np


def combine(weights, predictions):
    """Added up in the members' order: sums that tie do so to the last bit."""
    total = np.zeros(predictions.shape[1:])
    for weight, predicted in zip(weights, predictions):
        total += weight * predicted
    return total


def row_losses(run, split):
    with open(run + "/ensemble.json", encoding="utf-8") as file:
        ensemble = json.load(file)
    members = ensemble["members"]
    weights = [member["weight"] for member in members]
    predictions = np.stack([np.load(f"{run}/trials/{member['trial']:06d}/{split}.npy") for member in members]).astype(float)
    labels = f"{run}/splits/{split}-labels.npy"
    if not os.path.exists(labels):
        with open(run + "/data.json", encoding="utf-8") as file:
            origin = json.load(file).get("target_origin", 0)
        targets = np.load(f"{run}/splits/{split}-targets.npy").reshape(predictions.shape[1:3]) - origin
        return ((combine(weights, predictions[..., 0]) - targets) ** 2).sum(1)
    if ensemble["combination"] == "vote":
        predictions = np.eye(predictions.shape[2])[predictions.argmax(2)]
    return combine(weights, predictions).argmax(1) != np.load(labels)


def half(a, b):
    """I_1/2(1 + a, 1 + b)"""
    n = a + b + 1
    return Fraction(sum(comb(n, k) for k in range(b + 1)), 2**n)


def poisson_binomial(better):
    total = Fraction(0)
    for outcome in itertools.product((0, 1), repeat=len(better)):
        chance = Fraction(1)
        for won, p in zip(outcome, better):
            chance *= p if won else 1 - p
        total += chance * half(len(better) - sum(outcome), sum(outcome))
    return total


def main(path):
    with open(path, encoding="utf-8") as file:
        comparison = json.load(file)
    runs = comparison["runs"]
    losses = {run["run"]: row_losses(run["run"], comparison["split"]) for run in runs}
    names = [data_set["name"] for data_set in comparison["data_sets"]]
    faults = 0
    for duel in comparison["rows"]:
        sets = []
        for name in names:
            pairs = [half(int((losses[a["run"]] > losses[b["run"]]).sum()), int((losses[b["run"]] > losses[a["run"]]).sum()))
                     for a in runs for b in runs
                     if a["data_set"] == b["data_set"] == name and a["seed"] == b["seed"]
                     and a["variant"] == duel["one"] and b["variant"] == duel["other"]]
            sets.append(sum(pairs) / len(pairs) if pairs else None)
        expected = sets + [poisson_binomial([p for p in sets if p is not None])]
        for found, value in zip(duel["data_sets"] + [duel["better"]], expected):
            if (found is None) != (value is None) or (value is not None and abs(found - value) > 1e-12):
                faults += 1
                print(f"{duel['one']} and {duel['other']}: found {found}, expected {value}")
    print(f"{len(comparison['rows'])} duels recomputed, {faults} faults")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
