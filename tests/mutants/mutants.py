#!/usr/bin/env python3
"""Mutation testing: make one small mistake at a time in a copy of the sources, and see whether a test notices.

usage: mutants.py --source DIR --build DIR [--area TEXT] [--only TEXT] [--sample N] [--jobs N] [--fresh] [--untried] [--check]

The mistakes stand in the files *.txt beside this program. Each line begins with a word:

  area NAME          of what follows; the table at the end has one line for each area
  also TEST ...      tests of the area; a mutation that its own tests let live has to survive these, too
  file PATH          the file that the next mutations change
  mutation TEXT      what the mistake is; it ends with the next `mutation`, `file` or `area`
    - TEXT           the old text; it must occur exactly once in the file. Several lines: one `-` each
    + TEXT           the new text, in the same way; none: the old text is deleted
    tests TEST ...   the tests that should notice, the quickest first: unit/test_x, cli/x.sh
    leak             it is so grave that two of these tests have to notice, each by itself
    equivalent WHY   no test can notice, for this reason

White space at the beginning of a line of old text does not count, nor does an empty line. A line that begins with # is a
comment. A mutation whose text is no longer found, or that does not build, is an error: so the list stays alive.

A sample has all leaks, and of each area its share, at least five, always the same ones.

Results are kept in BUILD/mutants. A mutation is tried again when the file that it changes, its own text, or one of its
tests has changed. Exit status 1: an area has less than 90 % of what is not equivalent, a survivor is not
argued, or the list has an error."""
import argparse
import collections
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

LEAST = 90  # percent of an area
HERE = os.path.dirname(os.path.abspath(__file__))
# What a test may take before it counts as one that a mistake has stopped: of the processor, so that a busy machine does not
# matter, and in all, for those that wait.
PROCESSOR_SECONDS, SECONDS = 60, 600


class Mutation:
    def __init__(self, area, also, path, text, place):
        self.area, self.also, self.path, self.text, self.place = area, also, path, text, place
        self.old, self.new, self.tests = [], [], []
        self.leak, self.equivalent = False, None

    def all_tests(self):
        return self.tests + [test for test in self.also if test not in self.tests]

    def name(self):
        return f"{self.path}: {self.text}"


def read_list(path):
    mutations, area, also, file, mutation = [], None, [], None, None
    name = os.path.basename(path)
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            word, _, rest = line.strip().partition(" ")
            rest = rest.strip() if word not in ("-", "+") else rest
            if not word or word.startswith("#"):
                continue
            if word == "area":
                area, also, file, mutation = rest, [], None, None
            elif word == "also":
                also = also + rest.split()
            elif word == "file":
                file, mutation = rest, None
            elif word == "mutation" and area and file:
                mutation = Mutation(area, also, file, rest, f"{name}:{number}")
                mutations.append(mutation)
            elif mutation and word == "-":
                mutation.old.append(rest)
            elif mutation and word == "+":
                mutation.new.append(rest)
            elif mutation and word == "tests":
                mutation.tests += rest.split()
            elif mutation and word == "leak":
                mutation.leak = True
            elif mutation and word == "equivalent":
                mutation.equivalent = rest
            else:
                sys.exit(f"{name}:{number}: not expected here: {line.strip()}")
    return mutations


def mutate(mutation, text):
    """The text with the mistake, or a complaint."""
    lines = [line.strip() for line in mutation.old if line.strip()]
    if not lines:
        return None, "there is no old text"
    found = list(re.finditer(r"\s*\n\s*".join(re.escape(line) for line in lines), text))
    if len(found) != 1:
        return None, f"expected the old text once in {mutation.path}, found it {len(found)} times"
    changed = text[: found[0].start()] + "\n".join(mutation.new) + text[found[0].end():]
    return (changed, None) if changed != text else (None, "the new text is the old one")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def source_of(source, test):
    return f"{source}/tests/{test}" if test.endswith(".sh") else f"{source}/tests/{test}.c"


