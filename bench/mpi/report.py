#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What --report costs a call: nanoseconds with and without it, measured in turn.

    bench/mpi/report.py [--turns N] [--calls N] [--mpiexec FILE] [--before FILE]

Of the turns the least counts. With --before, the mpiexec of another build takes its turn as well, without
--report: what its hooks cost when they are off.
"""
import argparse
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["query", "message", "barrier"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--calls", type=int, default=1000000)
    parser.add_argument("--mpiexec", type=pathlib.Path, default=HERE.parents[1] / "build/dev/bin/mpiexec")
    parser.add_argument("--before", type=pathlib.Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        ways = {"off": ([given.mpiexec], "now"), "on": ([given.mpiexec, "-q", "--report"], "now")}
        if given.before:
            ways["before"] = ([given.before], "before")
        for command, build in ways.values():
            subprocess.run([command[0].parent / "mpicc", "-O2", HERE / "report.c", "-o", f"{work}/{build}"], check=True)
        least = {way: [float("inf")] * len(NAMES) for way in ways}
        for _ in range(given.turns):
            for way, (command, build) in ways.items():
                done = subprocess.run([*command, "-n", "2", "--workers", "1", f"{work}/{build}", str(given.calls)],
                                      capture_output=True, text=True, check=True)
                least[way] = [min(a, float(b)) for a, b in zip(least[way], done.stdout.split())]
    print(f"{'ns per call':12}" + "".join(f"{way:>10}" for way in ways) + f"{'on - off':>10}")
    for i, name in enumerate(NAMES):
        print(f"{name:12}" + "".join(f"{least[way][i]:10.1f}" for way in ways) + f"{least['on'][i] - least['off'][i]:10.1f}")


if __name__ == "__main__":
    main()
