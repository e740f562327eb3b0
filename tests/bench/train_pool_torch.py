#!/usr/bin/env python3
"""Whole pools of networks: backend cuda beside PyTorch, in one run, by the wall clock.

Usage: train_pool_torch.py TRAIN_POOL [--data FILE.csv]... [--networks 200] [--epochs 10] [--tiny] [--plugins FOLDER] ...
TRAIN_POOL is the program that `make bench` builds. Three comparisons, each with the same networks, rows, batch sizes, epochs and
optimisers on both sides:

  - 200 AutoDEUQ networks with random training, beside PyTorch one after the other;
  - as many of one architecture, by Adam with different learning rates, beside torch.func: one vmap of all;
  - 40 networks of DARTS cells, beside PyTorch one after the other, its images channels-last and in bf16, its steps CUDA graphs.

PyTorch takes a GPU if it finds one, else the processor. --plugins with the tests' emulated GPU and --tiny show that both sides
run and do the same work; then the ratio says nothing. Without a CUDA device or PyTorch it says so and leaves with 77.
"""
import functools
import math
import statistics
import sys
import time

from record import record
from train_darts_torch import draw_genotype, text_of, torch_network
from train_pool_peers import Program, options_of, say, tables


def activation_of(torch, name):
    f = torch.nn.functional
    return {"linear": lambda x: x, "elu": f.elu, "gelu": f.gelu, "hard-sigmoid": f.hardsigmoid, "relu": f.relu, "selu": f.selu,
            "sigmoid": torch.sigmoid, "softplus": f.softplus, "softsign": f.softsign, "swish": f.silu, "tanh": torch.tanh}[name]


@functools.cache
def graph_class(torch):
    """Networks of tutti's JSON, up to the head's inputs. vmap wants one class for all."""

    class Graph(torch.nn.Module):
        def __init__(self, layers):
            super().__init__()
            self.layers = layers
            self.dense = torch.nn.ModuleDict()
            widths = {}
            for layer in layers:
                label, inputs = layer["label"], layer.get("inputs", [])
                if layer["op"] == "dense":
                    linear = torch.nn.Linear(widths[inputs[0]], layer["units"])
                    torch.nn.init.xavier_uniform_(linear.weight)
                    torch.nn.init.zeros_(linear.bias)
                    self.dense[label.replace("/", "_")] = linear
                widths[label] = layer["units"] if layer["op"] == "dense" else layer["shape"][2] if layer["op"] == "input" else widths[inputs[0]]

        def forward(self, x):
            values = {}
            for layer in self.layers:
                label = layer["label"]
                inputs = [values[name] for name in layer.get("inputs", [])]
                if layer["op"] == "input":
                    values[label] = x
                elif layer["op"] == "dense":
                    values[label] = self.dense[label.replace("/", "_")](inputs[0])
                elif layer["op"] == "add":
                    values[label] = sum(inputs)
                elif layer["op"] == "activation":
                    values[label] = activation_of(torch, layer["activation"])(inputs[0])
                elif layer["op"] == "head-gaussian":
                    return inputs[0]
                else:
                    raise SystemExit(f"op {layer['op']}: not one of space dense-skip")

            raise SystemExit("the network has no head")

    return Graph


def network_of(torch, layers):
    return graph_class(torch)(layers)


def likelihood(torch, out, y):
    variance = torch.nn.functional.softplus(out[..., 1:]) + 1e-6
    return (0.5 * torch.log(2 * math.pi * variance) + (out[..., :1] - y) ** 2 / (2 * variance)).mean((-2, -1))


def optimiser_of(torch, name, parameters, rate):
    kinds = {"sgd": torch.optim.SGD, "rmsprop": torch.optim.RMSprop, "adagrad": torch.optim.Adagrad, "adam": torch.optim.Adam,
             "adadelta": torch.optim.Adadelta, "adamax": torch.optim.Adamax, "nadam": torch.optim.NAdam}
    return kinds[name](parameters, rate)


def wait(torch, device):
    if device.type == "cuda":
        torch.cuda.synchronize()