def fingerprint(source, mutation):
    digest = hashlib.sha256()
    parts = [mutation.old, mutation.new, mutation.leak, mutation.all_tests(), mutation.path]
    digest.update(json.dumps(parts).encode())
    for path in [f"{source}/{mutation.path}"] + [source_of(source, test) for test in mutation.all_tests()]:
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def complaints(source, mutations):
    for mutation in mutations:
        if not os.path.exists(f"{source}/{mutation.path}"):
            yield f"{mutation.place}: there is no {mutation.path}"
            continue
        complaint = mutate(mutation, read(f"{source}/{mutation.path}"))[1]
        if complaint:
            yield f"{mutation.place}: {mutation.text}: {complaint}"
        for test in mutation.all_tests():
            if not os.path.exists(source_of(source, test)):
                yield f"{mutation.place}: there is no test {test}"
        if mutation.leak and len(mutation.tests) < 2:
            yield f"{mutation.place}: a leak needs two tests"
        if not mutation.all_tests():
            yield f"{mutation.place}: no tests"


# --- a copy of the sources with a build of its own ---------------------------------------------------------------------


class Copy:
    """A tree in BUILD/mutants/copy-N, with a build folder of its own in it."""

    def __init__(self, arguments):
        self.source = arguments.source
        for number in range(1000):
            self.folder = f"{arguments.build}/mutants/copy-{number}"
            self.lock = open(f"{self.folder}.lock", "w", encoding="utf-8")
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:  # of another call
                self.lock.close()
        self.build = f"{self.folder}/build"
        self.parent = arguments.build
        self.environment = None
        self.current = None  # the mutation whose mistake is in the copy
        self.killers = collections.Counter()  # (path, test): mutations that it noticed
        self.whole = None  # the text of its file without it

    def sync(self):
        """Copy what differs; what was deleted is deleted."""
        kept = set()
        for folder, folders, files in os.walk(self.source):
            below = os.path.relpath(folder, self.source)
            if "config.status" in files and below != "." or ".git" in files and below != ".":
                folders[:] = []
                continue
            folders[:] = [f for f in folders if f not in (".git", "autom4te.cache", "runs")
                          and not (below == "." and f.startswith("build") and f != "build-aux")]
            os.makedirs(os.path.normpath(f"{self.folder}/{below}"), exist_ok=True)
            for file in files:
                origin, target = f"{folder}/{file}", os.path.normpath(f"{self.folder}/{below}/{file}")
                if os.path.islink(origin):
                    continue
                kept.add(target)
                if not os.path.exists(target):
                    shutil.copy2(origin, target)
                elif not same(origin, target):
                    shutil.copyfile(origin, target)  # it is new to make, also if it is the old file
        for folder, folders, files in os.walk(self.folder):
            if folder == self.folder and "build" in folders:
                folders.remove("build")
            for file in files:
                if f"{folder}/{file}" not in kept:
                    os.remove(f"{folder}/{file}")

    def make(self, *targets):
        with open(f"{self.folder}.log", "w", encoding="utf-8") as log:
            return subprocess.run(["make", "-s", "TUTTI_WARNINGS=-w", "CFLAGS=-O1", *targets], cwd=self.build, stdout=log, stderr=log,
                                  stdin=subprocess.DEVNULL, check=False).returncode == 0

    def copy_build(self):
        """Objects stay valid; what knows its folder is made again: makefiles, and libtool's wrappers of programs."""
        shutil.copytree(self.parent, self.build, symlinks=True,
                        ignore=lambda folder, names: ["mutants", "fuzz"] if folder == self.parent else [])
        shutil.rmtree(f"{self.build}/modules", ignore_errors=True)
        for folder, _, files in os.walk(self.build):
            for file in files:
                with open(f"{folder}/{file}", "rb") as begin:
                    wrapper = begin.read(4) == b"#! /" and b"temporary wrapper script" in begin.read(200)
                if wrapper:
                    os.remove(f"{folder}/{file}")
        status = read(f"{self.build}/config.status").replace(f"'{self.parent}'", f"'{self.build}'")
        with open(f"{self.build}/config.status", "w", encoding="utf-8") as file:
            file.write(status)
        with open(f"{self.folder}.log", "w", encoding="utf-8") as log:
            subprocess.run(["./config.status"], cwd=self.build, stdout=log, stderr=log, stdin=subprocess.DEVNULL, check=True)

    def prepare(self):
        self.sync()
        if not os.path.exists(f"{self.build}/Makefile"):
            self.copy_build()
        if not self.make("all"):
            sys.exit(f"the copy does not build: see {self.folder}.log")
        printed = subprocess.run(["make", "-s", "--no-print-directory", "test-environment"], cwd=self.build, stdout=subprocess.PIPE, text=True, check=True)
        self.environment = dict(os.environ, **dict(line.split("=", 1) for line in printed.stdout.splitlines()))
        self.environment["TUTTI_TEST_FIRST"] = "yes"
        self.environment["TMPDIR"] = f"{self.folder}-tmp"
        os.makedirs(self.environment["TMPDIR"], exist_ok=True)

    def put(self, mutation):
        """Take the last mistake out and, unless it is None, put another one in."""
        if self.current and (not mutation or mutation.path != self.current.path):
            self.write(self.current.path, self.whole)
        if mutation:
            if not self.current or mutation.path != self.current.path:
                self.whole = read(f"{self.folder}/{mutation.path}")
            self.write(mutation.path, mutate(mutation, self.whole)[0])
        self.current = mutation

    def write(self, path, text):
        with open(f"{self.folder}/{path}", "w", encoding="utf-8") as file:
            file.write(text)

    def needed(self, tests):
        programs = [f"tests/{test}" for test in tests if not test.endswith(".sh")]
        if len(programs) < len(tests):
            programs += ["test-helpers"]
        return programs

    def run(self, test):
        """None: it passed. Otherwise how it failed; and the seconds that it took."""
        command = ["prlimit", f"--cpu={PROCESSOR_SECONDS}"]
        command += ["bash", f"{self.folder}/tests/{test}"] if test.endswith(".sh") else [f"{self.build}/tests/{test}"]
        began = time.monotonic()
        with open(f"{self.folder}.test.log", "w", encoding="utf-8") as log:
            process = subprocess.Popen(command, cwd=self.build, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, start_new_session=True)
            try:
                code = process.wait(SECONDS)
                how = None if code in (0, 77) else "no end" if code == -signal.SIGXCPU else f"status {code}"
            except subprocess.TimeoutExpired:
                how = f"more than {SECONDS} s"
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        for left in os.listdir(self.environment["TMPDIR"]):
            shutil.rmtree(f"{self.environment['TMPDIR']}/{left}", ignore_errors=True)
        return how, time.monotonic() - began

    def examine(self, mutation, quick):
        """{"result": killed, survived or "does not build"; "by": the tests that noticed; "seconds"}"""
        began, wanted, by = time.monotonic(), 2 if mutation.leak else 1, []
        self.put(mutation)
        if not self.make("all", *self.needed(mutation.tests)):
            result = "does not build"
        else:
            result = "survived"
            tests = mutation.tests if quick and mutation.tests else mutation.all_tests()
            for test in sorted(tests, key=lambda test: (test not in mutation.tests, -self.killers[mutation.path, test])):
                if test not in mutation.tests and not self.make(*self.needed([test])):
                    sys.exit(f"{test} does not build: see {self.folder}.log")
                how = self.run(test)[0]
                if how:
                    by.append(f"{test} ({how})")
                    self.killers[mutation.path, test] += 1
                if len(by) == wanted:
                    result = "killed"
                    break
        return {"result": result, "by": by, "seconds": round(time.monotonic() - began, 1)}


