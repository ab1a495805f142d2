#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What counting messages costs: 8-byte latency with and without the monitor, in one run.

  bench/mpi/monitor.py PREFIX [--quick]

PREFIX is where Xylem is installed (or build/release). Xylem's library is monitored with --monitor,
Open MPI and MPICH with `xylem monitor`. Both ways run in turn; a line has the median of each and
the median of the ratios of one turn.
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
    pairs = [(latency(plain, environment), latency(watched, environment)) for _ in range(turns)]
    a, b = (statistics.median(side) for side in zip(*pairs))
    ratio = statistics.median(y / x for x, y in pairs)
    print(f"{name:28}  plain {a * 1e6:7.4f} us  monitored {b * 1e6:7.4f} us  "
          f"{(ratio - 1) * 100:+5.1f} %", flush=True)


def measure(prefix, folder, turns, seconds):
    xylem = os.path.join(prefix, "bin/xylem")
    work = ["latency:8", "--seconds", seconds]
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       UCX_TLS="posix,sysv,self")
    mpiexec = os.path.join(prefix, "bin/mpiexec")
    for name, compiler, launcher in (
            ("xylem, two cores", os.path.join(prefix, "bin/mpicc"), [mpiexec]),
            ("xylem, one core", os.path.join(prefix, "bin/mpicc"), [mpiexec, "--workers", "1"]),
            ("openmpi", "mpicc.openmpi", ["mpirun.openmpi", "--oversubscribe"]),
            ("mpich", "mpicc.mpich", ["mpiexec.mpich"])):
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
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(os.path.abspath(options.prefix), folder, 3 if options.quick else 9,
                "0.2" if options.quick else "0.5")


if __name__ == "__main__":
    main()
