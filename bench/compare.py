#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure two builds of Xylem in one run: is the new one slower?

    bench/compare.py OLD NEW [--turns N] [--quick] [--only REGEX] [--instructions]

OLD and NEW are build trees of the preset release. Each turn runs old, new and old again, one right
after the other and in another order each time, so that a machine that changes its speed changes it for all three. A row prints
the median time of both, their ratio, the spread of the old build against itself in this run, and
`slower` where the ratio is above 1 + max(3 %, twice that spread). The exit code is 1 when a row is
slower. --instructions counts instructions with valgrind instead: exact, whatever else runs.

    send and receive, barrier, Ibcast and start; point-to-point and collectives of 8 bytes to 1 MiB on 2,
    8 and 64 ranks; overlap; placement; tasks; simulation
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LINE = re.compile(r"^(.*?)\s{2,}([0-9.eE+-]+)\s+(ns(?:/\w+)?|us|ms|s)\b")
RATE = re.compile(r"^(jacobi .*?closure|jacobi .*?plain sweep)\s{2,}([0-9.eE+-]+)\s+Gcell/s")
PLACED = re.compile(r"^\s*(\d+ \S+\s+hop-bytes = all)\s+[0-9.]+\s+([0-9.]+) s")


def capture(command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, env={**os.environ, "XYLEM_COSTS": "none"})
    if done.returncode != 0:
        raise SystemExit(f"compare: {' '.join(map(str, command))} failed:\n{done.stderr}")
    return done.stdout


class Build:
    """One build tree, with the programs of bench/mpi compiled by its own mpicc."""

    def __init__(self, tree, scratch):
        self.tree = tree
        self.programs = {}
        for name in ("core", "nbc"):
            self.programs[name] = Path(scratch, name)
            capture([tree / "bin/mpicc", "-O2", HERE / f"mpi/{name}.c", "-o", self.programs[name], "-lm"])

    def mpiexec(self, *arguments):
        return [self.tree / "bin/mpiexec", *arguments]


def core(what, *settings):
    """Rows of bench/mpi/core.c: `WHAT SECONDS`."""
    def measure(build, seconds):
        text = capture(build.mpiexec(*settings, build.programs["core"], *what, "--seconds", str(seconds)))
        rows = {}
        for line in text.splitlines():
            name, value = line.split()
            if not name.startswith("memcpy"):
                rows[f"{name} ({' '.join(settings)})"] = float(value)
        return rows
    return measure


def overlap(build, seconds):
    text = capture(build.mpiexec("-n", "2", "--comm-cores", "1", build.programs["nbc"], "--size", "65536,1048576",
                                 "--collective", "bcast,allreduce", "--repetitions",
                                 "9" if seconds < 0.1 else "25"))
    rows = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) > 5 and words[0].startswith("MPI_I") or words[:1] in (["bcast"], ["allreduce"]):
            numbers = [w for w in words[1:] if re.fullmatch(r"[0-9.eE+-]+", w)]
            rows[f"overlap {words[0]} {numbers[0]}, t_ovrl"] = float(numbers[3])
    return rows


def program(name, pattern=LINE, invert=False):
    """Rows of a program of bench/ with a time (or a rate) in them."""
    def measure(build, seconds):
        del seconds
        path = build.tree / f"bench/bench_{name}"
        if not path.exists():
            return {}
        rows = {}
        for line in capture([path, "--quick"]).splitlines():
            found = pattern.match(line)
            if found:
                value = float(found.group(2))
                rows[f"{name}: {found.group(1).strip()}"] = 1 / value if invert else value
        return rows
    return measure


def start(ranks):
    def measure(build, seconds):
        del seconds
        begin = time.perf_counter()
        for _ in range(5):
            capture(build.mpiexec("-n", str(ranks), build.programs["core"], "start"))
        return {f"start and end of {ranks} ranks": (time.perf_counter() - begin) / 5}
    return measure


MESSAGES = ["latency", "bandwidth:65536", "bandwidth:1048576"]
COLLECTIVES = ["barrier", "allreduce:8", "allreduce:65536", "allreduce:1048576", "bcast:8", "bcast:65536",
               "bcast:1048576"]
