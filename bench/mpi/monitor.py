#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What counting messages costs: 8-byte latency with and without the monitor, in one run.

  bench/mpi/monitor.py PREFIX [--quick] [--only xylem|openmpi|mpich]

PREFIX is where Xylem is installed (or build/release). Xylem's library is monitored with --monitor,
Open MPI and MPICH with `xylem monitor`; ranks are bound to cores. Short runs with and without take
turns, and each turn begins with the other one. A line has the median of each, and of the ratios of
one turn the median, the interval that holds it in 95 of 100 cases, and the quartiles.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def latency(command, environment):
    out = subprocess.run(command, env=environment, check=True, capture_output=True, text=True,
                         timeout=60).stdout
    return next(float(line.split()[1]) for line in out.splitlines() if line.startswith("latency"))


def compare(name, plain, watched, environment, turns):
    pairs = []
    for turn in range(turns):
        order = (plain, watched) if turn % 2 == 0 else (watched, plain)
        times = [latency(command, environment) for command in order]
        pairs.append(times if turn % 2 == 0 else times[::-1])
    a, b = (statistics.median(side) for side in zip(*pairs))
    ratios = sorted((y / x - 1) * 100 for x, y in pairs)
    low, middle, high = statistics.quantiles(ratios, n=4)
    # In 95 of 100 cases the true median is between these two, whatever the distribution.
    reach = int(0.98 * turns ** 0.5) + 1
    least, most = ratios[max(0, turns // 2 - reach)], ratios[min(turns - 1, turns // 2 + reach)]
    print(f"{name:17} {turns:3} turns  plain {a * 1e6:6.4f} us  monitored {b * 1e6:6.4f} us  "
          f"{middle:+5.1f} %  (95 %: {least:+.1f} to {most:+.1f})  quartiles {low:+.1f} {high:+.1f}",
          flush=True)


def measure(prefix, folder, turns, only):
    xylem = os.path.join(prefix, "bin/xylem")
    work = ["latency:8", "--seconds", "0.05"]
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       UCX_TLS="posix,sysv,self")
    mpiexec = os.path.join(prefix, "bin/mpiexec")
    for name, compiler, launcher in (
            ("xylem, two cores", os.path.join(prefix, "bin/mpicc"), [mpiexec]),
            ("xylem, one core", os.path.join(prefix, "bin/mpicc"), [mpiexec, "--workers", "1"]),
            ("openmpi", "mpicc.openmpi", ["mpirun.openmpi", "--oversubscribe", "--bind-to", "core"]),
            ("mpich", "mpicc.mpich", ["mpiexec.mpich", "-bind-to", "core"])):
        if only and not name.startswith(only):
            continue
        if not shutil.which(compiler) or not shutil.which(launcher[0]):
            print(f"{name}: not installed, left out")
            continue
        program = os.path.join(folder, "core")
        subprocess.run([compiler, "-O2", "-o", program, os.path.join(HERE, "core.c")], check=True)
        plain = [*launcher, "-n", "2", program, *work]
        if launcher[0] == mpiexec:
            watched = [*launcher, "--monitor", os.path.join(folder, "m"), "-n", "2", program, *work]
        else:
            watched = [xylem, "monitor", os.path.join(folder, "m.csv"), "--", *plain]
        compare(name, plain, watched, environment, turns)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=("xylem", "openmpi", "mpich"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(os.path.abspath(options.prefix), folder, 5 if options.quick else 81,
                options.only)


if __name__ == "__main__":
    main()
