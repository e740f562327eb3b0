#!/usr/bin/env python3
"""Every comparison of this folder, one after the other, as one table.

Usage: bench_all.py BUILD [--write FILE] [--only TEXT]
BUILD is where `make bench` has built its programs; `make bench-all` calls this, with OUT=FILE for --write. A comparison whose peer is not installed is named
below the table, with what it said. --write replaces FILE by the table and what it was measured on, unless nothing could be
measured; text behind the table stays. --only takes the comparisons whose command has TEXT in it. The peers are packages of PyPI: "jax[cpu]", optax, torch, scikit-learn, pot, numpy, pandas.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

COMPARISONS = ["train_mlp_jax.py train-mlp", "nomu_fit_jax.py nomu --epochs 60", "nomu_fit_torch.py nomu --epochs 60",
               "train_darts_torch.py train-darts", "groups_torch.py groups", "ask_sklearn.py ask", "forest_sklearn.py forest",
               "otmann_pot.py otmann", "select_numpy.py select", "load_pandas.py load", "load_pandas.py load --rows 1000000 --rounds 3",
               "workers.py ../../tutti-uninstalled", "train_pool_torch.py train-pool", "train_pool_jax.py train-pool"]
HERE = pathlib.Path(__file__).resolve().parent


def run(comparison, build, record):
    """What went wrong, or None."""
    script, program, *options = comparison.split()
    command = [sys.executable, HERE / script, build / "tests/bench" / program, *options]
    print(f"\n=== {comparison}", flush=True)
    before = record.stat().st_size
    environment = {"TUTTI_PLUGIN_PATH": str(build / ".libs"), **os.environ, "BENCH_RECORD": str(record)}
    done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    print(done.stdout, flush=True)
    if done.returncode == 0 and record.stat().st_size > before:
        return None
    os.truncate(record, before)  # what a program says before it fails is not to be trusted
    return (done.stdout.strip().splitlines() or [f"status {done.returncode}"])[-1]


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def cell(line):
    spread = "" if line["low"] == line["high"] else f" ({line['low']:.2f} - {line['high']:.2f})"
    return (f"| {line['what']} | {number(line['ours'])} {line['unit']} | {number(line['theirs'])} {line['unit']} | {line['peer']} | "
            f"{line['ratio']:.2f}{spread} | {line['share']} |")


def machine():
    text = ""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
        model = next(line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.machine()
    flags = text.split("flags", 1)[-1].split("\n", 1)[0].split() if "flags" in text else []
    sets = [name for name in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if name in flags]
    return f"{model} ({', '.join(sets)}), {len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f} at the end"


def page(lines, missing, version):
    text = ["# Performance", "",
            "What `make bench-all` printed: each row sets one of the programs in `tests/bench` beside a peer, the strongest that we know",
            "unless the text below says otherwise, turn by turn in some rounds of one run. Times are the processor's of one thread, but where a",
            "row says otherwise, and for OTMANN, the forward selection, whole runs and pools on a GPU, which go by the wall clock. Numbers are medians",
            "of the rounds. A ratio above 1 says that Tutti was so many times faster; in brackets, its range over the rounds. The documents of the",
            "parts say what limits them: [backend-cpu.md](backend-cpu.md), [nomu.md](nomu.md), [search.md](search.md), [spaces.md](spaces.md).", "",
            f"{datetime.date.today():%d %B %Y}, {version}, {machine()}.", "",
            "| what | Tutti | peer | | ratio | of the limit |", "|---|---|---|---|---|---|", *map(cell, lines)]
    if missing:
        text += ["", "Not measured:", "", *(f"- `{name}`: {why}" for name, why in missing)]
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD", type=pathlib.Path)
    parser.add_argument("--write", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--only", metavar="TEXT", default="")
    options = parser.parse_args()
    build = options.build.resolve()
    if options.write and options.only:
        parser.error("--write wants all comparisons: the table of some would replace the table of all")
    if options.write and not options.write.resolve().parent.is_dir():
        parser.error(f"--write {options.write}: its folder is not there")
    version = subprocess.run([build / "tutti", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        record = pathlib.Path(folder) / "record"
        record.touch()
        wanted = [c for c in COMPARISONS if options.only in c]
        missing = [(c, why) for c in wanted if (why := run(c, build, record))]
        lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    text = page(lines, missing, version)
    print(text)
    if options.write and lines:  # what follows the table was written by hand
        _, heading, rest = options.write.read_text(encoding="utf-8").partition("\n## ") if options.write.exists() else ("", "", "")
        options.write.write_text(text + heading + rest, encoding="utf-8")
    return 0 if lines else 77


if __name__ == "__main__":
    sys.exit(main())
