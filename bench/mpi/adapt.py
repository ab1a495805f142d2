#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec --adapt in real time: series of runs that learn, beside the same runs by default.

  bench/mpi/adapt.py PREFIX [--quick] [--runs N] [--ranks N]

PREFIX is where Xylem is installed (or build/release). Programs (nbc.c: nonblocking collectives beside a
computation) run in turn without --adapt, with `learn`, and without it again, N times each: the machine is
the same for all three. A row has the time of all runs that learned over that of the first ones without,
the same of the second ones without (what a build differs from itself here), and the plan at the end. The
exit code is 1 where learning lost more than 2 % beyond that. Cases share --seconds (150); one ends early
where its part is over, after as many runs as its row tells.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

from core import HERE, Library, quiet

CASES = [("allreduce", 8), ("allreduce", 65536), ("bcast", 1048576), ("alltoall", 4096)]
LOSS = 0.02


def seconds(library, ranks, arguments, adapt, environment):
    library.options = ["--adapt", adapt]
    begin = time.perf_counter()
    subprocess.run(library.command(ranks, arguments), env=environment, check=True, timeout=300,
                   stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def last_plan(library, ranks, arguments, environment):
    library.options = ["--adapt", "on", "-v"]
    said = subprocess.run(library.command(ranks, arguments), env=environment, check=True, timeout=300,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
    return next((line.split("adapt: ")[1].split(",")[0] for line in said.splitlines() if "adapt: " in line), "?")


def run_case(library, ranks, case, runs, place, limit):
    name = f"{case[0]} of {case[1]} bytes"
    arguments = ["--collective", case[0], "--size", str(case[1]), "--kernels", "20", "--repetitions", "500",
                 "--limit", "100"]
    environment = dict(os.environ, XYLEM_HISTORY=os.path.join(place, f"{case[0]}-{case[1]}"))
    sums = {"first": 0.0, "learn": 0.0, "second": 0.0}
    end, done = time.perf_counter() + limit, 0
    while done < runs and (done < 3 or time.perf_counter() < end):
        done += 1
        for what in sums:
            sums[what] += seconds(library, ranks, arguments, "learn" if what == "learn" else "off", environment)
    learned, itself = sums["learn"] / sums["first"], sums["second"] / sums["first"]
    print(f"{name:<28} {done:>5} {sums['first'] / done * 1e3:>8.1f} ms {learned:>8.3f} {itself:>8.3f}  "
          f"{last_plan(library, ranks, arguments, environment)}", flush=True)
    return learned <= max(1, itself, 2 - itself) + LOSS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=150)
    options = parser.parse_args()
    runs = options.runs or (3 if options.quick else 40)
    folder = os.path.join(os.path.abspath(options.prefix), "bin")
    library = Library("xylem", os.path.join(folder, "mpicc"), os.path.join(folder, "mpiexec"))
    quiet()
    print(f"# {options.ranks} ranks on {len(os.sched_getaffinity(0))} cores, at most {runs} runs of each")
    print(f"{'program':<28} {'runs':>5} {'by default':>11} {'learned':>8} {'itself':>8}  plan at the end")
    with tempfile.TemporaryDirectory() as place:
        library.program = os.path.join(place, "nbc")
        subprocess.run([library.compiler, "-O2", "-o", library.program, os.path.join(HERE, "nbc.c"), "-lm"],
                       check=True)
        good = [run_case(library, options.ranks, case, runs, place, options.seconds / len(CASES)) for case in CASES]
    return 0 if all(good) or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
