#!/usr/bin/env python3
"""One refit and ask of a forest, ours beside scikit-learn's, one thread each, on the same data, turn by turn in some rounds:
forest_sklearn.py PROGRAM, where PROGRAM is the built tests/bench/forest. 100 trees on 1,000 observations, means and standard
deviations at 1,000 candidates; vectors of 9 reals, of 11 columns like AutoDEUQ's hyperparameters (two reals, two integers, a
choice of seven), and of 60 columns (four reals, five choices of 8 or 12). Prints both
processor times (refit + ask; in each round the best of as many on both sides), medians of the rounds, and the ratio with its range."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"
try:
    import numpy as np
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
except ModuleNotFoundError as error:
    sys.exit(f"{__doc__}\n\n{error}: install NumPy and scikit-learn (pip install numpy scikit-learn)")
from record import record

REPEATS = 4


def encoded(count, reals, integers, choices, random):
    columns = [random.random((count, reals)), random.integers(0, 11, (count, integers)) / 10]
    columns += [np.eye(choice)[random.integers(0, choice, count)] for choice in choices]
    return np.hstack(columns)


def moments(forest, points):
    """Mean and standard deviation by the law of total variance, a tree at a time."""
    mean, square = np.zeros(len(points)), np.zeros(len(points))
    points = points.astype(np.float32)
    for tree in forest.estimators_:
        leaves = tree.tree_.apply(points)
        value = tree.tree_.value[leaves, 0, 0]
        mean += value
        square += tree.tree_.impurity[leaves] + value**2
    mean /= len(forest.estimators_)
    return mean, np.sqrt(np.maximum(square / len(forest.estimators_) - mean**2, 0))


def theirs(splitter, trees, x, y, z, repeats):
    refit = ask = np.inf
    for _ in range(repeats):
        start = time.process_time()
        kind = RandomForestRegressor if splitter == "best" else ExtraTreesRegressor
        forest = kind(trees, random_state=0, n_jobs=1).fit(x, y)
        middle = time.process_time()
        moments(forest, z)
        refit, ask = min(refit, middle - start), min(ask, time.process_time() - middle)
    return refit, ask


def save(folder, **arrays):
    names = []
    for name, array in arrays.items():
        names.append(os.path.join(folder, name + ".npy"))
        np.save(names[-1], array)
    return names


def ours(program, folder, splitter, trees, names, repeats):
    settings = [f"splitter={splitter}", f"trees={trees}", "bootstrap=" + ("yes" if splitter == "best" else "no")]
    command = [program, *names, os.path.join(folder, "out"), str(repeats), *settings]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(words[0]), float(words[1])


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("program")
parser.add_argument("--trees", type=int, default=100)
parser.add_argument("--count", type=int, default=1000)
parser.add_argument("--rounds", type=int, default=5)
arguments = parser.parse_args()
random = np.random.default_rng(0)
with tempfile.TemporaryDirectory() as folder:
    for label, shape in (("9 reals", (9, 0, ())), ("11 columns", (2, 2, (7,))), ("60 columns", (4, 0, (8, 12, 12, 12, 12)))):
        x, z = (encoded(count, *shape, random) for count in (arguments.count, 1000))
        y = np.sin(3 * x) @ random.normal(size=x.shape[1]) + x[:, 0] * x[:, 3] + 0.05 * random.normal(size=len(x))
        files = save(folder, x=x, y=y, z=z)
        for splitter in ("best", "random"):
            mine, peers = [], []
            for _ in range(arguments.rounds):
                mine.append(ours(arguments.program, folder, splitter, arguments.trees, files, REPEATS))
                peers.append(theirs(splitter, arguments.trees, x, y, z, REPEATS))
            ratios = [sum(b) / sum(a) for a, b in zip(mine, peers)]
            (fit, ask), (theirs_fit, theirs_ask) = ([1e3 * statistics.median(part) for part in zip(*side)] for side in (mine, peers))
            print(f"{label}, {splitter}: ours {fit:.1f} + {ask:.1f} ms, scikit-learn {theirs_fit:.1f} + {theirs_ask:.1f} ms, ratio "
                  f"{statistics.median(ratios):.1f} ({min(ratios):.1f} - {max(ratios):.1f})", flush=True)
            record(f"a refit and ask of a forest, {label}, splitter {splitter}", "ms", fit + ask, theirs_fit + theirs_ask, "scikit-learn",
                   ratios)
