#!/usr/bin/env python3
"""Forward selection by a loss, ours beside NumPy's, one thread each, on the same array, turn by turn in some rounds: select_numpy.py
PROGRAM, where PROGRAM is the built tests/bench/select. Prints both times (in each round the best of five), medians of the rounds,
the ratio with its range, whether the picks are the same, and the losses' smallest margin in float64 when they are not."""
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
except ModuleNotFoundError as error:
    sys.exit(f"{__doc__}\n\n{error}: install NumPy (pip install numpy)")
from record import record

REPEATS = 5


def make(models, rows, classes):
    random = np.random.default_rng(0)
    labels = random.integers(0, classes, rows)
    logits = random.normal(size=(models, rows, classes)).astype(np.float32)
    logits[:, np.arange(rows), labels] += 2
    p = np.exp(logits - logits.max(2, keepdims=True))
    p /= p.sum(2, keepdims=True)
    return p, labels


def losses_of(loss, p, labels, real):
    """What is summed over members, and the loss of a sum of m: the strongest NumPy versions known to us."""
    rows = np.arange(p.shape[1])
    if loss == "nll":  # only the true class's column counts
        return np.ascontiguousarray(p[:, rows, labels]).astype(real, copy=False), lambda s, m: -np.log(s / m).mean()
    if loss == "error":
        return p, lambda s, m: (s.argmax(1) != labels).mean()
    truth = np.zeros(p.shape[1:], real)
    truth[rows, labels] = 1
    return p - truth, lambda s, m: np.einsum("nc,nc->", s, s) / m ** 2 / len(s)


def forward(p, labels, members, real, loss):
    q, loss_of = losses_of(loss, p, labels, real)
    total, left, picks = np.zeros(q.shape[1:], real), list(range(len(q))), []
    for m in range(members):
        pick = left[int(np.argmin([loss_of(total + q[k], m + 1) for k in left]))]
        picks.append(pick)
        left.remove(pick)
        total += q[pick]
    return picks


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    for name, value in (("models", 400), ("rows", 10000), ("classes", 10), ("members", 30), ("rounds", 5)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--loss", choices=("nll", "error", "brier"), default="nll")
    a = parser.parse_args()
    p, labels = make(a.models, a.rows, a.classes)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        np.save(folder + "/p.npy", p)
        np.save(folder + "/y.npy", labels)
        for _ in range(a.rounds if a.loss == "nll" else 1):
            found = [timed(forward, p, labels, a.members, np.float32, a.loss) for _ in range(REPEATS if a.loss == "nll" else 1)]
            numpy_picks = found[0][1]
            theirs.append(min(seconds for seconds, _ in found))
            output = subprocess.run([a.program, folder + "/p.npy", folder + "/y.npy", str(a.members), str(REPEATS), a.loss], check=True,
                                    capture_output=True, text=True).stdout.split()
            ours.append(float(output[0]))
            picks = [int(pick) for pick in output[1:]]
    mine, peer, ratios = statistics.median(ours), statistics.median(theirs), [b / a for a, b in zip(ours, theirs)]
    print(f"NumPy  {peer * 1e3:8.1f} ms\ntutti  {mine * 1e3:8.1f} ms\nratio  {statistics.median(ratios):8.1f} "
          f"({min(ratios):.1f} - {max(ratios):.1f})")
    print("picks  " + ("the same" if picks == numpy_picks else f"differ: {picks} {numpy_picks}"))
    if picks != numpy_picks:
        print("float64 picks  " + ("ours" if picks == forward(p, labels, a.members, np.float64, a.loss) else "not ours"))
        return 1
    record(f"forward selection by {a.loss}, {a.members} of {a.models} models", "ms", 1e3 * mine, 1e3 * peer, "NumPy",
           ratios)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
