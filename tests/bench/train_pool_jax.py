#!/usr/bin/env python3
"""A pool of networks of one architecture: backend cuda beside one vmap in JAX, in one run, by the wall clock.

Usage: train_pool_jax.py TRAIN_POOL [--data FILE.csv]... [--networks 200] [--epochs 10] [--tiny] [--plugins FOLDER] ...
The work and the options are those of train_pool_torch.py. JAX compiles an epoch of all networks into one call. Without a CUDA
device or JAX it says so and leaves with 77.
"""
import statistics
import sys
import time

from record import record
from train_pool_peers import Program, options_of, say, tables


def forward(jax, layers, weights, x):
    nn, jnp = jax.nn, jax.numpy
    activations = {"linear": lambda v: v, "elu": nn.elu, "gelu": lambda v: nn.gelu(v, approximate=False), "hard-sigmoid": nn.hard_sigmoid,
                   "relu": nn.relu, "selu": nn.selu, "sigmoid": nn.sigmoid, "softplus": nn.softplus, "softsign": nn.soft_sign,
                   "swish": nn.silu, "tanh": jnp.tanh}
    values = {}
    for layer in layers:
        inputs = [values[name] for name in layer.get("inputs", [])]
        if layer["op"] == "input":
            value = x
        elif layer["op"] == "dense":
            matrix, bias = weights[layer["label"]]
            value = inputs[0] @ matrix + bias
        elif layer["op"] == "add":
            value = sum(inputs)
        elif layer["op"] == "activation":
            value = activations[layer["activation"]](inputs[0])
        elif layer["op"] == "head-gaussian":
            return inputs[0]
        else:
            raise SystemExit(f"op {layer['op']}: not one of space dense-skip")
        values[layer["label"]] = value
    raise SystemExit("the network has no head")


def weights_of(jax, layers, key):
    """Matrices and biases of the dense layers."""
    weights, widths = {}, {}
    for layer in layers:
        label, inputs = layer["label"], layer.get("inputs", [])
        if layer["op"] == "dense":
            key, own = jax.random.split(key)
            size = widths[inputs[0]], layer["units"]
            most = (6 / sum(size)) ** 0.5
            weights[label] = jax.random.uniform(own, size, minval=-most, maxval=most), jax.numpy.zeros(size[1])
        widths[label] = layer["units"] if layer["op"] == "dense" else layer["shape"][2] if layer["op"] == "input" else widths[inputs[0]]
    return weights


def all_by_vmap(jax, members, rows):
    """(seconds, steps, mean loss of the last epoch) of all networks at once."""
    jnp, tree = jax.numpy, jax.tree_util
    layers, batch, epochs, count = members[0]["network"]["layers"], members[0]["batch_size"], members[0]["epochs"], len(members)
    x, y = jnp.asarray(rows[:, :-1]), jnp.asarray(rows[:, -1:])
    whole, rest = len(rows) // batch, len(rows) % batch
    rates = jnp.array([member["learning_rate"] for member in members])

    def loss_of(weights, inputs, targets):
        out = forward(jax, layers, weights, inputs)
        variance = jax.nn.softplus(out[:, 1:]) + 1e-6
        return (0.5 * jnp.log(2 * jnp.pi * variance) + (out[:, :1] - targets) ** 2 / (2 * variance)).mean()

    def step(state, picked, rate):
        weights, first, second, number = state
        loss, slopes = jax.value_and_grad(loss_of)(weights, x[picked], y[picked])
        number = number + 1
        first = tree.tree_map(lambda m, g: 0.9 * m + 0.1 * g, first, slopes)
        second = tree.tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, second, slopes)
        by, spread = rate / (1 - 0.9**number), 1 - 0.999**number
        weights = tree.tree_map(lambda w, m, v: w - by * m / (jnp.sqrt(v / spread) + 1e-7), weights, first, second)
        return (weights, first, second, number), loss * len(picked)

    def epoch(state, key, rate):
        order = jax.random.permutation(key, len(rows))
        state, losses = jax.lax.scan(lambda s, picked: step(s, picked, rate), state, order[: whole * batch].reshape(whole, batch))
        total = losses.sum()
        if rest:
            state, last = step(state, order[whole * batch:], rate)
            total += last
        return state, total / len(rows)

    def begin_of(key):
        weights = weights_of(jax, layers, key)
        zeros = tree.tree_map(jnp.zeros_like, weights)
        return weights, zeros, zeros, jnp.zeros(())

    run = jax.jit(jax.vmap(epoch))
    state = jax.vmap(begin_of)(jax.random.split(jax.random.PRNGKey(0), count))
    parameters = sum(leaf.size for leaf in tree.tree_leaves(state[0])) // count
    if parameters != members[0]["parameters"]:
        raise SystemExit(f"{members[0]['parameters']} parameters here, {parameters} in JAX: these are two networks")
    jax.block_until_ready(run(state, jax.random.split(jax.random.PRNGKey(1), count), rates))
    begin = time.perf_counter()
    for number in range(epochs):
        state, losses = run(state, jax.random.split(jax.random.PRNGKey(number + 1), count), rates)
    losses = jax.block_until_ready(losses)
    return time.perf_counter() - begin, epochs * (whole + (rest > 0)) * count, float(losses.mean())


def main():
    options = options_of(__doc__)
    try:
        import jax
    except ImportError as error:
        print(f"nothing to compare with: {error}")
        return 77
    peer = f"JAX {jax.__version__} ({jax.default_backend()}), vmap"
    for name, rows in tables(options):
        program = Program(options, rows)
        pool = ["--alike", "--networks", options.networks, "--epochs", options.epochs, "--batch", options.batch]
        members = program.run("--describe", *pool)
        what = f"{len(members)} networks of one architecture, {name}, {len(rows)} rows"
        mine, others = [], []
        for _ in range(options.rounds):
            mine.append(program.run(*pool))
            failed = set(mine[-1]["failed"])
            seconds, steps, loss = all_by_vmap(jax, [m for i, m in enumerate(members) if i not in failed], rows)
            others.append(seconds)
            say(what, mine[-1], seconds, steps, loss, peer)
        ratios = [b / a["seconds"] for a, b in zip(mine, others)]
        record(what, "s", statistics.median(a["seconds"] for a in mine), statistics.median(others), peer, ratios)
    return 0


if __name__ == "__main__":
    sys.exit(main())
