#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Scan small programs, and compare what the description does with what the program does.

    tests/program/programs.py BUILD SOURCE [NAME...]

Each program is compiled and run by mpiexec with --monitor, a core (or what it takes for one) for each rank, scanned,
and walked by `xylem predict`: both must send the same bytes in the same messages between the same ranks, and find no
value unknown. (What direct collectives read of each other's memory counts.) Run in virtual time on some machines, the program must take the predicted time,
to the last bit. By default a fixed quarter of the programs; all
with XYLEM_SOAK, for more numbers of ranks, and two scans must be the same.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import testing # noqa: E402

SECONDS = testing.seconds(100)  # of one command: only a hang takes that long

# Arguments of runs; options of the scan; more sources. The rest runs without any.
ARGUMENTS = {
    "getopt": [[], ["-n", "77", "-s3", "-vv"]],
    "arguments": [[], ["5", "--big"], ["--factor", "2.5", "10"]],
    "carried": [["12"]],
    "getopt_long": [[], ["-n", "50", "rest"], ["--steps=3", "--si", "20", "-v"]],
    "realloc": [["3"]],
    "struct_bytes": [["100", "8", "0.5"]],
    "words": [["4x3"], ["grid=2, 5%", "mode=LAST", "*50.5", "0x3"], ["no", "mode=second"]],
    "option_table": [[], ["times", "3", "count", "50"]],
    "kernel": [["50"]],
    "fox": [["60"]],
    "heat2d": [["32", "5"]],
    "matrix_product": [["30"]],
}
OPTIONS = {"kernel": ["--kernel", "smooth"], "macros": ["-DTWICE"]}
EXAMPLES = ["fox", "heat2d", "master_worker", "matrix_product", "overlap", "pi", "ring"]
RANKS = {"shared_split": [6], "fox": [1, 2, 9, 15, 27], "collectives": [1, 4], "figure_24": [3], "groups": [2, 5]}
# Calls of kernels by P processes; how often loops by their name are begun.
KERNEL_CALLS = {"kernel": lambda p: p * p, "fox": lambda p: p * p}
LOOPS = {"figure_24": {"figure_24.c:7": 1, "figure_24.c:12": 2}}  # once on 0, once on each of the others
MACHINES = ["node:1 core:32", "node:4(latency=1us bandwidth=12.5GB/s) core:8"]
# Of these all runs look at all: they have answers of their own, or break when a promise of the scanner does.
ALWAYS = {*KERNEL_CALLS, *LOOPS, "early_return", "intercomm", "persistent_collectives",
          "sorted_bytes", "window_groups"}
# A run may reorder the ranks of a grid by the nodes; a prediction leaves them where they are.
REORDERS = {"heat2d"}
# The monitor counts a reduction between two groups by the slices of the vectors of both; it is predicted as an
# allreduce of both groups.
COUNTED_OTHERWISE = {"intercomm_reduce"}
# In these the order of arrival decides who gets what: only sums are the same in two runs.
ANY_ORDER = {"tasks", "wildcard", "waitany", "master_worker"}


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, **options)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ends with {result.returncode}:\n"
                           f"{result.stdout}{result.stderr}")
    return result


def read_matrix(path):
    """{(from, to): (bytes, messages)} of a CSV file."""
    with open(path, encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row and row[0].isdigit()]
    return {(int(a), int(b)): (int(float(c)), int(float(d))) for a, b, c, d in rows if a != b}


def totals(matrix):
    return tuple(map(sum, zip(*matrix.values()))) if matrix else (0, 0)


def is_chosen(name):
    """A quarter of the programs, and always those with answers of their own."""
    return testing.is_chosen(name, 4) or name in ALWAYS


