#!/usr/bin/env python3
"""One refit and ask of a Gaussian process, ours beside scikit-learn's, one thread each, on the same data, turn by turn in some
rounds, each with data of its own, since how far a fit climbs depends on them: ask_sklearn.py PROGRAM, where PROGRAM is the built tests/bench/ask. Matern 5/2 ARD with noise, 6 dimensions, 3 starts of
L-BFGS there and the plugin's defaults here, expected improvement at 10,000 candidates. Prints CPU times (fit + ask; in each round
the better of two, from 1,000 observations on one), medians and range of the ratio; of the last data both likelihoods; what ours spends where; and
what an ask costs with refits that follow growth = 0.1, refits included:
ours as measured over a tenth more observations, told one by one, with new candidates each; theirs a tenth of a refit's
share and the ask, as if observations joined for nothing."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"
try:
    import numpy as np
    from scipy.stats import norm
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
except ModuleNotFoundError as error:
    sys.exit(f"{__doc__}\n\n{error}: install NumPy, SciPy and scikit-learn (pip install numpy scipy scikit-learn)")
from record import record

warnings.filterwarnings("ignore")


def make(count, random):
    x = random.random((count, 6))
    return x, np.sin(3 * x).sum(1) + 0.05 * random.normal(size=count), random.random((10000, 6))


def theirs(x, y, z):
    kernel = ConstantKernel(1.0, (1e-4, 1e4)) * Matern(np.ones(6), (1e-2, 1e2), nu=2.5) + WhiteKernel(1e-3, (1e-8, 1.0))
    start = time.process_time()
    model = GaussianProcessRegressor(kernel, n_restarts_optimizer=2, normalize_y=True, random_state=0).fit(x, y)
    middle = time.process_time()
    mean, deviation = model.predict(z, return_std=True)
    u = (y.min() - mean) / deviation
    worth = deviation * (u * norm.cdf(u) + norm.pdf(u))
    end = time.process_time()
    return middle - start, end - middle, model.log_marginal_likelihood_value_, int(worth.argmax())


def ours(program, files, repeats, *brief):
    words = subprocess.run([program, *files, str(repeats), *brief], check=True, capture_output=True, text=True).stdout.split()
    return [float(word) for word in words]


def save(folder, **arrays):
    names = []
    for name, array in arrays.items():
        names.append(os.path.join(folder, name + ".npy"))
        np.save(names[-1], array)
    return names


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("program")
parser.add_argument("--sizes", type=int, nargs="*", default=[50, 150, 400, 1000])
parser.add_argument("--rounds", type=int, default=5)
arguments = parser.parse_args()
random = np.random.default_rng(0)
theirs(*make(50, random))  # what is done once is no part of a round
with tempfile.TemporaryDirectory() as folder:
    for count in arguments.sizes:
        repeats, mine, peers, ratios = 2 if count < 1000 else 1, [], [], []
        for _ in range(arguments.rounds):
            x, y, z = make(count, random)
            files = save(folder, x=x, y=y, z=z)
            mine.append(sum(ours(arguments.program, files, repeats, "brief")[:2]))
            peers.append(min((theirs(x, y, z) for _ in range(repeats)), key=lambda found: found[0] + found[1]))
            ratios.append((peers[-1][0] + peers[-1][1]) / mine[-1])
        details = ours(arguments.program, files, repeats)
        fit, ask, plain, best, plain_best, likelihood, lapack, kernel, solve, grown = details
        peer = statistics.median(found[0] + found[1] for found in peers)
        theirs_fit, theirs_ask, theirs_likelihood, theirs_best = peers[-1]
        theirs_grown = theirs_fit / np.ceil(0.1 * count) + theirs_ask
        print(f"n {count}: ours {statistics.median(mine):.4f} s ({fit:.4f} + {ask:.4f}), scikit-learn {peer:.4f} s "
              f"({theirs_fit:.4f} + {theirs_ask:.4f}), ratio {statistics.median(ratios):.1f} ({min(ratios):.1f} - {max(ratios):.1f}); "
              f"likelihood {likelihood:.4f} and {theirs_likelihood:.4f}; best candidate {best:.0f} and {theirs_best}; LAPACK's share of "
              f"a likelihood {lapack:.2f}; every candidate predicted {1e3 * plain:.1f} ms (best {plain_best:.0f}), covariances alone "
              f"{1e3 * kernel:.1f} ms, BLAS's solve alone {1e3 * solve:.1f} ms; with growth = 0.1 an ask costs "
              f"{1e3 * grown:.1f} ms, scikit-learn's {1e3 * theirs_grown:.0f} ms, ratio {theirs_grown / grown:.0f}",
              flush=True)
        record(f"a refit and ask of a Gaussian process, {count} observations", "ms", 1e3 * statistics.median(mine), 1e3 * peer,
               "scikit-learn", ratios, f"LAPACK alone: {lapack:.2f} of a likelihood's time")