MEASUREMENTS = {
    "messages": core(MESSAGES, "-n", "2"),
    "messages-one-core": core(MESSAGES, "--workers", "1", "-n", "2"),
    "collectives-2": core(COLLECTIVES + ["alltoall:65536"], "-n", "2"),
    "collectives-8": core(COLLECTIVES + ["alltoall:8192"], "-n", "8"),
    "collectives-64": core(COLLECTIVES[:-1] + ["alltoall:64"], "-n", "64"),
    "start-64": start(64),
    "start-1000": start(1000),
    "overlap": overlap,
    "fiber": program("fiber"),
    "place": program("place", PLACED),
    "sim": program("sim"),
    "graph": program("graph"),
    "trace": program("trace_event"),
    "stencil": program("stencil"),
    "stencil-real": program("stencil_real", RATE, invert=True),
}


def compare(name, measure, builds, turns, seconds):
    """Print the rows of one measurement; how many are slower."""
    samples = {}
    for turn in range(turns):
        order = [("old", builds[0]), ("new", builds[1]), ("again", builds[0])]
        for label, build in order[turn % 3:] + order[:turn % 3]:
            for row, value in measure(build, seconds).items():
                samples.setdefault(row, {"old": [], "new": [], "again": []})[label].append(value)
    slower = 0
    for row, s in samples.items():
        if not s["old"] or not s["new"]:
            print(f"{row:58} only in one of the two builds")
            continue
        # Ratios of neighbours in time: the machine's moods cancel out.
        ratio = statistics.median(n / ((o + a) / 2) for o, n, a in zip(s["old"], s["new"], s["again"]))
        itself = [abs(a / o - 1) for o, a in zip(s["old"], s["again"])]
        spread = statistics.median(itself)
        is_slower = ratio > 1 + max(0.03, 2 * spread)
        slower += is_slower
        print(f"{row:58} {statistics.median(s['old']):11.4g} {statistics.median(s['new']):11.4g}"
              f"  {ratio:6.3f}  +-{100 * spread:5.1f} %{'  slower' if is_slower else ''}", flush=True)
    if not samples:
        print(f"{name:58} no rows")
    return slower


COUNTED = r"""
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    int rank, n = atoi(argv[2]);
    static char a[64], b[64];
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n; i++) {
        if (strcmp(argv[1], "message") == 0 && rank == 0)
            MPI_Send(a, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else if (strcmp(argv[1], "message") == 0)
            MPI_Recv(b, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else if (strcmp(argv[1], "barrier") == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        else {
            MPI_Ibcast(a, 8, MPI_BYTE, 0, MPI_COMM_WORLD, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
"""


def instructions(trees, scratch):
    """Instructions of one operation on two ranks of one core: the difference of two run lengths."""
    source = Path(scratch, "counted.c")
    source.write_text(COUNTED, encoding="utf-8")
    slower = 0
    for what in ("message", "barrier", "ibcast"):
        cost = []
        for i, tree in enumerate(trees):
            binary = Path(scratch, f"counted{i}")
            capture([tree / "bin/mpicc", "-O2", source, "-o", binary])
            counts = []
            for n in (1000, 3000):
                done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                                       tree / "bin/mpiexec", "--workers", "1", "-n", "2", binary, what, str(n)],
                                      text=True, capture_output=True, check=True)
                counts.append(int(re.search(r"Collected : (\d+)", done.stderr).group(1)))
            cost.append((counts[1] - counts[0]) / 2000)
        ratio = cost[1] / cost[0]
        slower += ratio > 1.02
        print(f"{what + ', instructions on both ranks':58} {cost[0]:11.1f} {cost[1]:11.1f}  {ratio:6.3f}"
              f"{'  more' if ratio > 1.02 else ''}")
    return slower


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="three short turns")
    parser.add_argument("--only", default="", help="measurements whose name holds this pattern")
    parser.add_argument("--instructions", action="store_true")
    options = parser.parse_args()
    trees = [options.old.resolve(), options.new.resolve()]
    for tree in trees:
        if not (tree / "bin/mpiexec").exists():
            parser.error(f"{tree} has no bin/mpiexec; build it with the preset release")
    with tempfile.TemporaryDirectory() as scratch:
        if options.instructions:
            return 1 if instructions(trees, scratch) else 0
        folders = [Path(scratch, name) for name in ("old", "new")]
        for folder in folders:
            folder.mkdir()
        builds = [Build(tree, folder) for tree, folder in zip(trees, folders)]
        print(f"{'':58} {'old':>11} {'new':>11}  ratio  old against itself")
        slower = 0
        for name, measure in MEASUREMENTS.items():
            if re.search(options.only, name):
                slower += compare(name, measure, builds, 3 if options.quick else options.turns,
                                  0.02 if options.quick else 0.1)
        print(f"{slower} rows slower")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
