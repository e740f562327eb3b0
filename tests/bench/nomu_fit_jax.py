#!/usr/bin/env python3
"""One fit of NOMU of the paper's size, backend cpu beside JAX, turn by turn in one run.

Usage: nomu_fit_jax.py NOMU [--epochs 20] [--rounds 3]
As nomu_fit_torch.py, which says what is trained and what is counted; a step is one compiled function whose arguments are donated. JAX takes
as many threads as there are processors, and so do we. Without JAX it says so and leaves with 77.
"""
import argparse
import os
import sys
import time

from nomu_fit_torch import ARTIFICIAL, DIMENSION, POINTS, UNITS, ours, report


def make(jax):
    """A compiled step, and what it starts from."""
    jnp = jax.numpy
    sizes = [(DIMENSION, UNITS), (UNITS, UNITS), (UNITS, UNITS)]
    shapes = sizes + [(UNITS, 1)] + sizes + [(2 * UNITS, 1)]
    keys = jax.random.split(jax.random.PRNGKey(1), 2 * len(shapes) + 1)

    def draw(key, shape):
        return jax.random.uniform(key, shape, minval=-0.05, maxval=0.05)

    weights = [(draw(keys[2 * i], s), draw(keys[2 * i + 1], s[1:])) for i, s in enumerate(shapes)]
    x = jax.random.uniform(keys[-1], (POINTS, DIMENSION), minval=-1, maxval=1)
    y = jnp.sin(3 * x[:, :1])

    def hidden(layers, h):
        for w, b in layers:
            h = jax.nn.relu(h @ w + b)
        return h

    def loss_of(w, artificial):
        h = hidden(w[:3], x)
        below = jax.lax.stop_gradient(jnp.concatenate([h, hidden(jax.lax.stop_gradient(w[:3]), artificial)]))
        both = jnp.concatenate([below, hidden(w[4:7], jnp.concatenate([x, artificial]))], 1)
        mean, raw = h @ w[3][0] + w[3][1], both @ w[7][0] + w[7][1]
        return ((mean - y) ** 2).sum() + (raw[:POINTS] ** 2).sum() + 0.01 * jnp.exp(-30 * raw[POINTS:]).mean()

    def step(w, m, v, best, kept, key, t):
        key, own = jax.random.split(key)
        artificial = jax.random.uniform(own, (ARTIFICIAL, DIMENSION), minval=-1, maxval=1)
        loss, g = jax.value_and_grad(loss_of)(w, artificial)
        tree = jax.tree_util.tree_map
        g = tree(lambda a, p: a + 2e-8 * p, g, w)
        m = tree(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = tree(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
        rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        w = tree(lambda p, a, b: p - rate * a / (jnp.sqrt(b) + 1e-7), w, m, v)
        better = loss < best
        kept = jax.lax.cond(better, lambda: w, lambda: kept)
        return w, m, v, jnp.where(better, loss, best), kept, key, t + 1

    def zeros():
        return jax.tree_util.tree_map(jnp.zeros_like, weights)

    def begin():
        copy = jax.tree_util.tree_map(jnp.array, weights)
        return copy, zeros(), zeros(), jnp.float32(jnp.inf), zeros(), jax.random.PRNGKey(2), jnp.float32(1)

    return jax.jit(step, donate_argnums=tuple(range(7))), begin


def fit(jax, step, begin, epochs):
    state = begin()
    jax.block_until_ready(state)
    start, wall = time.process_time(), time.perf_counter()
    for _ in range(epochs):
        state = step(*state)
    jax.block_until_ready(state)
    return time.process_time() - start, time.perf_counter() - wall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="NOMU")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    try:
        import jax
    except ImportError:
        print("JAX is not installed: nothing to compare with")
        return 77
    threads = len(os.sched_getaffinity(0))
    step, begin = make(jax)
    fit(jax, step, begin, 3)
    sides = ([], [])
    for _ in range(options.rounds):
        sides[0].append(ours(options.program, options.epochs, threads))
        sides[1].append(fit(jax, step, begin, options.epochs))
    report("JAX", jax.__version__, sides)
    return 0


if __name__ == "__main__":
    sys.exit(main())
