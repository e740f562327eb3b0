#!/usr/bin/env python3
"""What a trial costs beside its training: 10,000 trials of backend function by random search through `tutti run`:
throughput.py TUTTI [--budget N] [--builder NAME]. Prints the milliseconds of a trial on average (ask, hand to a worker,
reply, tell, durable commit), over the first tenth and over the last tenth."""
import argparse
import os
import sqlite3
import subprocess
import tempfile
import time

RECIPE = """[run]
name = throughput
budget = {budget}
window = 16
workers = 2
[space]
plugin = fixed
[hyperparameters]
x0 = uniform -5 10
x1 = uniform 0 15
[backend]
plugin = function
[builder]
plugin = {builder}
"""


def told(path):
    """Trials told so far; 0 while there is no catalogue."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as catalogue:
            return catalogue.execute("select count(told) from trials").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("tutti")
parser.add_argument("--budget", type=int, default=10000)
parser.add_argument("--builder", default="nes-rs")
arguments = parser.parse_args()
with tempfile.TemporaryDirectory() as folder:
    recipe, run = os.path.join(folder, "throughput.ini"), os.path.join(folder, "run")
    with open(recipe, "w", encoding="ascii") as file:
        file.write(RECIPE.format(budget=arguments.budget, builder=arguments.builder))
    start = time.perf_counter()
    process = subprocess.Popen([arguments.tutti, "run", recipe, "--out", run], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    seen = [(0, start)]
    while process.poll() is None:
        time.sleep(0.02)
        count = told(os.path.join(run, "catalogue.sqlite"))
        if count > seen[-1][0]:
            seen.append((count, time.perf_counter()))
    end = time.perf_counter()
    assert process.returncode == 0, "the run failed"
    assert told(os.path.join(run, "catalogue.sqlite")) == arguments.budget
    tenth = arguments.budget // 10

    def pace(low, high):
        """Milliseconds a trial between the first sights of `low` and `high` trials."""
        first = next(s for s in seen if s[0] >= low)
        last = next((s for s in seen if s[0] >= high), seen[-1])
        return 1e3 * (last[1] - first[1]) / max(last[0] - first[0], 1)

    print(f"{arguments.builder}, {arguments.budget} trials: {1e3 * (end - start) / arguments.budget:.3f} ms a trial; "
          f"first tenth {pace(0, tenth):.3f}, last tenth {pace(arguments.budget - tenth, arguments.budget):.3f}")
