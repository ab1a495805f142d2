#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Blocking collectives with `--progress tasks` and with `none`: they should take the same time.

  bench/mpi/blocking.py PREFIX [--quick]

Eight ranks on the cores of the machine; the two ways in turn, several times; each line has the median
of both and their ratio, and the last one the geometric mean of the ratios.
"""
import math
import os
import statistics
import subprocess
import sys
import tempfile


def run(prefix, program, progress, repetitions):
    command = [os.path.join(prefix, "bin", "mpiexec"), "--progress", progress, "-n", "8", program,
               str(repetitions)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")
    return {tuple(line.split()[:2]): float(line.split()[2]) for line in lines if line}


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    prefix = sys.argv[1]
    turns, repetitions = (2, 5) if "--quick" in sys.argv else (5, 21)
    found = {"tasks": {}, "none": {}}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "blocking")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "blocking.c")
        subprocess.run([os.path.join(prefix, "bin", "mpicc"), "-O2", "-o", program, source], check=True)
        for _ in range(turns):
            for progress, times in found.items():
                for key, seconds in run(prefix, program, progress, repetitions).items():
                    times.setdefault(key, []).append(seconds)
    logs = []
    print(f"{'blocking collective':<20} {'bytes':>8} {'tasks us':>10} {'none us':>10} {'ratio':>7}")
    for key in found["tasks"]:
        tasks, none = (statistics.median(found[p][key]) for p in ("tasks", "none"))
        logs.append(math.log(tasks / none))
        print(f"{key[0]:<20} {key[1]:>8} {tasks * 1e6:10.2f} {none * 1e6:10.2f} {tasks / none:7.2f}")
    print(f"{'all':<20} {'':>8} {'':>10} {'':>10} {math.exp(statistics.mean(logs)):7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
