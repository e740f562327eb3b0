#!/usr/bin/env python3
"""Training throughput of backend cpu beside PyTorch (one thread), turn by turn in one run, and two processes against one.

Usage: train_mlp_torch.py TRAIN_MLP [--seconds 1] [--rounds 3] [--peer SCRIPT]
TRAIN_MLP is the program that `make bench` builds. --peer runs another script for PyTorch's side, which prints lines of
"width layers batch steps/s ..." for the same five networks, by the wall clock; else both sides count the processor's seconds,
which a busy machine does not stretch. Prints medians over the rounds, the ratio with its range, and
the share of the core's peak of multiply-adds that the program reached.
"""
import argparse
import statistics
import subprocess
import sys
import time

NETWORKS = [(50, 1, 100), (64, 3, 32), (128, 5, 100), (256, 5, 256), (96, 5, 8)]
WANTED = {(50, 1, 100): 8, (64, 3, 32): 8, (96, 5, 8): 5, (128, 5, 100): 2.5, (256, 5, 256): 1.3}


def parse(text):
    """{network: [steps/s, ..., share]} of a program's lines."""
    rows = (line.split() for line in text.splitlines())
    return {tuple(int(v) for v in r[:3]): [float(v) for v in r[3:]] for r in rows if len(r) >= 4}


def command_of(program, seconds, network, wall, *more):
    return [program] + (["--wall"] if wall else []) + list(more) + ["--seconds", str(seconds)] + [str(v) for v in network]


def ours(program, seconds, network, wall, *more):
    """Steps a second and share of peak; `more`: arguments of the program."""
    command = command_of(program, seconds, network, wall, *more)
    values = parse(subprocess.run(command, check=True, capture_output=True, text=True).stdout)[network]
    return values[0], values[-1]


def torch_rates(seconds, network):
    """Steps a second of the same training in PyTorch."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    width, layers, batch = network
    x = torch.randn(36000, 9)
    y = torch.sin(x.sum(1, keepdim=True)) + 0.1 * torch.randn(36000, 1)
    modules, fan_in = [], 9
    for _ in range(layers):
        modules += [torch.nn.Linear(fan_in, width), torch.nn.ReLU()]
        fan_in = width
    model = torch.nn.Sequential(*modules, torch.nn.Linear(fan_in, 2))
    optimiser = torch.optim.Adam(model.parameters(), 1e-3)
    batches = torch.randperm(36000).split(batch)[:-1]

    def step(rows):
        out = model(x[rows])
        variance = torch.nn.functional.softplus(out[:, 1:]) + 1e-6
        loss = (0.5 * torch.log(variance) + (out[:, :1] - y[rows]) ** 2 / (2 * variance)).mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    for rows in batches[:10]:
        step(rows)
    done, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        step(batches[done % len(batches)])
        done += 1
    return done / (time.process_time() - begin)


def peer_rates(script, seconds):
    command = [sys.executable, "-P", script, "--seconds", str(seconds)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {network: values[0] for network, values in parse(out).items()}


def two_against_one(program, seconds, network, wall):
    """Steps a second of two processes at once over those of one, measured before and after."""
    command = command_of(program, seconds, network, wall)
    before, _ = ours(program, seconds, network, wall)
    pair = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    both = sum(parse(p.communicate()[0])[network][0] for p in pair)
    after, _ = ours(program, seconds, network, wall)
    return both / max(before, after)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer")
    arguments = parser.parse_args()
    mine = {n: [] for n in NETWORKS}
    theirs = {n: [] for n in NETWORKS}
    shares = {n: [] for n in NETWORKS}
    wall = arguments.peer is not None
    for _ in range(arguments.rounds):
        peer = peer_rates(arguments.peer, arguments.seconds) if arguments.peer else None
        for network in NETWORKS:
            rate, share = ours(arguments.program, arguments.seconds, network, wall)
            mine[network].append(rate)
            shares[network].append(share)
            theirs[network].append(peer[network] if peer else torch_rates(arguments.seconds, network))
    print("network        tutti steps/s   torch steps/s   ratio (range)         wanted   share of peak")
    good = True
    for network in NETWORKS:
        ratios = [a / b for a, b in zip(mine[network], theirs[network])]
        ratio = statistics.median(ratios)
        good = good and ratio >= WANTED[network]
        name = f"{network[0]}x{network[1]} b{network[2]}"
        spread = f"({min(ratios):.1f} - {max(ratios):.1f})"
        print(f"{name:12} {statistics.median(mine[network]):15.0f} {statistics.median(theirs[network]):15.0f} "
              f"{ratio:7.1f} {spread:14} {WANTED[network]:9}   {statistics.median(shares[network]):13.2f}")
    for network in NETWORKS:
        values = [two_against_one(arguments.program, arguments.seconds, network, wall) for _ in range(arguments.rounds)]
        print(f"two processes over one, {network[0]}x{network[1]} b{network[2]}: best {max(values):.2f}, "
              f"median {statistics.median(values):.2f}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
