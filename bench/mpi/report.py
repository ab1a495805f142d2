#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What --report costs a call: nanoseconds with and without it, measured in turn.

    bench/mpi/report.py [--turns N] [--calls N] [--mpiexec FILE] [--before FILE] [--instructions]

Of the turns the least counts. With --before, the mpiexec of another build takes its turn as well, without
--report: what its hooks cost when they are off. --instructions: those of a call, as valgrind (callgrind) counts them.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["query", "probe", "message", "answer", "barrier", "allreduce"]
CALLS = [2, 1, 2, 4, 2, 2] # of both ranks


def count(command, program, kind):
    """Instructions of one call: of a longer run, without those of a shorter one."""
    counts = []
    for calls in (6400, 25600):
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command, "-n", "2", "--workers", "1",
                               program, str(calls), str(kind)], capture_output=True, text=True, check=True)
        counts.append(int(re.search(r"Collected : (\d+)", done.stderr).group(1)))
    return (counts[1] - counts[0]) / 19200 / CALLS[kind]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--calls", type=int, default=1000000)
    parser.add_argument("--mpiexec", type=pathlib.Path, default=HERE.parents[1] / "build/dev/bin/mpiexec")
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--instructions", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        ways = {"off": ([given.mpiexec], "now"), "on": ([given.mpiexec, "-q", "--report"], "now")}
        if given.before:
            ways["before"] = ([given.before], "before")
        for command, build in ways.values():
            subprocess.run([command[0].parent / "mpicc", "-O2", HERE / "report.c", "-o", f"{work}/{build}"], check=True)
        least = {way: [float("inf")] * len(NAMES) for way in ways}
        for way, (command, build) in ways.items() if given.instructions else ():
            least[way] = [count(command, f"{work}/{build}", kind) for kind in range(len(NAMES))]
        for _ in range(0 if given.instructions else given.turns):
            for way, (command, build) in ways.items():
                done = subprocess.run([*command, "-n", "2", "--workers", "1", f"{work}/{build}", str(given.calls)],
                                      capture_output=True, text=True, check=True)
                least[way] = [min(a, float(b)) for a, b in zip(least[way], done.stdout.split())]
    print(f"{'instructions' if given.instructions else 'ns per call':12}" + "".join(f"{way:>10}" for way in ways) + f"{'on - off':>10}")
    for i, name in enumerate(NAMES):
        print(f"{name:12}" + "".join(f"{least[way][i]:10.1f}" for way in ways) + f"{least['on'][i] - least['off'][i]:10.1f}")


if __name__ == "__main__":
    main()
