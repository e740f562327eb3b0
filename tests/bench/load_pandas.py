#!/usr/bin/env python3
"""Reading a table of numbers: source csv beside pandas, turn by turn on the same file.

Usage: load_pandas.py LOAD [--rows 100000] [--columns 100] [--rounds 3]
LOAD is the program that `make bench` builds; plugins come from TUTTI_PLUGIN_PATH. The numbers have six digits. Both sides count the
processor's seconds. Prints MB/s of both and the ratio, and what share ours is of copying the file's bytes from the system's cache. Without pandas it says so and leaves with 77.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from record import record


def copying(path):
    """The processor's seconds of reading a file into one buffer again and again."""
    buffer, begin = bytearray(1 << 20), time.process_time()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.process_time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="LOAD")
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    try:
        import numpy as np
        import pandas as pd
    except ImportError as error:
        print(f"nothing to compare with: {error}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.csv")
        table = np.random.default_rng(0).normal(size=(options.rows, options.columns))
        header = ",".join(f"x{i}" for i in range(options.columns))
        np.savetxt(path, table, fmt="%.6g", delimiter=",", header=header, comments="")
        megabytes, mine, theirs, copies = os.path.getsize(path) / 1e6, [], [], []
        for _ in range(options.rounds):
            words = subprocess.run([options.program, path], check=True, capture_output=True, text=True).stdout.split()
            mine.append(megabytes / float(words[0]))
            copies.append(megabytes / copying(path))
            begin = time.process_time()
            frame = pd.read_csv(path)
            theirs.append(megabytes / (time.process_time() - begin))
            if [int(word) for word in words[1:]] != list(frame.shape):
                sys.exit(f"{words[1:]} rows and columns here, {frame.shape} in pandas")
    ratios = [a / b for a, b in zip(mine, theirs)]
    share = statistics.median(a / b for a, b in zip(mine, copies))
    print(f"{megabytes:.0f} MB: tutti {statistics.median(mine):.0f} MB/s, pandas {pd.__version__} {statistics.median(theirs):.0f} MB/s, "
          f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} - {max(ratios):.2f}); {share:.2f} of copying the file")
    record(f"a table of {options.rows} x {options.columns} numbers is read", "MB/s", statistics.median(mine), statistics.median(theirs),
           f"pandas {pd.__version__}", ratios, f"{share:.2f} of copying the file")
    return 0


if __name__ == "__main__":
    sys.exit(main())
