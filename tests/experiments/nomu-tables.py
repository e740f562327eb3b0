#!/usr/bin/env python3
"""nomu-tables.py DIRECTORY: the runs of nomu-tables.sh as tables in Markdown, beside the figures of the paper (Heiss et al., NOMU,
ICML 2022: Tables 1, 2, 5 to 8, 10 and 11). NLLs are without the constant (1/2) log 2 pi, as there. The row "all" has the median over all runs of
all functions, and its bootstrap interval, as Tables 7 and 8; of a method that lacks a function it has none. DIRECTORY/tables.tsv gets the same
numbers in full; nomu-tables.tsv beside this script keeps those that docs/nomu.md tells of.

Ranks are by the paper's rule, among all methods that are there (the paper's Table 1 has five): a method loses one rank to each other method that is
significantly better, that is, whose 95 % interval (of the median; for the test-bed of the mean) lies wholly below its own."""
import json
import math
import os
import random
import statistics
import sys

METHODS = {"nomu": "NOMU", "nomu-through": "NOMU, gradient through", "gp": "GP", "mc-dropout": "MCDO", "deep-ensemble": "DE",
           "hyper-deep-ensemble": "HDE", "hyper-deep-ensemble-star": "HDE*"}
PAPER = ["nomu", "gp", "mc-dropout", "deep-ensemble", "hyper-deep-ensemble", "hyper-deep-ensemble-star"]
HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
# Medians in the order of PAPER (Tables 5, 6); None where the text has lost the sign. Means of BNN (Table 10) and GAUSSIAN (Table 11) are without HDE*.
AUC = {"abs": (0.07, 0.14, 0.16, 0.08, 1.02, 0.72), "step": (0.29, 0.93, 0.25, 0.14, 1.90, 0.82), "kink": (0.08, 0.17, 0.22, 0.09, 1.81, 1.01),
       "square": (0.12, 0.16, 0.38, 0.14, 1.72, 1.86), "cubic": (0.07, 0.00, 0.10, 0.10, 0.63, 0.52), "sine1": (1.10, 1.14, 0.90, 1.21, 9.38, 9.75),
       "sine2": (0.38, 0.42, 0.36, 0.50, 3.18, 2.43), "sine3": (0.20, 0.31, 0.28, 0.20, 1.43, 1.33), "forrester": (0.19, 0.18, 0.26, 0.25, 1.28, 1.58),
       "levy": (0.40, 0.53, 0.38, 0.45, 3.43, 3.58)}
NLL = {"abs": (-2.85, -2.82, -1.76, -2.91, -0.19, -0.72), "step": (-1.04, -0.61, -0.78, -2.49, 0.61, -1.18), "kink": (-2.74, -2.64, -1.28, -2.81, 0.56, -0.35),
       "square": (-2.45, -3.80, -0.56, -2.27, 0.53, None), "cubic": (-2.98, -6.03, -2.41, -2.65, -0.77, -1.42), "sine1": (0.10, -0.06, 0.09, 0.09, 1.97, 1.65),
       "sine2": (-1.35, -1.48, -1.03, -0.92, 1.21, 0.45), "sine3": (-1.55, -1.69, -1.07, -1.66, 0.26, None), "forrester": (-1.98, -2.68, -1.10, -1.75, -0.11, -0.5),
       "levy": (-1.12, -0.93, -0.76, -1.04, 1.35, 0.74)}
BNN = {"1d": (-1.65, -1.08, -0.34, -0.38, 8.47), "2d": (-1.16, -0.52, -0.33, -0.77, 9.11), "5d": (-0.37, -0.33, -0.05, -0.13, 8.41),
       "10d": (-0.09, -0.11, 0.06, 0.10, 6.44), "20d": (0.15, 0.06, 0.18, 0.30, 3.58)}
GAUSSIAN = {"1d": (-1.91, -1.13, -0.49, -0.27, 8.95), "2d": (-1.55, -0.85, -0.62, -1.15, 7.92), "5d": (-0.77, -0.72, -0.47, -0.55, 9.68),
            "10d": (-1.36, -1.31, -1.08, -1.14, 5.16), "20d": (-1.70, -1.72, -1.52, -1.53, 0.99)}
# Medians over all runs (Tables 7 and 8).
ALL = {("1d", "width-coverage-area"): (0.21, 0.33, 0.30, 0.22, 2.04, 1.73), ("1d", "nll-min"): (-1.76, -1.74, -1.02, -1.75, 0.59, 0.04),
       ("2d", "width-coverage-area"): (0.42, 0.36, 0.45, 0.42, 5.06, 6.33), ("2d", "nll-min"): (-0.99, -1.07, -0.61, -0.95, 1.74, 1.58)}
DRAWS = 1000


def load(directory, name, method):
    """The run's summary; None where it has no result."""
    try:
        with open(os.path.join(directory, f"{name}-{method}", "summary.json"), encoding="utf-8") as file:
            return json.load(file)
    except OSError:
        return None