class Tester:
    def __init__(self, build, source):
        self.bin = Path(build) / "bin"
        self.source = Path(source) / "tests" / "program"
        self.examples = Path(source) / "examples"
        self.more_cores = next((Path(build) / "tests" / "mpi").glob("*mpi_more_cores*"))
        self.failed = 0
        self.answers = {}  # of predictions of the program at hand

    def sources(self, name):
        folder = self.source / name
        if name in EXAMPLES:
            return [self.examples / f"{name}.c"]
        return sorted(folder.glob("*.c")) if folder.is_dir() else [self.source / f"{name}.c"]

    def names(self):
        names = sorted([p.stem for p in self.source.glob("*.c")] +
                       [p.name for p in self.source.iterdir() if p.is_dir() and list(p.glob("*.c"))] + EXAMPLES)
        return [n for n in names if is_chosen(n)]

    def describe(self, name, work):
        command = [self.bin / "xylem", "scan", *self.sources(name), *OPTIONS.get(name, [])]
        result = run([*command, "-o", work / "p.xml"])
        if result.stderr:
            raise RuntimeError(f"something is not known:\n{result.stderr}")
        if testing.SOAK and run(command).stdout != (work / "p.xml").read_text(encoding="utf-8"):
            raise RuntimeError("two scans differ")

    def predict(self, work, machine, ranks, arguments):
        """What a prediction says, with its matrix."""
        case = (machine, ranks, *arguments)
        if case not in self.answers:
            self.answers[case] = self.predict_new(work, machine, ranks, arguments)
        return self.answers[case]

    def predict_new(self, work, machine, ranks, arguments):
        command = [self.bin / "xylem", "predict", work / "p.xml", "-n", str(ranks), "--machine", machine,
                   "--free-kernels", "--matrix", work / "predicted.csv", "--json"]
        answer = json.loads(run(command + [f"--arg={a}" for a in arguments]).stdout)
        return {**answer, "matrix": read_matrix(work / "predicted.csv")}

    def compare_virtual(self, work, machine, ranks, arguments):
        run([self.bin / "mpiexec", "-n", str(ranks), "--virtual", machine, "--compute", "none",
             "--json", work / "virtual.json", work / "p", *arguments])
        virtual = json.loads((work / "virtual.json").read_text(encoding="utf-8"))
        predicted = self.predict(work, machine, ranks, arguments)
        for key in ("time", "messages", "bytes", "collectives"):
            if virtual[key] != predicted[key]:
                raise RuntimeError(f"{ranks} ranks {arguments} on {machine}: {key} {virtual[key]!r} in virtual time, "
                                   f"{predicted[key]!r} predicted")

    def compare(self, name, work, ranks, arguments):
        pretend = {"LD_PRELOAD": str(self.more_cores), "XYLEM_TEST_CORES": str(ranks)} if ranks > 1 else {}
        run([self.bin / "mpiexec", "-n", str(ranks), "--monitor", work / "m", work / "p", *arguments],
            env={**os.environ, **pretend})
        real = read_matrix(work / "m" / "all.csv")
        answer = self.predict(work, MACHINES[0], ranks, arguments)
        calls = answer["kernel_calls"]
        loops = {k["name"]: k["calls"] for k in answer["kernels"] if k["is_loop"]}
        if name in LOOPS and loops != LOOPS[name]:
            raise RuntimeError(f"{ranks} ranks: loops are begun {loops} times")
        if calls != KERNEL_CALLS.get(name, lambda p: 0)(ranks):
            raise RuntimeError(f"{ranks} ranks {arguments}: {calls} calls of kernels")
        predicted = answer["matrix"]
        if name in ANY_ORDER:
            real, predicted = totals(real)[1], totals(predicted)[1]
        if real != predicted and name not in COUNTED_OTHERWISE:
            raise RuntimeError(f"{ranks} ranks {arguments}: the program sends\n{real}\nthe description\n{predicted}")

    def test(self, name):
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            self.answers = {}
            defines = [o for o in OPTIONS.get(name, []) if o.startswith("-D")]
            run([self.bin / "mpicc", "-O1", *defines, *self.sources(name), "-o", work / "p", "-lm"])
            self.describe(name, work)
            for ranks in RANKS.get(name, [1, 2, 4, 6] if testing.SOAK else [4]):
                for arguments in ARGUMENTS.get(name, [[]]):
                    self.compare(name, work, ranks, arguments)
                    for machine in MACHINES[:1] if name in REORDERS else MACHINES:
                        self.compare_virtual(work, machine, ranks, arguments)

    def test_all(self, names):
        for name in names or self.names():
            try:
                self.test(name)
            except (RuntimeError, subprocess.TimeoutExpired, OSError) as error:
                self.failed += 1
                print(f"{name}: {error}\n")
        print(f"{len(names or self.names())} programs, {self.failed} not as they run")
        return 1 if self.failed else 0


def main():
    build, source, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    return Tester(build, source).test_all(names)


if __name__ == "__main__":
    sys.exit(main())
