"""What train_pool_torch.py and train_pool_jax.py share: the options, the rows of both sides, and the program's side."""
import argparse
import csv
import gzip
import json
import pathlib
import random
import subprocess
import tempfile

try:
    import numpy as np
except ImportError as error:
    print(f"nothing to compare with: {error}")
    raise SystemExit(77) from None


def options_of(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="TRAIN_POOL")
    parser.add_argument("--data", action="append", default=[], metavar="FILE", help="a table, .csv or .csv.gz, whose last column is the target")
    parser.add_argument("--rows", type=int, default=36000, help="of a table that has more")
    parser.add_argument("--networks", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=64, help="of networks that are alike")
    parser.add_argument("--images", type=int, default=40, help="networks of DARTS cells")
    parser.add_argument("--cells", type=int, default=8)
    parser.add_argument("--channels", type=int, default=16)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--image-rows", type=int, default=5000)
    parser.add_argument("--image-epochs", type=int, default=2)
    parser.add_argument("--image-batch", type=int, default=100)
    parser.add_argument("--peer-steps", type=int, default=0, metavar="N",
                        help="time at most so many steps of each network that the peer trains by itself, and count as many seconds for each of its others")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="of our backend")
    parser.add_argument("--image-set", action="append", default=[], metavar="NAME=VALUE", help="of our backend, for images in place of --set")
    parser.add_argument("--only", choices=["mixed", "alike", "images"], help="one of the comparisons")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--plugins", metavar="FOLDER", help="of an emulated GPU: BUILD/tests/cuda/.libs")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--tiny", action="store_true", help="sizes that show that both sides run, as on an emulated GPU")
    options = parser.parse_args()
    if options.tiny:
        options.rows, options.networks, options.epochs, options.batch = 40, 3, 1, 16
        options.images, options.cells, options.channels, options.size = 2, 3, 2, 8
        options.image_rows, options.image_epochs, options.image_batch = 8, 1, 4
    return options


def read_table(path, most):
    """Standardised float32 [rows][features + 1], shuffled."""
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        lines = list(csv.reader(file))[1:]
    random.Random(0).shuffle(lines)
    table = np.array(lines[:most], dtype=np.float64)
    spread = table.std(0)
    return ((table - table.mean(0)) / np.where(spread > 0, spread, 1)).astype(np.float32)


def tables(options):
    """(name, rows) of each data set; without any, of made-up ones."""
    if not options.data:
        draws = np.random.default_rng(0)
        x = draws.standard_normal((options.rows, 9), dtype=np.float32)
        y = np.sin(x.sum(1, keepdims=True)) + 0.1 * draws.standard_normal((options.rows, 1), dtype=np.float32)
        return [("made-up rows", np.concatenate([x, y], 1).astype(np.float32))]
    return [(pathlib.Path(path).resolve().parent.name, read_table(path, options.rows)) for path in options.data]


class Program:
    """Our side, with the rows of a table."""

    def __init__(self, options, rows=None):
        self.command = [options.program, "--backend", options.backend]
        for value in options.image_set if rows is None else options.set:
            self.command += ["--set", value]
        if options.plugins:
            self.command += ["--plugins", options.plugins]
        self.folder = tempfile.TemporaryDirectory()
        if rows is not None:
            file = pathlib.Path(self.folder.name) / "rows"
            rows.tofile(file)
            self.command += ["--rows", str(file), "--count", str(len(rows)), "--features", str(rows.shape[1] - 1)]

    def run(self, *arguments):
        done = subprocess.run([*self.command, *map(str, arguments)], text=True, capture_output=True, check=False)
        if done.returncode != 0:
            print(f"nothing to compare: {(done.stderr.strip().splitlines() or [done.returncode])[-1]}")
            raise SystemExit(77)
        return json.loads(done.stdout)


def say(what, ours, seconds, steps, loss, peer):
    """A line for both sides, which have done as many steps: the peer trains the networks that have not diverged on our side."""
    if ours["steps"] != steps:
        raise SystemExit(f"{what}: {ours['steps']} steps here, {steps} in {peer}: this is not the same work")
    print(f"{what}: {ours['finished']} of {ours['networks']} networks, {steps} steps; tutti {ours['seconds']:.3f} s (loss {ours['loss']:.4f}), "
          f"{peer} {seconds:.3f} s (loss {loss:.4f}), ratio {seconds / ours['seconds']:.2f}", flush=True)
