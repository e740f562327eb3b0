#!/usr/bin/env python3
"""The tables of nomu-bo.sh in Markdown: nomu-bo.py OUT DIMENSIONS SEEDS FUNCTIONS METHODS TSV, FUNCTIONS and METHODS as lists in quotes; TSV gets
the regrets of each run. nomu-bo.py TSV makes the tables of such a file again. Runs that are missing are left out, and the number of seeds stands behind
a mean that is of fewer. Ranks are by the rule that the paper's Table 4 follows (Heiss et al., NOMU, ICML 2022): one place down for each method that is
significantly better, that is, whose 95 % interval lies wholly below one's own; of a single seed there are none, and the means over functions have none.
The paper's means (Table 14) are those for a mean width of 0.5."""
import math
import pathlib
import sqlite3
import statistics
import sys

# Two-sided 95 % quantiles of Student's t, by degrees of freedom.
STUDENT = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262]
NAMES = {"nomu": "NOMU", "gp": "GP", "mc-dropout": "MCDO", "deep-ensemble": "DE", "hyper-deep-ensemble": "HDE", "plain-gp": "pGP", "random": "random"}
# After 64 steps, in the order of NAMES.
PAPER = {
    ("levy", 5): (1.52e-3, 8.84e-3, 1.27e-2, 9.09e-2, 3.76e-3, 6.25e-3, 5.44e-2),
    ("rosenbrock", 5): (3.57e-4, 8.44e-4, 7.35e-4, 5.96e-3, 5.02e-4, 7.56e-4, 4.73e-3),
    ("g", 5): (0.106, 0.260, 7.80e-2, 0.203, 0.137, 0.178, 0.363),
    ("perm", 5): (2.58e-4, 1.80e-3, 7.11e-5, 1.73e-3, 2.50e-3, 2.06e-4, 4.62e-4),
    ("bnn", 5): (3.56e-2, 4.41e-2, 0.151, 6.32e-2, 0.213, 2.15e-2, 0.542),
    ("mean", 5): (2.87e-2, 6.31e-2, 4.86e-2, 7.30e-2, 7.13e-2, 4.14e-2, 0.193),
    ("levy", 10): (6.27e-3, 1.04e-2, 2.17e-2, 0.146, 5.81e-3, 6.16e-3, 0.106),
    ("mean", 10): (9.18e-2, 0.121, 0.120, 0.133, 9.32e-2, 9.46e-2, 0.235),
    ("levy", 20): (1.40e-2, 2.64e-2, 6.91e-2, 0.201, 1.61e-2, 1.98e-2, 0.148),
    ("mean", 20): (0.112, 0.134, 0.162, 0.209, 0.140, 0.117, 0.280),
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


def rank(own, others):
    """One place down for each of the others whose interval lies wholly below. All are (mean, half)."""
    return 1 + sum(mean + half < own[0] - own[1] for mean, half in others)


def number(value):
    return f"{value:.3f}" if value >= 0.1 else f"{value:.4f}" if value >= 0.01 else f"{value:.1e}" if value else "0"


def table(step, found, dimensions, functions, methods, seeds):
    """`found`: {(function, method): regrets after this step, one of each seed}."""
    print(f"\n**Regret after {step} steps, {dimensions} dimensions**\n")
    print("| | " + " | ".join(NAMES[m] for m in methods) + " |\n" + "|---" * (len(methods) + 1) + "|")
    means = {key: statistics.mean(values) for key, values in found.items() if values}
    for method in methods:
        own = [means.get((f, method)) for f in functions]
        if None not in own:
            means["mean", method] = statistics.mean(own)
    for row in [*functions, *(["mean"] if len(functions) > 1 else [])]:
        cells = []
        for method in methods:
            if (row, method) not in means:
                cells.append("-")
                continue
            values = found.get((row, method), [])
            text = number(means[row, method])
            if len(values) > 1:
                text += f" ± {number(mean_and_half(values)[1])}"
            text += f" ({len(values)})" if 0 < len(values) < seeds else ""
            if len(values) > 1:
                text += f"; {rank(mean_and_half(values), [mean_and_half(found[row, m]) for m in methods if (row, m) in found])}"
            theirs = dict(zip(NAMES, PAPER.get((row, dimensions), ()))).get(method)
            cells.append(text + (f"; {number(theirs)}" if theirs and step == 64 else ""))
        print(f"| {row} | " + " | ".join(cells) + " |")


def again(path):
    """The tables of a file of regrets."""
    lines = [line.split("\t") for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()[1:]]
    for dimensions in sorted({int(line[1]) for line in lines}):
        own = [line for line in lines if int(line[1]) == dimensions]
        functions, methods = list(dict.fromkeys(line[0] for line in own)), [m for m in NAMES if any(line[2] == m for line in own)]
        for step, column in ((24, 4), (64, 5)):
            found = {}
            for line in own:
                found.setdefault((line[0], line[2]), []).append(float(line[column]))
            table(step, found, dimensions, functions, methods, max(len(values) for values in found.values()))


def main():
    if len(sys.argv) == 2 and pathlib.Path(sys.argv[1]).is_file():
        again(sys.argv[1])
        return
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    out, dimensions, seeds = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    functions, methods = sys.argv[4].split(), sys.argv[5].split()
    found = ({}, {})
    rows = ["function\tdimensions\tmethod\tseed\tregret-24\tregret-64"]
    for function in functions:
        for method in methods:
            for seed in range(1, seeds + 1):
                run = losses(out / f"{function}-{dimensions}-{method}-{seed}")
                if not run:
                    continue
                best = least(out, function, dimensions, seed, methods)
                regrets = [(min(run[:count]) - best) / abs(best) for count in (8 + 24, 8 + 64)]
                for to, regret in zip(found, regrets):
                    to.setdefault((function, method), []).append(regret)
                rows.append("\t".join(map(str, [function, dimensions, method, seed, *(f"{r:.4g}" for r in regrets)])))
    for step, regrets in zip((24, 64), found):
        table(step, regrets, dimensions, functions, methods, seeds)
    pathlib.Path(sys.argv[6]).write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