def same(one, other):
    a, b = os.stat(one), os.stat(other)
    if a.st_size != b.st_size:
        return False
    with open(one, "rb") as first, open(other, "rb") as second:
        return first.read() == second.read()


# --- all of them -------------------------------------------------------------------------------------------------------


def digest_of_tree(source):
    """Of all that the tests rest on, except the tests."""
    digest = hashlib.sha256()
    for top in ("include", "core", "engine", "program", "plugins", "backends", "spaces", "ini"):
        for folder, folders, files in os.walk(f"{source}/{top}"):
            folders.sort()
            for file in sorted(files):
                with open(f"{folder}/{file}", "rb") as content:
                    digest.update(file.encode() + content.read())
    return digest.hexdigest()


def without_mistakes(copy, tests, store, log):
    """A test that noticed a mistake has to pass without one. `store`: the file that remembers which do."""
    faults, tree = {}, digest_of_tree(copy.source)
    passed = json.loads(read(store)) if os.path.exists(store) else {}
    for test in sorted(tests):
        with open(source_of(copy.source, test), "rb") as file:
            key = hashlib.sha256(tree.encode() + file.read()).hexdigest()
        if passed.get(test, {}).get("key") == key:
            continue
        if not copy.make("all", *copy.needed([test])):
            sys.exit(f"{test} does not build: see {copy.folder}.log")
        how, seconds = copy.run(test)
        log(f"  {seconds:6.1f} s  {test}")
        if how:
            faults[test] = f"{test} fails without a mistake: {how}\n" + read(f"{copy.folder}.test.log")[-2000:]
        else:
            add_to_store(store, test, {"key": key, "seconds": seconds})
    return faults


