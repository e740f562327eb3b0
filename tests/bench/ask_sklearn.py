#!/usr/bin/env python3
"""One refit and ask of a Gaussian process, ours beside scikit-learn's, one thread each, on the same data in one go:
ask_sklearn.py PROGRAM, where PROGRAM is the built tests/bench/ask. Matern 5/2 ARD with noise, 6 dimensions, 3 starts of
L-BFGS there and the plugin's defaults here, expected improvement at 10,000 candidates. Prints CPU times (fit + ask), the
ratio, both likelihoods; what ours spends where; and what an ask costs with refits that follow growth = 0.1, refits included:
ours as measured over a tenth more observations, told one by one, with new candidates each; theirs a tenth of a refit's
share and the ask, as if observations joined for nothing."""
import argparse
import os
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


def ours(program, folder, x, y, z, repeats):
    names = []
    for name, array in (("x", x), ("y", y), ("z", z)):
        names.append(os.path.join(folder, name + ".npy"))
        np.save(names[-1], array)
    words = subprocess.run([program, *names, str(repeats)], check=True, capture_output=True, text=True).stdout.split()
    return [float(word) for word in words]


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("program")
parser.add_argument("--sizes", type=int, nargs="*", default=[50, 150, 400, 1000])
arguments = parser.parse_args()
random = np.random.default_rng(0)
with tempfile.TemporaryDirectory() as folder:
    for count in arguments.sizes:
        x, y, z = make(count, random)
        fit, ask, plain, best, plain_best, likelihood, lapack, kernel, solve, grown = ours(
            arguments.program, folder, x, y, z, 3 if count < 1000 else 1)
        theirs_fit, theirs_ask, theirs_likelihood, theirs_best = theirs(x, y, z)
        theirs_grown = theirs_fit / np.ceil(0.1 * count) + theirs_ask
        print(f"n {count}: ours {fit:.4f} + {ask:.4f} s, scikit-learn {theirs_fit:.4f} + {theirs_ask:.4f} s, "
              f"ratio {(theirs_fit + theirs_ask) / (fit + ask):.1f}; likelihood {likelihood:.4f} and "
              f"{theirs_likelihood:.4f}; best candidate {best:.0f} and {theirs_best}; LAPACK's share of a likelihood "
              f"{lapack:.2f}; every candidate predicted {1e3 * plain:.1f} ms (best {plain_best:.0f}), covariances alone "
              f"{1e3 * kernel:.1f} ms, BLAS's solve alone {1e3 * solve:.1f} ms; with growth = 0.1 an ask costs "
              f"{1e3 * grown:.1f} ms, scikit-learn's {1e3 * theirs_grown:.0f} ms, ratio {theirs_grown / grown:.0f}",
              flush=True)
        record(f"a refit and ask of a Gaussian process, {count} observations", "ms", 1e3 * (fit + ask),
               1e3 * (theirs_fit + theirs_ask), "scikit-learn")
