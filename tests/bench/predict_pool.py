#!/usr/bin/env python3
"""What a pool should take on a GPU by a count of what it does: a prediction, not a measurement (docs/backend-cuda.md).

Usage: predict_pool.py TRAIN_POOL [--rows 36000] [--features 9] [--networks 200] [--epochs 10] [--images] [--set ...]
TRAIN_POOL describes the networks (--backend cpu: no device is needed). The assumptions are the constants below.
"""
import argparse
import json
import math
import subprocess

CLOCK = 1.7e9  # of a multiprocessor, in cycles a second
MULTIPROCESSORS = 132
PHASE = 500  # cycles from one meeting of a block to the next, beside its arithmetic: the barrier, a call, the latency of memory
FOUR = 110  # cycles for four steps of k of a tile by one warp that has its scheduler for itself
FULL = 20  # the same by a multiprocessor whose warps hide each other's latency: its shared memory's bandwidth
PYTORCH_OP = 6e-6  # seconds that PyTorch's host takes for an operation
BANDWIDTH = 4.8e12  # bytes a second
BETWEEN = 2e-6  # seconds from one launch of a graph to the next on one stream
STREAMS = 16


def products(layer, rows, inputs):
    """(m, n, k) of a dense layer: forward, gradients of weights and of inputs."""
    units = layer["units"]
    return [(rows, units, inputs), (inputs, units, rows), (rows, inputs, units)]


def cycles(member, features):
    """(latency of a block alone, cycles of the multiprocessor's bandwidth, operations of a framework) of a step."""
    rows, widths, phases, alone, shared, operations = member["batch_size"], {}, 12, 0, 0, 30
    layers = member["network"]["layers"]
    largest = max(layer.get("units", features) for layer in layers) * rows
    workers = next((w for w in (64, 128) if w * 16 >= largest), 256)
    for layer in layers:
        inputs = layer.get("inputs", [])
        phases += 2
        operations += 6
        widths[layer["label"]] = layer.get("units", features if not inputs else widths[inputs[0]])
        if layer["op"] != "dense":
            continue
        operations += 8  # the optimiser's and the weights' own
        for m, n, k in products(layer, rows, widths[inputs[0]]):
            tall = 4 if math.ceil(m / 4) * math.ceil(n / 4) >= workers else 1
            tiles = math.ceil(m / tall) * math.ceil(n / 4)
            rounds = math.ceil(tiles / workers)
            alone += rounds * math.ceil(k / 4) * FOUR * (tall + 1) / 5
            shared += math.ceil(tiles / 32) * math.ceil(k / 4) * FULL * (tall + 1) / 5
        alone += 8 * widths[inputs[0]] * layer["units"] / workers * 2  # the optimiser's rule
    return phases * PHASE + alone, shared, operations, workers


def tables(members, rows, features):
    longest, work, peer = 0, 0, 0
    for member in members:
        alone, shared, operations, _ = cycles(member, features)
        steps = math.ceil(rows / member["batch_size"]) * member["epochs"]
        longest = max(longest, steps * alone / CLOCK)
        work += steps * max(shared, alone / 4) / CLOCK / MULTIPROCESSORS
        peer += steps * operations * PYTORCH_OP
    ours = max(longest, work)
    print(f"{len(members)} networks, {rows} rows, {members[0]['epochs']} epochs: {ours:.2f} s; the slowest network alone {longest:.2f} s, "
          f"all multiprocessors full {work:.2f} s; PyTorch, one after the other, {peer:.0f} s: {peer / ours:.0f} times")


def images(members, rows, size):
    flops, moved, launches = 0.0, 0.0, 0
    batch, steps = members[0]["batch_size"], math.ceil(rows / members[0]["batch_size"]) * members[0]["epochs"]
    chains = []
    for member in members:
        shapes, numbers, layers = {}, 0, member["network"]["layers"]
        for layer in layers:
            inputs = layer.get("inputs", [])
            side, channels = shapes[inputs[0]] if inputs else (size, 3)
            stride = layer.get("stride", 2 if layer["op"] == "factorised-reduce" else 1)
            side, units = math.ceil(side / stride), layer.get("units", channels)
            units = sum(shapes[name][1] for name in inputs) if layer["op"] == "concat" else units
            side = 1 if layer["op"] in ("global-pool", "dense", "head-softmax") else side
            shapes[layer["label"]] = side, units
            if layer["op"] not in ("activation", "batch-norm", "concat"):  # these are applied as others read
                numbers += side * side * units * batch
            if layer["op"] == "conv2d":
                taps = layer["kernel_height"] * layer["kernel_width"]
                flops += 6 * batch * side * side * units * taps * channels / layer.get("groups", 1)
        moved += 8 * 4 * numbers  # of each array: written and read, forward and backward, with its gradient
        launches += 5 * len(layers)
        chains.append(5 * len(layers) * BETWEEN)
    total = steps * max(moved / BANDWIDTH, sum(chains) / min(STREAMS, len(chains)))
    print(f"{len(members)} networks, {rows} images, {members[0]['epochs']} epochs: {total:.2f} s; a step of all: {flops / 1e9:.0f} GFLOP, "
          f"{moved / 1e9:.1f} GB ({1e3 * moved / BANDWIDTH:.2f} ms), {launches} launches ({1e3 * sum(chains) / min(STREAMS, len(chains)):.2f} ms on {STREAMS} streams)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="TRAIN_POOL")
    parser.add_argument("--rows", type=int, default=36000)
    parser.add_argument("--features", type=int, default=9)
    parser.add_argument("--networks", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=100, help="of images")
    parser.add_argument("--images", action="store_true")
    options = parser.parse_args()
    command = [options.program, "--backend", "cpu", "--describe", "--networks", str(options.networks), "--epochs", str(options.epochs),
               "--count", "4", "--features", str(options.features), *(["--images", "--batch", str(options.batch)] if options.images else [])]
    members = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    if options.images:
        images(members, options.rows, 32)
    else:
        tables(members, options.rows, options.features)


if __name__ == "__main__":
    main()
