#!/usr/bin/env python3
"""Training throughput of backend cpu beside JAX, turn by turn in one run, one core for both.

Usage: train_mlp_jax.py TRAIN_MLP [--seconds 1] [--rounds 5]
TRAIN_MLP is the program that `make bench` builds. The work is that of train_mlp_torch.py. JAX compiles a loop over many steps into one
call, so that nothing of Python is in what is measured, with Adam by optax. Both sides are held on one core, because JAX starts threads whose
waiting would count, and count the processor's seconds. Ours trains in float32 and with precision = bfloat16. JAX trains in float32, and with
products of numbers in bfloat16 whose sums are in float32: beside ours in bfloat16 stands the faster of the two. Without JAX or optax it says so and leaves with 77.
"""
import argparse
import os
import statistics
import sys
import time

from record import record
from train_mlp_torch import NETWORKS, ours

ROWS, FEATURES = 36000, 9


def jax_rate(jax, optax, network, rounds):
    """A function of seconds that gives steps a second; `rounds`: with products in bfloat16."""
    jnp = jax.numpy
    width, layers, batch = network
    keys = jax.random.split(jax.random.PRNGKey(0), layers + 4)
    x = jax.random.normal(keys[0], (ROWS, FEATURES))
    y = jnp.sin(x.sum(1, keepdims=True)) + 0.1 * jax.random.normal(keys[1], (ROWS, 1))
    sizes = [FEATURES] + [width] * layers + [2]
    weights = [(jax.random.normal(k, s) * (2 / s[0]) ** 0.5, jnp.zeros(s[1])) for k, s in zip(keys[2:], zip(sizes, sizes[1:]))]
    adam = optax.adam(1e-3)

    def product(a, b):
        return jnp.matmul(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), preferred_element_type=jnp.float32) if rounds else a @ b

    def loss_of(w, inputs, targets):
        h = inputs
        for matrix, bias in w[:-1]:
            h = jax.nn.relu(product(h, matrix) + bias)
        out = product(h, w[-1][0]) + w[-1][1]
        variance = jax.nn.softplus(out[:, 1:]) + 1e-6
        return (0.5 * jnp.log(variance) + (out[:, :1] - targets) ** 2 / (2 * variance)).mean()

    def step(state, rows):
        w, moments = state
        updates, moments = adam.update(jax.grad(loss_of)(w, x[rows], y[rows]), moments, w)
        return (optax.apply_updates(w, updates), moments), None

    flops = 6 * batch * sum(a * b for a, b in zip(sizes, sizes[1:]))
    steps = min(ROWS // batch, max(8, int(1e9 / flops)))
    batches = jax.random.permutation(keys[-1], ROWS)[: steps * batch].reshape(steps, batch)
    many = jax.jit(lambda state: jax.lax.scan(step, state, batches)[0])
    state = [jax.block_until_ready(many((weights, adam.init(weights))))]

    def rate(seconds):
        done, processor, wall = 0, time.process_time(), time.perf_counter()
        while time.perf_counter() - wall < seconds:
            state[0] = jax.block_until_ready(many(state[0]))
            done += steps
        return done / (time.process_time() - processor)

    return rate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="TRAIN_MLP")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    try:
        import jax
        import optax
    except ImportError as error:
        print(f"nothing to compare with: {error}")
        return 77
    print("network                tutti steps/s   JAX steps/s   ratio (range)   share of float32's peak")
    for network in NETWORKS:
        rate_of = [jax_rate(jax, optax, network, rounds) for rounds in (False, True)]
        theirs, mine = ([], []), {"": [], " bfloat16": []}
        for _ in range(options.rounds):
            for precision, found in mine.items():
                found.append(ours(options.program, options.seconds, network, False, *["--bfloat16"] * bool(precision)))
            for found, rate in zip(theirs, rate_of):
                found.append(rate(options.seconds))
        for precision, found in mine.items():
            rounds = bool(precision) and statistics.median(theirs[1]) > statistics.median(theirs[0])
            ratios = [a / b for (a, _), b in zip(found, theirs[rounds])]
            rate, share = (statistics.median(values) for values in zip(*found))
            name, peer = f"{network[0]}x{network[1]} b{network[2]}{precision}", statistics.median(theirs[rounds])
            print(f"{name:21} {rate:14.0f} {peer:13.0f} {statistics.median(ratios):7.2f} ({min(ratios):.2f} - {max(ratios):.2f}) "
                  f"{share:10.2f}{'   (JAX in bfloat16)' * rounds}", flush=True)
            record(f"training, {network[1]} x {network[0]} units, mini-batches of {network[2]}{precision}", "steps/s", rate, peer,
                   f"JAX {jax.__version__}{', bfloat16' * rounds}", ratios, f"{share:.2f} of the peak")
    return 0


if __name__ == "__main__":
    sys.exit(main())
