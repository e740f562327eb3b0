#!/usr/bin/env python3
"""OTMANN distances, four structural weights, ours beside POT's network simplex with NumPy cost matrices, one thread each, over all pairs of
the golden networks, turn by turn in some rounds: otmann_pot.py PROGRAM, where PROGRAM is the built tests/bench/otmann. Prints both times a
pair (in each round the best of as many on both sides), medians of the rounds, the ratio with its range, and both worst relative
differences from the golden numbers."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"
try:
    import numpy as np
    import ot
except ModuleNotFoundError as error:
    sys.exit(f"{__doc__}\n\n{error}: install NumPy and POT (pip install numpy pot)")
from record import record

WEIGHTS = (0.1, 0.25, 0.61, 1.5)
REPEATS = 3


def prepare(network, numbers):
    """Numbers of the labels, masses, path lengths [paths][layers]: what is there before the clock starts."""
    return (np.array([numbers[layer["label"]] for layer in network["layers"]]),
            np.array(network["masses"]["fc_coeff_0.1"], float),
            np.array([lengths for group in network["path_lengths"].values() for lengths in group], float))


def distance(mismatch, a, b):
    """The paper's program, scaled to mass 1; infinite costs are 2, which the dummy row and column undercut."""
    labels_a, masses_a, lengths_a = a
    labels_b, masses_b, lengths_b = b
    total = masses_a.sum() + masses_b.sum()
    supplies = np.append(masses_a, masses_b.sum()) / total
    demands = np.append(masses_b, masses_a.sum()) / total
    label_costs = mismatch[np.ix_(labels_a, labels_b)]
    structure = np.abs(lengths_a[:, :, None] - lengths_b[:, None, :]).mean(0)
    costs = np.ones((len(supplies), len(demands)))
    costs[-1, -1] = 0
    out = []
    for weight in WEIGHTS:
        costs[:-1, :-1] = np.minimum(label_costs + weight * structure, 2)
        out.append((ot.emd(supplies, demands, costs) * costs).sum() * total)
    return out


def peer(data):
    """Microseconds a pair and the worst relative difference."""
    published = next(d for d in data["distances"] if d["config"] == "ref_head")
    golden = [next(w["d"] for w in published["by_structure"] if w["weight"] == weight) for weight in WEIGHTS]
    numbers = {label: i for i, label in enumerate(published["labels"])}
    mismatch = np.array([[2 if m is None else m for m in row] for row in published["M"]], float)
    networks = [prepare(network, numbers) for network in data["networks"]]
    pairs = [(i, k) for i in range(len(networks)) for k in range(i)]
    start = time.perf_counter()
    found = [distance(mismatch, networks[i], networks[k]) for i, k in pairs]
    elapsed = time.perf_counter() - start
    worst = max(abs(d - g[i][k]) / g[i][k] for (i, k), ds in zip(pairs, found) for d, g in zip(ds, golden))
    return elapsed / len(pairs) * 1e6, worst


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    a = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    sets = json.loads((root / "tests/golden/otmann.json").read_text())["sets"]
    ours, theirs = {}, {}
    for _ in range(a.rounds):
        output = subprocess.run([a.program, str(REPEATS)], check=True, capture_output=True, text=True,
                                env={**os.environ, "srcdir": str(root)}).stdout
        for line in output.splitlines():
            name, _, microseconds, worst = line.split()
            ours.setdefault(name, []).append((float(microseconds), float(worst)))
            theirs.setdefault(name, []).append(min(peer(sets[name]) for _ in range(REPEATS)))
    for name in ours:
        (own, own_worst), (other, other_worst) = ([statistics.median(part) for part in zip(*side[name])] for side in (ours, theirs))
        ratios = [b / a for (a, _), (b, _) in zip(ours[name], theirs[name])]
        print(f"{name:8} POT {other:7.1f} us   tutti {own:6.2f} us   ratio {statistics.median(ratios):5.1f} ({min(ratios):.1f} - "
              f"{max(ratios):.1f})   off by {other_worst:.0e}, {own_worst:.0e}")
        record(f"OTMANN distances of a pair, set {name}", "us", own, other, "POT", ratios)


if __name__ == "__main__":
    main()