def read_all(directory, names, method, metric):
    """The same as read, of all runs of these functions together; None where one of them has no result."""
    values = []
    for name in names:
        summary = load(directory, name, method)
        if summary is None:
            return None
        values += [repeat["metrics"][metric] for repeat in summary["fit"]["repeats"] if "metrics" in repeat]
    if not values or any(not isinstance(v, (int, float)) for v in values):
        return None
    shift = HALF_LOG_TWO_PI if metric.startswith("nll") else 0
    generator = random.Random(0)
    medians = sorted(statistics.median(generator.choices(values, k=len(values))) for _ in range(DRAWS))
    tail = DRAWS * 25 // 1000
    return statistics.median(values) - shift, medians[tail] - shift, medians[-1 - tail] - shift, len(values)


def read(directory, name, method, metric):
    """(value, low, high, repeats): of the median, or of the mean for nll-common; None where the run has no result."""
    summary = load(directory, name, method)
    if summary is None:
        return None
    found = {m["name"]: m for m in summary["evaluation"][0]["metrics"]}[metric]
    mean = metric == "nll-common"
    shift = HALF_LOG_TWO_PI if metric.startswith("nll") else 0
    low, high = found["interval" if mean else "median_interval"]
    value = found["value" if mean else "median"]
    nan = float("nan")
    return (value - shift, nan if low is None else low - shift, nan if high is None else high - shift, summary["fit"]["finished"])


def ranks(cells):
    return [None if own is None else 1 + sum(other is not None and other[2] < own[1] for other in cells) for own in cells]


def text_of(cell, place, theirs):
    if cell is None:
        return "-"
    return f"{cell[0]:.2f} [{cell[1]:.2f}, {cell[2]:.2f}]; {place}" + ("" if theirs is None else f"; {theirs:.2f}")


def there(directory, rows):
    """Those of the functions that some method was fitted to."""
    return [row for row in rows if any(load(directory, row, m) for m in METHODS)]


def table(directory, title, metric, rows, paper):
    """A table of functions and methods; for the metrics of Tables 7 and 8 also of all functions together."""
    methods = [m for m in METHODS if any(read(directory, r, m, metric) for r in rows)]
    if not methods:
        return
    print(f"\n**{title}** (interval; rank; paper)\n")
    print("| | " + " | ".join(METHODS[m] for m in methods) + " | repeats |")
    print("|---" * (len(methods) + 2) + "|")
    totals = {m: [] for m in methods}
    for row in rows:
        cells = [read(directory, row, m, metric) for m in methods]
        if not any(cells):
            continue
        texts = []
        for method, cell, rank in zip(methods, cells, ranks(cells)):
            key = row.split("-", 1)[1]
            texts.append(text_of(cell, rank, dict(zip(PAPER, paper.get(key, ()))).get(method)))
            if cell is not None:
                totals[method].append(rank)
        print(f"| {row.split('-', 1)[1]} | " + " | ".join(texts) + f" | {max(c[3] for c in cells if c)} |")
    print("| mean rank | " + " | ".join(f"{sum(totals[m]) / len(totals[m]):.2f}" if totals[m] else "-" for m in methods) + " | |")
    theirs = ALL.get((rows[0].split("-", 1)[0], metric))
    if theirs:
        cells = [read_all(directory, there(directory, rows), m, metric) for m in methods]
        texts = [text_of(cell, rank, dict(zip(PAPER, theirs)).get(m)) for m, cell, rank in zip(methods, cells, ranks(cells))]
        print("| all | " + " | ".join(texts) + f" | {max((c[3] for c in cells if c), default=0)} |")


def keep(directory, cells, groups):
    """All numbers, a line for each run and metric."""
    with open(os.path.join(directory, "tables.tsv"), "w", encoding="utf-8") as file:
        file.write("function\tmethod\tmetric\tvalue\tlow\thigh\trepeats\n")
        for name in cells:
            for method in METHODS:
                for metric in ("width-coverage-area", "nll-min", "nll-common"):
                    found = read(directory, name, method, metric)
                    if found:
                        numbers = "\t".join(f"{v:.5g}" for v in found[:3])
                        file.write(f"{name}\t{method}\t{metric}\t{numbers}\t{found[3]}\n")
        for group, names in groups.items():
            for method in METHODS:
                for metric in ("width-coverage-area", "nll-min"):
                    found = read_all(directory, there(directory, names), method, metric)
                    if found:
                        numbers = "\t".join(f"{v:.5g}" for v in found[:3])
                        file.write(f"{group}-all\t{method}\t{metric}\t{numbers}\t{found[3]}\n")


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    directory = sys.argv[1]
    lines = [f"1d-{f}" for f in AUC]
    planes = sorted({n.rsplit("2d-", 1)[0] + "2d" for n in os.listdir(directory) if n.startswith("2d-")})
    bnns, gaussians = [f"bnn-{d}" for d in BNN], [f"gaussian-{d}" for d in GAUSSIAN]
    keep(directory, lines + planes + bnns + gaussians, {"1d": lines, "2d": planes})
    table(directory, "AUC, functions of one variable: medians", "width-coverage-area", lines, AUC)
    table(directory, "NLLmin, functions of one variable: medians", "nll-min", lines, NLL)
    table(directory, "AUC, functions of two variables: medians", "width-coverage-area", planes, {})
    table(directory, "NLLmin, functions of two variables: medians", "nll-min", planes, {})
    table(directory, "NLL at one c, test-bed: means", "nll-common", bnns, BNN)
    table(directory, "AUC, test-bed: medians", "width-coverage-area", bnns, {})
    table(directory, "NLL at one c, test-bed with normal inputs: means", "nll-common", gaussians, GAUSSIAN)


main()
