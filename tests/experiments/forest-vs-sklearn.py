#!/usr/bin/env python3
"""Quality of surrogate random-forest beside scikit-learn's RandomForestRegressor and ExtraTreesRegressor of the same settings:
forest-vs-sklearn.py PROGRAM TABLE.csv..., where PROGRAM is the built tests/bench/forest and a table has the target in its last
column. For each table and setting, over random splits into 80 % training and 20 % test rows with fresh seeds:

  rmse    root mean squared error of the mean on the test rows
  corr    Spearman correlation of the standard deviation with the absolute error
  nll     negative log likelihood of the test rows, standard deviations from 1 % of the target's upwards
  z       root mean square of the errors in standard deviations (1: calibrated; same floor)
  sigma   mean standard deviation

each as the mean over the splits of ours and theirs, their difference on the same split with its standard error, t = difference /
standard error; and, as the size of what a seed alone does, the same t of scikit-learn's forest against itself with another
seed. The same within noise: t as a Student variable, beyond +-3 in one case of 150."""
import argparse
import os
import subprocess
import sys
import tempfile

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"
try:
    import numpy as np
    from scipy.stats import spearmanr
    from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
except ModuleNotFoundError as error:
    sys.exit(f"{__doc__}\n\n{error}: install NumPy, SciPy and scikit-learn (pip install numpy scipy scikit-learn)")

METRICS = ("rmse", "corr", "nll", "z", "sigma")
# Label, splitter, scikit-learn's other settings and the same in our words.
SETTINGS = (
    ("forest", RandomForestRegressor, {}, ["splitter=best", "bootstrap=yes"]),
    ("forest, min_leaf 3, features 1/2", RandomForestRegressor, {"min_samples_leaf": 3, "max_features": 0.5},
     ["splitter=best", "bootstrap=yes", "min_leaf=3", "features=0.5"]),
    ("extra trees", ExtraTreesRegressor, {}, ["splitter=random", "bootstrap=no"]),
    ("extra trees, min_split 8, bootstrap", ExtraTreesRegressor, {"min_samples_split": 8, "bootstrap": True},
     ["splitter=random", "bootstrap=yes", "min_split=8"]),
)


def theirs(kind, settings, trees, seed, x, y, z):
    forest = kind(trees, random_state=seed, n_jobs=1, **settings).fit(x, y)
    leaves = forest.apply(z)
    value = np.stack([t.tree_.value[leaves[:, i], 0, 0] for i, t in enumerate(forest.estimators_)])
    impurity = np.stack([t.tree_.impurity[leaves[:, i]] for i, t in enumerate(forest.estimators_)])
    return value.mean(0), np.sqrt(np.maximum(value.var(0) + impurity.mean(0), 0))


def ours(program, folder, settings, trees, seed, x, y, z):
    names = []
    for name, array in (("x", x), ("y", y), ("z", z)):
        names.append(os.path.join(folder, name + ".npy"))
        np.save(names[-1], array)
    out = os.path.join(folder, "out")
    command = [program, *names, out, "1", f"seed={seed}", f"trees={trees}", *settings]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return np.fromfile(out).reshape(2, -1)


def judge(mean, sigma, truth, scale):
    error = truth - mean
    floored = np.maximum(sigma, 0.01 * scale)
    return (np.sqrt(np.mean(error**2)), spearmanr(sigma, np.abs(error))[0],
            np.mean(0.5 * np.log(2 * np.pi * floored**2) + 0.5 * (error / floored)**2),
            np.sqrt(np.mean((error / floored)**2)), sigma.mean())


def t_of(differences):
    error = differences.std(0, ddof=1) / np.sqrt(len(differences))
    return error, differences.mean(0) / np.where(error > 0, error, 1)


def compare(arguments, folder, table, setting):
    label, kind, settings, words = setting
    data = np.genfromtxt(table, delimiter=",", skip_header=1)
    figures = np.zeros((arguments.splits, 3, len(METRICS)))
    for split in range(arguments.splits):
        order = np.random.default_rng(split).permutation(len(data))
        train, test = data[order[len(data) // 5:]], data[order[:len(data) // 5]]
        x, y, z, truth = train[:, :-1], train[:, -1], test[:, :-1], test[:, -1]
        results = (ours(arguments.program, folder, words, arguments.trees, split, x, y, z),
                   theirs(kind, settings, arguments.trees, split, x, y, z),
                   theirs(kind, settings, arguments.trees, split + 1000, x, y, z))
        for i, (mean, sigma) in enumerate(results):
            figures[split, i] = judge(mean, sigma, truth, y.std())
    error, t = t_of(figures[:, 0] - figures[:, 1])
    _, noise = t_of(figures[:, 2] - figures[:, 1])
    name = os.path.basename(os.path.dirname(os.path.abspath(table)))
    print(f"{name} ({len(data)} rows, {data.shape[1] - 1} columns), {label}")
    for i, metric in enumerate(METRICS):
        mean = figures.mean(0)[:, i]
        print(f"  {metric:6} ours {mean[0]:9.4f}  theirs {mean[1]:9.4f}  difference {mean[0] - mean[1]:+9.5f} +- {error[i]:.5f}"
              f"  t {t[i]:+5.1f}  (of a seed: {noise[i]:+5.1f})", flush=True)
    return t


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--splits", type=int, default=30)
    parser.add_argument("--trees", type=int, default=100)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ts = np.array([compare(arguments, folder, table, setting) for table in arguments.tables for setting in SETTINGS])
    print(f"{ts.size} comparisons: root mean square of t {np.sqrt(np.mean(ts**2)):.2f}, greatest {np.abs(ts).max():.1f}")


if __name__ == "__main__":
    main()
