#!/usr/bin/env python3
"""A run of many short trainings: two workers beside one, turn by turn.

Usage: workers.py TUTTI [--networks 500] [--rounds 2]
TUTTI is the program, from a build tree `tutti-uninstalled`. Each of the networks trains for some 50 ms (a run of 100 finds the epochs for that), so that what else
a run does shows: asking, sending, files, the catalogue, the selection. Counts the wall clock, from the start of the program to its end, and prints what share of the workers' time
training took. The limit is 2, on two cores that have nothing else to do. On a machine with one core it says so and leaves with 77.
"""
import argparse
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

from record import record

RECIPE = """[run]
seed = 1
budget = {networks}
workers = {workers}
[data]
plugin = nomu
function = forrester
rows = 1000
noise = 0.01
split = 8 2 0
[space]
plugin = mlp
min_depth = 3
max_depth = 3
widths = 64
[hyperparameters]
epochs = {epochs}
batch_size = 32
learning_rate = log-uniform 1e-3 3e-2
[builder]
plugin = nes-rs
[selector]
plugin = forward
size = 5
"""


WANTED = 0.05  # seconds of a training


def run(program, networks, workers, epochs):
    """Seconds of the run, and of its trainings together."""
    with tempfile.TemporaryDirectory() as folder:
        recipe, out = pathlib.Path(folder) / "workers.ini", pathlib.Path(folder) / "run"
        recipe.write_text(RECIPE.format(networks=networks, workers=workers, epochs=epochs), encoding="utf-8")
        begin = time.monotonic()
        subprocess.run([program, "run", recipe, "--out", out, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        took = time.monotonic() - begin
        trained = sqlite3.connect(out / "catalogue.sqlite").execute("SELECT sum(seconds) FROM trials").fetchone()[0]
        return took, trained


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="TUTTI")
    parser.add_argument("--networks", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        print("two workers want two cores, and this process has one")
        return 77
    took, shares, ratios = {1: [], 2: []}, [], []
    probe, probe_epochs = 100, 100
    epochs = max(1, round(probe_epochs * WANTED * probe / run(options.program, probe, 2, probe_epochs)[1]))
    for _ in range(options.rounds):
        for workers in (1, 2):
            seconds, trained = run(options.program, options.networks, workers, epochs)
            took[workers].append(seconds)
            print(f"{options.networks} networks, {workers} workers: {seconds:.2f} s, {1000 * trained / options.networks:.0f} ms a training, "
                  f"which is {100 * trained / workers / seconds:.1f} % of the workers' time", flush=True)
        shares.append(trained / 2 / took[2][-1])
        ratios.append(took[1][-1] / took[2][-1])
    print(f"two workers are {statistics.median(ratios):.2f} ({min(ratios):.2f} - {max(ratios):.2f}) times as fast as one")
    record(f"a run of {options.networks} networks of {1000 * trained / options.networks:.0f} ms, two workers", "s", statistics.median(took[2]),
           statistics.median(took[1]), "one worker", ratios, f"{statistics.median(ratios) / 2:.2f} of 2; {100 * statistics.median(shares):.0f} % of the workers' time is training")
    return 0


if __name__ == "__main__":
    sys.exit(main())
