#!/usr/bin/env python3
"""Training steps of networks of DARTS cells: backend cpu beside PyTorch (one thread each), turn by turn in one run.

Usage: train_darts_torch.py TRAIN_DARTS [--genotypes 3] [--rounds 3] [--seconds 1] [--steps 2] [--small-only] [--peer SCRIPT]
TRAIN_DARTS is the program that `make bench` builds. Both sides train the same random genotypes (their numbers of parameters are
compared), SGD with momentum and weight decay, batch 100. Both count the processor's seconds, which a busy machine does not
stretch; PyTorch has its images in channels-last order, which is its fastest, and beside our products in bfloat16 the faster of
its float32 and its autocast to bfloat16. --peer runs another script for PyTorch's side, which prints lines of "index parameters ms" and draws the genotypes of
seeds 0, 1, ... as this one does; then both sides go by the wall clock. Prints milliseconds a step and the ratio, a line a genotype
and round, with values between layers in floats and in 16 bits (storage = half), with products in float32 and in bfloat16 (precision).
The record has what a step takes in the mean of the genotypes, and the ratio of these means, a round each.
"""
import argparse
import random
import statistics
import subprocess
import sys
import time

from record import record

SETTINGS = {
    "5 cells x 8 channels, 28 x 28 x 1": {"cells": 5, "channels": 8, "size": 28, "inputs": 1},
    "8 cells x 16 channels, 32 x 32 x 3": {"cells": 8, "channels": 16, "size": 32, "inputs": 3},
}
# What the backend trains with: its options here, its name in the table, and the ratio that is wanted.
KINDS = {"float": ([], "", 6), "half": (["--half"], ", storage = half", 9),
         "bfloat16": (["--bfloat16"], ", precision = bfloat16", None),
         "half, bfloat16": (["--half", "--bfloat16"], ", storage = half, precision = bfloat16", None)}
OPS = ["max3", "avg3", "skip", "sep3", "sep5", "dil3", "dil5"]


def draw_cell(draws):
    """Two edges (input, op) for each of four nodes."""
    return [(i, draws.choice(OPS)) for node in range(4) for i in draws.sample(range(node + 2), 2)]


def draw_genotype(seed):
    draws = random.Random(seed)
    return [draw_cell(draws), draw_cell(draws)]


def text_of(genotype):
    return ",".join(f"{i}:{op}" for cell in genotype for i, op in cell)


def flags(setting):
    return [text for key, value in setting.items() for text in (f"--{key}", str(value))]


