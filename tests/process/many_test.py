#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run examples/processes: many_test.py HOST PROGRAM

Each process prints what only its own variables, environment and exit functions can make, and ends
with an exit code of its own; the library below has no MPI function.
"""
import subprocess
import sys

COUNT, TURNS = 100, 10


def expected():
    """The lines in any order, and the last line."""
    lines = sorted(f"process {i} has counted to {TURNS}" for i in range(COUNT))
    codes = [sum(1 for i in range(COUNT) if i % 3 == code) for code in range(3)]
    counts = " ".join(f"{n} with exit code {code}" for code, n in enumerate(codes))
    return lines, f"{COUNT} processes in one: {counts}"


def main(host, program):
    run = subprocess.run([host, str(COUNT), program, str(TURNS)], text=True, timeout=60, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    *lines, last = run.stdout.splitlines() or [""]
    if run.returncode != 0 or run.stderr or (sorted(lines), last) != expected():
        print(f"exit code {run.returncode}\n{run.stdout}{run.stderr}")
        return 1
    missing = subprocess.run([host, "3", program + ".none"], text=True, timeout=60, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if missing.returncode == 0 or not missing.stderr.startswith("many: ") or missing.stdout:
        print(f"a program that is not there: {missing.returncode} {missing.stderr}")
        return 1
    linked = subprocess.run(["ldd", host], text=True, check=True, stdout=subprocess.PIPE).stdout
    if "libmpi" in linked:
        print(f"the host is linked with MPI:\n{linked}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