def add_to_store(path, name, value):
    """Other calls may write to it, too."""
    with open(path + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(read(path)) if os.path.exists(path) else {}
        known[name] = value
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(known, file, indent=1)
        os.replace(path + ".new", path)


def sample(mutations, wanted):
    """All leaks, and of each area its share of the others, at least five."""
    areas = collections.OrderedDict()
    for mutation in mutations:
        areas.setdefault(mutation.area, []).append(mutation)
    taken = set()
    for group in areas.values():
        count = max(5, -(-wanted * len(group) // len(mutations)))
        group = sorted(group, key=lambda m: (not m.leak, hashlib.sha256(m.name().encode()).digest()))
        taken.update(m.name() for m in group[: max(count, sum(m.leak for m in group))])
    return [m for m in mutations if m.name() in taken]


def verdict(mutation, result):
    if result["result"] == "survived" and mutation.equivalent:
        return "equivalent"
    return result["result"]


def table(mutations, results, out):
    counts = collections.OrderedDict()
    for mutation in mutations:
        if mutation.name() in results:
            counts.setdefault(mutation.area, collections.Counter())[verdict(mutation, results[mutation.name()])] += 1
    columns = ["killed", "survived", "equivalent", "does not build"]
    out(f"\n{'area':<24}{'mutations':>10}" + "".join(f"{c:>16}" for c in columns) + f"{'killed':>9}")
    total, bad = collections.Counter(), []
    for area, count in list(counts.items()) + [("all", total)]:
        whole = sum(count.values())
        share = 100 * count["killed"] / (whole - count["equivalent"]) if whole > count["equivalent"] else 100
        out(f"{area:<24}{whole:>10}" + "".join(f"{count[c]:>16}" for c in columns) + f"{share:>7.1f} %")
        if share < LEAST:
            bad.append(area)
        if area != "all":
            total.update(count)
    return bad, total


def main():
    parser = argparse.ArgumentParser(description="see the head of this file")
    parser.add_argument("--source", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--area", default="", help="only areas whose name contains one of these, separated by commas")
    parser.add_argument("--only", default="", help="only mutations whose file or text contains this")
    parser.add_argument("--sample", type=int, default=0, help="at least so many, of all areas; the other options choose among them")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="try all again, whatever is known")
    parser.add_argument("--untried", action="store_true", help="only those that were never tried; not those tried before a change")
    parser.add_argument("--quick", action="store_true", help="only a mutation's own tests; survivors are tried again later")
    parser.add_argument("--report", action="store_true", help="only the table of what is known")
    parser.add_argument("--check", action="store_true", help="only check that the list fits the sources")
    arguments = parser.parse_args()
    arguments.source, arguments.build = os.path.abspath(arguments.source), os.path.abspath(arguments.build)

    def log(text):
        print(text, flush=True)

    mutations = []
    for name in sorted(os.listdir(HERE)):
        if name.endswith(".txt"):
            mutations += read_list(f"{HERE}/{name}")
    wanted = sample(mutations, arguments.sample) if arguments.sample else mutations
    wanted = [m for m in wanted if any(a in m.area for a in arguments.area.split(",")) and arguments.only in m.name()]
    faults = list(complaints(arguments.source, wanted))
    names = collections.Counter(mutation.name() for mutation in mutations)
    faults += [f"{name}: stands there {count} times" for name, count in names.items() if count > 1]
    if faults:
        log("\n".join(faults))
        sys.exit(1)
    if arguments.check:
        log(f"{len(wanted)} mutations in {len({m.area for m in wanted})} areas fit the sources")
        return 0

    store = f"{arguments.build}/mutants/results.json"
    os.makedirs(os.path.dirname(store), exist_ok=True)
    known = json.loads(read(store)) if os.path.exists(store) else {}
    if arguments.untried:
        wanted = [m for m in wanted if m.name() not in known]
    prints = {m.name(): fingerprint(arguments.source, m) for m in wanted}
    todo = [m for m in wanted if arguments.fresh or known.get(m.name(), {}).get("fingerprint") != prints[m.name()]
            or known[m.name()]["result"] == "does not build"]
    log(f"{len(wanted)} mutations, of which {len(wanted) - len(todo)} are known and {len(todo)} are tried")
    results = {m.name(): known[m.name()] for m in wanted if m not in todo}
    if arguments.report:
        results, todo = {m.name(): known[m.name()] for m in wanted if m.name() in known}, []

    # Those of a file follow one another in one copy, which then compiles one file for each. Calls side by side share the
    # work: a file belongs to the call that locks it, and what another one has found out is taken over.
    work, lock, done = collections.deque(), threading.Lock(), 0
    groups = collections.OrderedDict()
    for mutation in todo:
        groups.setdefault(mutation.path, []).append(mutation)
    areas = collections.OrderedDict()
    for group in groups.values():
        areas.setdefault(group[0].area, []).append(group)
    while areas:  # something of every area early on
        for area in list(areas):
            work.append((areas[area].pop(), True))
            if not areas[area]:
                del areas[area]

    def note(mutation, result, how):
        nonlocal done
        with lock:
            done += 1
            results[mutation.name()] = result
            by = f" by {', '.join(result['by'])}" if result["by"] else ""
            log(f"{done:4}/{len(todo)} {how}  {verdict(mutation, result)}{by}: {mutation.name()}")

    def worker(copy):
        while True:
            try:
                with lock:
                    group, first = work.popleft()
            except IndexError:
                break
            with open(f"{arguments.build}/mutants/{group[0].path.replace('/', '-')}.lock", "w", encoding="utf-8") as claim:
                try:
                    fcntl.flock(claim, fcntl.LOCK_EX | (fcntl.LOCK_NB if first else 0))
                except BlockingIOError:
                    with lock:
                        work.append((group, False))
                    continue
                for mutation in group:
                    found = (json.loads(read(store)) if os.path.exists(store) else {}).get(mutation.name(), {})
                    if found.get("fingerprint") == prints[mutation.name()] and (not arguments.fresh or not first):
                        note(mutation, found, "elsewhere")
                        continue
                    result = copy.examine(mutation, arguments.quick)
                    result["fingerprint"] = prints[mutation.name()]
                    if arguments.quick and result["result"] == "survived":
                        result["fingerprint"] += " of its own tests"
                    add_to_store(store, mutation.name(), result)
                    note(mutation, result, f"{result['seconds']:7.1f} s")
        copy.put(None)

    if todo:
        copies = [Copy(arguments) for _ in range(min(arguments.jobs, len(groups)))]
        for copy in copies:
            copy.prepare()
        threads = [threading.Thread(target=worker, args=(copy,)) for copy in copies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        killers = {by.split(" ")[0] for m in todo for by in results[m.name()]["by"]}
        log(f"{len(killers)} tests noticed something; without a mistake (where that is not known):")
        faults = without_mistakes(copies[0], killers, f"{arguments.build}/mutants/tests.json", log)
        for mutation in todo:
            result = results[mutation.name()]
            if any(by.split(" ")[0] in faults for by in result["by"]):
                result.update(result="survived", fingerprint="a test that noticed fails anyway")
                add_to_store(store, mutation.name(), result)
        for fault in faults.values():
            log(fault)

    shown = [m for m in wanted if m.name() in results]
    bad, total = table(shown, results, log)
    status = 0
    for mutation in shown:
        result = verdict(mutation, results[mutation.name()])
        if result == "equivalent":
            log(f"equivalent: {mutation.name()}\n  {mutation.equivalent}")
        elif result != "killed":
            one = f" (only {results[mutation.name()]['by'][0]} noticed a leak)" if results[mutation.name()]["by"] else ""
            log(f"{result}: {mutation.place}: {mutation.name()}{one}")
            status = 1
    for area in bad:
        log(f"area {area}: less than {LEAST} % are killed")
    if len(shown) < len(wanted):
        log(f"{len(wanted) - len(shown)} of {len(wanted)} are not tried yet")
    log(f"{total['killed']} of {sum(total.values())} mutations killed, {total['survived']} survived, "
        f"{total['equivalent']} argued equivalent")
    return 1 if bad else status


if __name__ == "__main__":
    sys.exit(main())
