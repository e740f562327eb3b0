#!/usr/bin/env python3
"""The table of nomu-bo.sh: nomu-bo.py OUT DIMENSIONS SEEDS FUNCTIONS METHODS TSV, FUNCTIONS and METHODS as lists in quotes; TSV gets the regrets
of each run. Runs that are missing are left out, and the number of seeds that a mean is of stands behind it."""
import math
import pathlib
import sqlite3
import statistics
import sys

# Two-sided 95 % quantiles of Student's t, by degrees of freedom.
STUDENT = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]
# Average regret over the five functions in Table 4.
PAPER = {
    5: {"nomu": 0.0287, "gp": 0.0503, "mc-dropout": 0.0470, "deep-ensemble": 0.0518, "hyper-deep-ensemble": 0.0713, "random": 0.193},
    10: {"nomu": 0.0840, "gp": 0.117, "mc-dropout": 0.0696, "deep-ensemble": 0.115, "hyper-deep-ensemble": 0.0932, "random": 0.235},
    20: {"nomu": 0.112, "gp": 0.133, "mc-dropout": 0.139, "deep-ensemble": 0.171, "hyper-deep-ensemble": 0.137, "random": 0.280},
}


def losses(run):
    """Losses in the order of trials, or None if the run has not finished."""
    if not (run / "summary.json").exists():
        return None
    with sqlite3.connect(f"file:{run}/catalogue.sqlite?mode=ro", uri=True) as catalogue:
        return [row[0] for row in catalogue.execute("SELECT loss FROM trials WHERE loss IS NOT NULL ORDER BY number")]


def least(out, function, dimensions, seed, methods):
    """The least value: -1 where it is scaled; of bnn the least that anybody found."""
    if function != "bnn":
        return -1.0
    runs = [losses(out / f"bnn-{dimensions}-{name}-{seed}") for name in ["least", *methods]]
    return min(min(run) for run in runs if run)


def mean_and_half(values):
    half = math.nan
    if 2 <= len(values) <= len(STUDENT):
        half = STUDENT[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))
    return statistics.mean(values), half


def main():
    out, dimensions, seeds = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    functions, methods = sys.argv[4].split(), sys.argv[5].split()
    averages = {method: [] for method in methods}
    rows = ["function\tdimensions\tmethod\tseed\tregret-24\tregret-64"]
    print(f"{'function':<12} {'method':<20} {'after 24 steps':>22} {'after 64 steps':>22} {'seeds':>5}")
    for function in functions:
        for method in methods:
            regrets = ([], [])
            for seed in range(1, seeds + 1):
                run = losses(out / f"{function}-{dimensions}-{method}-{seed}")
                if not run:
                    continue
                best = least(out, function, dimensions, seed, methods)
                for to, count in zip(regrets, (8 + 24, 8 + 64)):
                    to.append((min(run[:count]) - best) / abs(best))
                rows.append("\t".join(map(str, [function, dimensions, method, seed, f"{regrets[0][-1]:.4g}", f"{regrets[1][-1]:.4g}"])))
            if not regrets[0]:
                continue
            cells = ["{:.2e} +- {:.1e}".format(*mean_and_half(r)) for r in regrets]
            averages[method].append(statistics.mean(regrets[1]))
            print(f"{function:<12} {method:<20} {cells[0]:>22} {cells[1]:>22} {len(regrets[0]):>5}")
    print(f"\n{'average':<12} {'method':<20} {'after 64 steps':>22} {'functions':>10} {'paper, 5 functions':>20}")
    for method, values in averages.items():
        if values:
            paper = PAPER.get(dimensions, {}).get(method, math.nan)
            print(f"{dimensions:>2} dim.      {method:<20} {statistics.mean(values):>22.2e} {len(values):>10} {paper:>20.2e}")
    pathlib.Path(sys.argv[6]).write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