class Clock:
    """Seconds of steps that one network takes after the other; with `most`, of so many at most, warm, and as long for each of the others."""

    def __init__(self, torch, device, most):
        self.torch, self.device, self.most, self.seconds = torch, device, most, 0.0

    def run(self, steps, step):
        """Call step() `steps` times, or `most` times."""
        count = min(steps, self.most) if self.most else steps
        for _ in range(min(2, steps - count)):
            step()
        wait(self.torch, self.device)
        begin = time.perf_counter()
        for _ in range(count):
            step()
        wait(self.torch, self.device)
        self.seconds += (time.perf_counter() - begin) * steps / count


def batches(torch, device, rows, batch, epochs):
    """The rows of each step, shuffled in each epoch."""
    for _ in range(epochs):
        yield from torch.randperm(rows, device=device).split(batch)


def one_by_one(torch, device, members, failed, rows, most):
    """(seconds, steps, mean loss of the last epoch, or step) of networks trained one after the other."""
    x, y = (torch.tensor(part, device=device) for part in (rows[:, :-1], rows[:, -1:]))
    steps, losses = 0, []

    def train(member, clock):
        network = network_of(torch, member["network"]["layers"]).to(device)
        if sum(p.numel() for p in network.parameters()) != member["parameters"]:
            raise SystemExit(f"{member['parameters']} parameters here, others in PyTorch: these are two networks")
        optimiser = optimiser_of(torch, member["optimiser"], network.parameters(), member["learning_rate"])
        epoch_steps = -(-len(x) // member["batch_size"])
        picked = batches(torch, device, len(x), member["batch_size"], member["epochs"])
        told = []

        def step():
            batch = next(picked)
            loss = likelihood(torch, network(x[batch]), y[batch])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            told.append(loss.detach() * len(batch))
            if len(told) > epoch_steps:
                told.pop(0)

        clock.run(epoch_steps * member["epochs"], step)
        return epoch_steps * member["epochs"], float(sum(told)) / min(len(x), len(told) * member["batch_size"])

    train({**members[0], "batch_size": len(x), "epochs": 3}, Clock(torch, device, 0))
    clock = Clock(torch, device, most)
    for member in (m for i, m in enumerate(members) if i not in failed):
        done, loss = train(member, clock)
        steps += done
        losses.append(loss)
    return clock.seconds, steps, statistics.fmean(losses)


def all_by_vmap(torch, device, members, failed, rows):
    """The same of networks of one architecture, all at once."""
    from torch.func import functional_call, grad_and_value, stack_module_state, vmap

    members = [member for i, member in enumerate(members) if i not in failed]
    layers, batch, epochs, count = members[0]["network"]["layers"], members[0]["batch_size"], members[0]["epochs"], len(members)
    x, y = (torch.tensor(part, device=device) for part in (rows[:, :-1], rows[:, -1:]))
    networks = [network_of(torch, layers).to(device) for _ in members]
    weights, _ = stack_module_state(networks)
    weights = {name: value.detach() for name, value in weights.items()}
    first, second = ({name: torch.zeros_like(value) for name, value in weights.items()} for _ in range(2))
    rates = torch.tensor([member["learning_rate"] for member in members], device=device)

    def loss_of(one, inputs, targets):
        return likelihood(torch, functional_call(networks[0], one, (inputs,)), targets)

    gradients = vmap(grad_and_value(loss_of))

    def step(number, picked):
        slopes, losses = gradients(weights, x[picked], y[picked])
        for name, slope in slopes.items():
            rate = rates.view(-1, *[1] * (slope.dim() - 1))
            first[name].lerp_(slope, 0.1)
            second[name].mul_(0.999).addcmul_(slope, slope, value=0.001)
            spread = (second[name] / (1 - 0.999**number)).sqrt_().add_(1e-7)
            weights[name] -= rate / (1 - 0.9**number) * first[name] / spread
        return losses

    def run(epochs):
        number = 0
        for _ in range(epochs):
            order = torch.stack([torch.randperm(len(x), device=device) for _ in range(count)])
            total = torch.zeros(count, device=device)
            for picked in order.split(batch, 1):
                number += 1
                total += step(number, picked) * picked.shape[1]
        return number, float((total / len(x)).mean())

    run(1)
    wait(torch, device)
    begin = time.perf_counter()
    steps, loss = run(epochs)
    wait(torch, device)
    return time.perf_counter() - begin, steps * count, loss


def images_one_by_one(torch, device, options, failed):
    """The same of networks of DARTS cells: channels last, bf16; on a GPU, a CUDA graph for a step."""
    setting = {"cells": options.cells, "channels": options.channels, "size": options.size, "inputs": 3}
    batch, rows = options.image_batch, options.image_rows // options.image_batch * options.image_batch
    x = torch.randn(rows, 3, options.size, options.size, device=device).to(memory_format=torch.channels_last)
    labels = torch.randint(0, 10, (rows,), device=device)
    losses, steps, clock = [], 0, Clock(torch, device, options.peer_steps)
    for seed in (i for i in range(options.images) if i not in failed):
        torch.manual_seed(seed)
        network = torch_network(setting, draw_genotype(seed)).to(device).to(memory_format=torch.channels_last)
        optimiser = torch.optim.SGD(network.parameters(), 0.025, 0.9)
        inputs, wanted = x[:batch].clone(memory_format=torch.channels_last), labels[:batch].clone()

        def step():
            optimiser.zero_grad(set_to_none=True)
            with torch.autocast(device.type, dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(network(inputs), wanted)
            loss.backward()
            optimiser.step()
            return loss

        again = step
        if device.type == "cuda":
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(3):
                    step()
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                captured = step()

            def again():
                graph.replay()
                return captured

        picked = batches(torch, device, rows, batch, options.image_epochs)
        told = []

        def take():
            chosen = next(picked)
            inputs.copy_(x[chosen])
            wanted.copy_(labels[chosen])
            told.append(again().detach().clone())

        count = options.image_epochs * (rows // batch)
        clock.run(count, take)
        steps += count
        losses.append(float(sum(told[-(rows // batch):])) / min(len(told), rows // batch))
    return clock.seconds, steps, statistics.fmean(losses)


def compare(what, options, ours, theirs, peer):
    mine, others = [], []
    for _ in range(options.rounds):
        mine.append(ours())
        seconds, steps, loss = theirs(set(mine[-1]["failed"]))
        others.append(seconds)
        say(what, mine[-1], seconds, steps, loss, peer)
    ratios = [b / a["seconds"] for a, b in zip(mine, others)]
    record(what, "s", statistics.median(a["seconds"] for a in mine), statistics.median(others), peer, ratios)


def main():
    options = options_of(__doc__)
    try:
        import torch
    except ImportError as error:
        print(f"nothing to compare with: {error}")
        return 77
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    peer = f"PyTorch {torch.__version__} ({device.type})"
    scaled = f" ({options.peer_steps} steps of each timed)" if options.peer_steps else ""
    only = options.only
    for name, rows in tables(options) if only != "images" else []:
        program = Program(options, rows)
        pool = ["--networks", options.networks, "--epochs", options.epochs, "--batch", options.batch]
        if only != "alike":
            members = program.run("--describe", *pool)
            compare(f"a pool of {len(members)} AutoDEUQ networks, {name}, {len(rows)} rows", options, lambda: program.run(*pool),
                    lambda failed: one_by_one(torch, device, members, failed, rows, options.peer_steps), f"{peer}, one after the other{scaled}")
        if only != "mixed":
            alike = program.run("--describe", "--alike", *pool)
            compare(f"{len(alike)} networks of one architecture, {name}, {len(rows)} rows", options, lambda: program.run("--alike", *pool),
                    lambda failed: all_by_vmap(torch, device, alike, failed, rows), f"{peer}, torch.func vmap")
    if only in ("mixed", "alike"):
        return 0
    rows = options.image_rows // options.image_batch * options.image_batch
    genotypes = [text_of(draw_genotype(seed)) for seed in range(options.images)]
    program = Program(options)
    pool = ["--images", "--cells", options.cells, "--channels", options.channels, "--size", options.size, "--count", rows,
            "--batch", options.image_batch, "--epochs", options.image_epochs, *genotypes]
    compare(f"a pool of {options.images} networks of {options.cells} DARTS cells x {options.channels} channels", options,
            lambda: program.run(*pool), lambda failed: images_one_by_one(torch, device, options, failed),
            f"{peer}, channels last, bf16, one after the other{scaled}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
