"""Prints what `tutti compare --json` says about a space of smbo-tables.sh, beside the paper's Tables 1 and 2.

    smbo-tables.py show|figures SPACE FILE.json

show: shares of pairs won and mean ranks, "ours / the paper's" in each cell. Behind ours: + and ++ where the Poisson-binomial test is above
.8 and .9, * and ** where p of the one-sided sign test is at most .1 and .05. (The paper shows both tests as coloured dots.) The paper's
E[rank] is the mean rank with ties at the mean of their places: each of its rows is 1 plus the shares lost to the others.
figures: mean rank, and the Poisson-binomial probability of pairs, over the number of models.
"""
import json
import sys

METHODS = {("smbo-ensemble", "agnostic-bayes"): "ESMBO", ("bo", "top-m"): "SMBO",
           ("nes-rs", "agnostic-bayes"): "ERS", ("nes-rs", "top-m"): "RS"}

# The paper's order, shares won by the row's method, and ranks.
PAPER = {
    "svr": ("ESMBO ERS SMBO RS", ".50 .66 .82 .86 .34 .50 .50 .77 .18 .50 .50 .64 .14 .23 .36 .50", "1.66 2.38 2.68 3.27"),
    "boostingr": ("ERS ESMBO RS SMBO", ".50 .52 .77 .86 .48 .50 .77 .91 .23 .23 .50 .42 .14 .09 .58 .50", "1.84 1.85 3.12 3.19"),
    "forestr": ("ESMBO ERS SMBO RS", ".50 .53 .76 .91 .47 .50 .72 1.00 .24 .28 .50 .66 .09 .00 .34 .50", "1.80 1.81 2.82 3.57"),
    "svm": ("ESMBO RS SMBO ERS", ".50 .54 .55 .56 .46 .50 .51 .51 .45 .49 .50 .53 .44 .49 .47 .50", "2.35 2.52 2.54 2.59"),
    "boosting": ("ESMBO ERS RS SMBO", ".50 .51 .59 .65 .49 .50 .59 .64 .41 .41 .50 .55 .35 .36 .45 .50", "2.25 2.28 2.64 2.83"),
    "forest": ("ERS ESMBO RS SMBO", ".50 .52 .60 .64 .48 .50 .60 .67 .40 .40 .50 .57 .36 .33 .43 .50", "2.24 2.25 2.63 2.89"),
    "mlp": ("ESMBO SMBO ERS RS", ".50 .57 .76 .75 .43 .50 .68 .68 .24 .32 .50 .54 .25 .32 .46 .50", "1.92 2.21 2.91 2.96"),
}
NAMES = {"svr": "Support vector regressor", "boostingr": "Gradient boosting regressor", "forestr": "Random forest, regression",
         "svm": "Support vector machine", "boosting": "Gradient boosting classifier", "forest": "Random forest, classification",
         "mlp": "Multilayer perceptron", "mlpr": "Multilayer perceptron, regression"}
PAIRS = [("ESMBO", "SMBO"), ("ESMBO", "ERS"), ("SMBO", "RS"), ("SMBO", "ERS")]


def number(value):
    """.66, 1.92, or a dash."""
    if value is None:
        return "-"
    text = f"{value:.2f}"
    return text[1:] if text.startswith("0.") else text


def methods_of(comparison):
    """Which variant is which method."""
    found = {}
    for index, variant in enumerate(comparison["variants"]):
        settings = variant["settings"]
        name = METHODS.get((settings.get("builder.plugin"), settings.get("selector.plugin")))
        if name:
            found[name] = index
    return found


def duel_of(duels, one, other):
    """The duel of two variants, and whether it is the other way round."""
    for duel in duels:
        if (duel["one"], duel["other"]) == (one, other):
            return duel, False
        if (duel["one"], duel["other"]) == (other, one):
            return duel, True
    return None, False


def better_of(rows, one, other):
    duel, turned = duel_of(rows, one, other)
    return None if duel is None or duel["better"] is None else 1 - duel["better"] if turned else duel["better"]


def cell(metric, rows, one, other):
    """The share of pairs that `one` wins, with what the two tests say."""
    duel, turned = duel_of(metric["duels"], one, other)
    if duel is None or duel["frequency"] is None:
        return "-"
    share = 1 - duel["frequency"] if turned else duel["frequency"]
    p = duel["p_other" if turned else "p_one"]
    better = better_of(rows, one, other) or 0
    return number(share) + ("++" if better > .9 else "+" if better > .8 else "") + ("**" if p <= .05 else "*" if p <= .1 else "")


def metric_of(comparison, part):
    wanted = "error" if any(m["name"] == "error" for m in part["metrics"]) else "rmse"
    return next((m for m in part["metrics"] if m["name"] == wanted), None)


def show(space, comparison):
    last, methods = comparison["last"], methods_of(comparison)
    metric = metric_of(comparison, last)
    order, shares, ranks = (text.split() for text in PAPER.get(space, ("ESMBO SMBO ERS RS", "", "")))
    print(f"\n{NAMES[space]}, data sets: {len(comparison['data_sets'])}, splits: {metric['placings'][0]['ranked']}, means after "
          f"{last['trials'][0]} to {last['trials'][-1]} models\n")
    print("| " + NAMES[space] + " | " + " | ".join(order) + " | rank |")
    print("|---" * (len(order) + 2) + "|")
    for i, one in enumerate(order):
        cells = []
        for j, other in enumerate(order):
            ours = cell(metric, last["rows"], methods[one], methods[other])
            cells.append("-" if i == j else ours + (" / " + shares[i * len(order) + j] if shares else ""))
        ours = number(metric["placings"][methods[one]]["rank"])
        print(f"| {one} | " + " | ".join(cells) + f" | {ours}" + (f" / {ranks[i]}" if ranks else "") + " |")


def figures(space, comparison):
    time, methods = comparison["over_time"], methods_of(comparison)
    metric = metric_of(comparison, time)
    print(f"\n{NAMES[space]}, data sets: {len(comparison['data_sets'])}\n")
    print("| models | " + " | ".join(map(str, time["trials"])) + " |")
    print("|---" * (len(time["trials"]) + 1) + "|")
    for name, variant in methods.items():
        print(f"| rank of {name} | " + " | ".join(number(p[variant]["rank"]) for p in metric["placings"]) + " |")
    for one, other in PAIRS:
        print(f"| Pr({one} > {other}) | " +
              " | ".join(number(better_of(rows, methods[one], methods[other])) for rows in time["rows"]) + " |")


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("show", "figures") or sys.argv[2] not in NAMES:
        sys.exit(__doc__)
    with open(sys.argv[3], encoding="utf-8") as file:
        comparison = json.load(file)
    missing = [name for name in METHODS.values() if name not in methods_of(comparison)]
    if missing:
        sys.exit(f"smbo-tables.py: {sys.argv[3]} has no finished run of {', '.join(missing)}")
    (show if sys.argv[1] == "show" else figures)(sys.argv[2], comparison)


main()