def torch_network(setting, genotype):
    """The same network in PyTorch."""
    import torch
    from torch import nn

    def norm(width):
        return nn.BatchNorm2d(width)

    def separable(width, kernel, stride, dilation):
        across = nn.Conv2d(width, width, kernel, stride, dilation * (kernel // 2), dilation, groups=width, bias=False)
        return [nn.ReLU(), across, nn.Conv2d(width, width, 1, bias=False), norm(width)]

    class Reduce(nn.Module):
        def __init__(self, inputs, width):
            super().__init__()
            self.halves = nn.ModuleList(
                [nn.Conv2d(inputs, w, 1, 2, bias=False) for w in (width // 2, width - width // 2)])
            self.norm = norm(width)

        def forward(self, x):
            x = torch.relu(x)
            shifted = nn.functional.pad(x, (0, 1, 0, 1))[:, :, 1:, 1:]
            return self.norm(torch.cat([self.halves[0](x), self.halves[1](shifted)], 1))

    def make_op(name, width, stride):
        if name == "max3":
            return nn.MaxPool2d(3, stride, 1)
        if name == "avg3":
            return nn.AvgPool2d(3, stride, 1, count_include_pad=False)
        if name == "skip":
            return nn.Identity() if stride == 1 else Reduce(width, width)
        kernel = int(name[-1])
        if name.startswith("dil"):
            return nn.Sequential(*separable(width, kernel, stride, 2))
        return nn.Sequential(*separable(width, kernel, stride, 1), *separable(width, kernel, 1, 1))

    class Cell(nn.Module):
        def __init__(self, edges, before, last, width, reduction, after_reduction):
            super().__init__()
            self.edges = edges
            pointwise = [nn.ReLU(), nn.Conv2d(before, width, 1, bias=False), norm(width)]
            self.before = Reduce(before, width) if after_reduction else nn.Sequential(*pointwise)
            self.last = nn.Sequential(nn.ReLU(), nn.Conv2d(last, width, 1, bias=False), norm(width))
            self.ops = nn.ModuleList([make_op(op, width, 2 if reduction and i < 2 else 1) for i, op in edges])

        def forward(self, before, last):
            states = [self.before(before), self.last(last)]
            for k in range(0, len(self.edges), 2):
                states.append(sum(self.ops[k + e](states[self.edges[k + e][0]]) for e in range(2)))
            return torch.cat(states[2:], 1)

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            width, cells = setting["channels"], setting["cells"]
            self.stem = nn.Sequential(nn.Conv2d(setting["inputs"], 3 * width, 3, 1, 1, bias=False), norm(3 * width))
            before, last, after, self.cells = 3 * width, 3 * width, False, nn.ModuleList()
            for c in range(cells):
                reduction = c in (cells // 3, 2 * cells // 3)
                width *= 2 if reduction else 1
                self.cells.append(Cell(genotype[reduction], before, last, width, reduction, after))
                before, last, after = last, 4 * width, reduction
            self.head = nn.Linear(last, 10)

        def forward(self, x):
            before = last = self.stem(x)
            for cell in self.cells:
                before, last = last, cell(before, last)
            return self.head(last.mean((2, 3)))

    return Network()


def torch_step(setting, genotype, batch=100, short=False):
    """(parameters, a function that trains one step) of the same network in PyTorch; `short`: by autocast to bfloat16."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    x = torch.randn(batch, setting["inputs"], setting["size"], setting["size"]).to(memory_format=torch.channels_last)
    labels = torch.randint(0, 10, (batch,))
    network = torch_network(setting, genotype).to(memory_format=torch.channels_last)
    optimiser = torch.optim.SGD(network.parameters(), 0.025, 0.9, weight_decay=3e-4)

    def step():
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=short):
            loss = torch.nn.functional.cross_entropy(network(x), labels)
        loss.backward()
        optimiser.step()

    return sum(p.numel() for p in network.parameters()), step


def torch_side(setting, genotype, steps, short):
    parameters, step = torch_step(setting, genotype, short=short)
    step()
    begin = time.process_time()
    for _ in range(steps):
        step()
    return parameters, 1e3 * (time.process_time() - begin) / steps


def our_side(program, setting, genotype, seconds, wall, kind):
    command = [program, *flags(setting), "--seconds", str(seconds), *(["--wall"] if wall else []), *KINDS[kind][0],
               text_of(genotype)]
    row = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return int(row[1]), float(row[3]), float(row[4])


def peer_side(script, setting, genotypes, steps):
    command = [sys.executable, "-P", script, *flags(setting), "--genotypes", str(genotypes), "--steps", str(steps)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [(int(r[1]), float(r[2])) for r in (line.split() for line in out.splitlines())]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--genotypes", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--small-only", action="store_true")
    parser.add_argument("--peer")
    a = parser.parse_args()
    for name, setting in list(SETTINGS.items())[:1 if a.small_only else None]:
        shares, ours, their_times = ({kind: [[] for _ in range(a.rounds)] for kind in KINDS} for _ in range(3))
        print(f"{name}\nseed parameters   torch ms torch bfloat16", *(f"{kind:>14} ms   ratio" for kind in KINDS))
        for turn in range(a.rounds):
            theirs = peer_side(a.peer, setting, a.genotypes, a.steps) if a.peer else None
            for seed in range(a.genotypes):
                genotype, mine = draw_genotype(seed), {}
                for kind in KINDS:
                    parameters, mine[kind], share = our_side(a.program, setting, genotype, a.seconds, a.peer is not None, kind)
                    shares[kind][turn].append(share)
                expected, floats = theirs[seed] if theirs else torch_side(setting, genotype, a.steps, False)
                short = floats if theirs else torch_side(setting, genotype, a.steps, True)[1]
                if parameters != expected:
                    sys.exit(f"seed {seed}: {parameters} parameters here, {expected} in PyTorch: these are two networks")
                for kind, took in mine.items():
                    ours[kind][turn].append(took)
                    their_times[kind][turn].append(min(floats, short) if "bfloat16" in kind else floats)
                print(f"{seed:4} {parameters:10} {floats:10.1f} {short:14.1f}",
                      *(f"{took:17.1f} {their_times[kind][turn][-1] / took:7.1f}" for kind, took in mine.items()), flush=True)
        for kind, (_, what, wanted) in KINDS.items():
            mean, other, share = ([statistics.mean(turn) for turn in of[kind]] for of in (ours, their_times, shares))
            ratios = [b / a for a, b in zip(mean, other)]
            print(f"{kind}: ratio {statistics.median(ratios):.1f} ({min(ratios):.1f} - {max(ratios):.1f})" + (f", wanted {wanted}" if wanted else ""))
            record(f"a step of networks of DARTS cells, {name}{what}", "ms", statistics.median(mean), statistics.median(other), "PyTorch",
                   ratios, f"{statistics.median(share):.2f} of the peak")


if __name__ == "__main__":
    main()
