#!/usr/bin/env python3
"""Convolutions in groups of several channels: backend cpu beside PyTorch (one thread each), turn by turn in one run.

Usage: groups_torch.py GROUPS [BEFORE] [--rounds 3]
GROUPS is the program that `make bench` builds, BEFORE the same of another version, which takes its turn, too. 16 images of 28 x 28
pixels and 64 channels, which PyTorch has in channels-last order; both sides count the processor's seconds. Prints GFLOP/s, forward
and backward (gradients of weights and of inputs), the share of the core's peak and the ratio: medians of the rounds, ratios with
their range. Zeros between groups count as no arithmetic.
"""
import argparse
import statistics
import subprocess
import time

from record import record

SIZES, IMAGES, SIDE, CHANNELS = (2, 4, 8, 16, 32), 16, 28, 64


def our_side(program, kernel):
    """({size: (forward, backward)} in seconds an image, the peak in GFLOP/s)."""
    out = subprocess.run([program, str(kernel), *map(str, SIZES)], check=True, capture_output=True, text=True).stdout
    *lines, last = (line.split() for line in out.splitlines())
    return {int(size): (float(there), float(back)) for size, there, back in lines}, float(last[1])


def best_of(step, tries=5, least=0.05):
    best = float("inf")
    for _ in range(tries):
        begin, times = time.process_time(), 0
        while time.process_time() - begin < least:
            step()
            times += 1
        best = min(best, (time.process_time() - begin) / times / IMAGES)
    return best


def torch_side(kernel, size):
    import torch

    torch.set_num_threads(1)
    shape = (CHANNELS, size, kernel, kernel)
    x, w = (torch.randn(s).to(memory_format=torch.channels_last) for s in ((IMAGES, CHANNELS, SIDE, SIDE), shape))
    pad, groups = [kernel // 2] * 2, CHANNELS // size

    def forward():
        return torch.nn.functional.conv2d(x, w, padding=pad, groups=groups)

    g = torch.randn_like(forward())

    def backward():
        torch.ops.aten.convolution_backward(g, x, w, None, [1, 1], pad, [1, 1], False, [0, 0], groups, [True, True, False])

    with torch.no_grad():
        backward()
        return best_of(forward), best_of(backward)


def record_whole(kernel, size, ours, theirs, peak):
    """Forward and backward together, of the first program."""
    mine, yours = ([1e6 * sum(row[size]) for row in rows] for rows in (ours, theirs))
    rate = 6e-9 * SIDE * SIDE * CHANNELS * size * kernel * kernel / (1e-6 * statistics.median(mine))
    record(f"a convolution of {kernel} x {kernel} in groups of {size} channels, an image of {SIDE} x {SIDE} x {CHANNELS}, forward and backward", "us",
           statistics.median(mine), statistics.median(yours), "PyTorch", [b / a for a, b in zip(mine, yours)], f"{rate / peak:.2f} of the peak")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    print("kernel group pass      torch", *(f"{'ours' if p == 0 else 'before':>10} of peak          ratio" for p in range(len(a.programs))))
    for kernel in (3, 1):
        ours, peaks, theirs = [[] for _ in a.programs], [], []
        for _ in range(a.rounds):
            for program, rows in zip(a.programs, ours):
                row, peak = our_side(program, kernel)
                rows.append(row)
                peaks.append(peak)
            theirs.append({size: torch_side(kernel, size) for size in SIZES})
        for size in SIZES:
            for back in (0, 1):
                flops = 2e-9 * SIDE * SIDE * CHANNELS * size * kernel * kernel * (1 + back)
                line = [f"{kernel} x {kernel} {size:6} {'backward' if back else 'forward '} "
                        f"{flops / statistics.median(t[size][back] for t in theirs):6.1f}"]
                for rows in ours:
                    rate = flops / statistics.median(r[size][back] for r in rows)
                    ratios = [t[size][back] / r[size][back] for t, r in zip(theirs, rows)]
                    line.append(f"{rate:10.1f}     {rate / statistics.median(peaks):.2f}  {statistics.median(ratios):.2f} "
                                f"({min(ratios):.2f} - {max(ratios):.2f})")
                print(*line, flush=True)
            if kernel > 1:
                record_whole(kernel, size, ours[0], theirs, statistics.median(peaks))


if __name__ == "__main__":
    main()
