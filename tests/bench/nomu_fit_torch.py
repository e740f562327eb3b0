#!/usr/bin/env python3
"""One fit of NOMU of the paper's size, backend cpu beside PyTorch, turn by turn in one run.

Usage: nomu_fit_torch.py NOMU [--epochs 20] [--rounds 3] [--threads 2] [--all-rows]
NOMU is the program tests/bench/nomu that `make bench` builds; plugins come from TUTTI_PLUGIN_PATH. Both sides train two networks of
3 x 1024 units on 72 points in 5 dimensions with 500 artificial points, full batches, Adam and L2, and the gradient stopped at the
connection; both keep the weights of the best epoch. PyTorch runs the mean's network with gradients on the 72 points alone, and without
them on the artificial ones, as ours does; --all-rows writes it as the paper's program has it, with one pass over all rows. Both
sides count the processor's seconds of all threads, which a busy machine does not stretch, and print those of the wall clock beside. Without
PyTorch it says so and leaves with 77.
"""
import argparse
import re
import statistics
import subprocess
import sys
import time

from record import record

POINTS, DIMENSION, ARTIFICIAL, UNITS = 72, 5, 500, 1024


def ours(program, epochs, threads):
    """Processor's seconds and the wall clock's of a fit."""
    command = [program, str(-epochs), "connection", str(threads)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"fit: ([0-9.]+) s \(([0-9.]+) s", text)
    return float(found.group(1)), float(found.group(2))


class TorchFit:
    """The networks, their loss and a step of Adam."""

    def __init__(self, threads, all_rows):
        import torch

        self.torch, self.all_rows = torch, all_rows
        torch.set_num_threads(threads)
        torch.manual_seed(1)
        linear = torch.nn.Linear
        self.f = torch.nn.ModuleList([linear(DIMENSION, UNITS), linear(UNITS, UNITS), linear(UNITS, UNITS)])
        self.r = torch.nn.ModuleList([linear(DIMENSION, UNITS), linear(UNITS, UNITS), linear(UNITS, UNITS)])
        self.f_out, self.r_out = linear(UNITS, 1), linear(2 * UNITS, 1)
        self.parameters = [p for m in (self.f, self.r, self.f_out, self.r_out) for p in m.parameters()]
        for p in self.parameters:
            torch.nn.init.uniform_(p, -0.05, 0.05)
        options = {"lr": 1e-3, "eps": 1e-7, "weight_decay": 2e-8}
        try:
            self.adam = torch.optim.Adam(self.parameters, fused=True, **options)
        except (TypeError, RuntimeError):
            self.adam = torch.optim.Adam(self.parameters, **options)
        self.x = 2 * torch.rand(POINTS, DIMENSION) - 1
        self.y = torch.sin(3 * self.x[:, :1])

    def hidden(self, layers, x):
        for layer in layers:
            x = self.torch.relu(layer(x))
        return x

    def mean(self, x):
        """Outputs at the points, and the hidden layer at all rows."""
        if self.all_rows:
            h = self.hidden(self.f, x)
            return self.f_out(h)[:POINTS], h.detach()
        h = self.hidden(self.f, x[:POINTS])
        with self.torch.no_grad():
            rest = self.hidden(self.f, x[POINTS:])
        return self.f_out(h), self.torch.cat([h.detach(), rest])

    def step(self):
        torch = self.torch
        self.adam.zero_grad()
        x = torch.cat([self.x, 2 * torch.rand(ARTIFICIAL, DIMENSION) - 1])
        mean, below = self.mean(x)
        raw = self.r_out(torch.cat([below, self.hidden(self.r, x)], 1))
        loss = ((mean - self.y) ** 2).sum() + (raw[:POINTS] ** 2).sum() + 0.01 * torch.exp(-30 * raw[POINTS:]).mean()
        loss.backward()
        self.adam.step()
        return float(loss.detach())

    def fit(self, epochs):
        best, kept = float("inf"), None
        begin, wall = time.process_time(), time.perf_counter()
        for _ in range(epochs):
            loss = self.step()
            if loss < best:
                best, kept = loss, [p.detach().clone() for p in self.parameters]
        assert kept is not None
        return time.process_time() - begin, time.perf_counter() - wall


def report(name, peer, sides):
    """By the processor's seconds of all threads, and by the wall clock."""
    for clock, how in enumerate(("all threads' seconds", "the wall clock")):
        mine, theirs = ([seconds[clock] for seconds in rounds] for rounds in sides)
        ratios = [b / a for a, b in zip(mine, theirs)]
        own, other = statistics.median(mine), statistics.median(theirs)
        print(f"tutti: {own:.2f} s by {how}; {name} {peer}: {other:.2f} s; ratio {statistics.median(ratios):.2f} "
              f"({min(ratios):.2f} to {max(ratios):.2f})")
        record(f"a fit of NOMU, 72 + 500 points, 3 x 1024 units, by {how}", "s", own, other, f"{name} {peer}", ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="NOMU")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--all-rows", action="store_true")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: nothing to compare with")
        return 77
    peer = TorchFit(options.threads, options.all_rows)
    peer.fit(3)
    sides = ([], [])
    for _ in range(options.rounds):
        sides[0].append(ours(options.program, options.epochs, options.threads))
        sides[1].append(peer.fit(options.epochs))
    report("PyTorch", torch.__version__, sides)
    return 0


if __name__ == "__main__":
    sys.exit(main())
