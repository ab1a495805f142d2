#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast programs are simulated: xylem predict, mpiexec --virtual and SMPI, in one run.

  bench/mpi/simulators.py PREFIX [--quick] [--ranks N,N]

PREFIX is where Xylem is installed (or build/release). The program is a halo exchange of 1 KiB with four
neighbours (simulated.c), 100 rounds, on nodes of 16 cores behind one switch. Computation costs nothing.
Printed are seconds of this machine, simulated messages per second and the ratio to SMPI's time (above 1:
Xylem is faster). SMPI (Debian's SimGrid) is left out when it
is not installed (libsimgrid-dev).
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from core import HERE, quiet, text

SOURCE = os.path.join(HERE, "simulated.c")
ROUNDS, CORES = 100, 16


def timed(command):
    """Seconds, or None after saying why."""
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return time.perf_counter() - begin
    print("# %s: %s" % (command[0], done.stderr.strip().split("\n")[-1]), flush=True)
    return None


def smpi(folder, ranks):
    program, platform, hosts = (os.path.join(folder, name) for name in ("smpi", "platform.xml", "hosts"))
    subprocess.run(["smpicc", "-O2", "-w", "-o", program, SOURCE], check=True)
    nodes = (ranks + CORES - 1) // CORES
    with open(platform, "w") as file:
        file.write('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform '
                   'version="4.1"><cluster id="c" prefix="h" suffix="" radical="0-%d" speed="1Gf" core="%d" bw="10GBps" '
                   'lat="0.5us"/></platform>' % (nodes - 1, CORES))
    with open(hosts, "w") as file:
        file.writelines("h%d\n" % (r // CORES) for r in range(ranks))
    return ["smpirun", "-np", str(ranks), "-platform", platform, "-hostfile", hosts, "--log=root.thres:critical",
            "--cfg=smpi/simulate-computation:no", program, "1024", str(ROUNDS)]


def commands(prefix, folder, ranks):
    """{name: command}, Xylem's first."""
    own, program = os.path.join(prefix, "bin"), os.path.join(folder, "halo")
    machine = "node:%d(latency=1us bandwidth=10GB/s) core:%d" % ((ranks + CORES - 1) // CORES, CORES)
    description = os.path.join(folder, "halo.xml")
    found = {}
    subprocess.run([os.path.join(own, "mpicc"), "-O2", "-o", program, SOURCE], check=True)
    if subprocess.run([os.path.join(own, "xylem"), "scan", SOURCE, "-o", description]).returncode == 0:
        found["predict"] = [os.path.join(own, "xylem"), "predict", description, "-n", str(ranks), "--machine", machine,
                            "--arg", "1024", "--arg", str(ROUNDS)]
    found["virtual"] = [os.path.join(own, "mpiexec"), "-n", str(ranks), "--virtual", machine, "--compute", "none",
                        program, "1024", str(ROUNDS)]
    if shutil.which("smpicc"):
        found["smpi"] = smpi(folder, ranks)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--ranks")
    options = parser.parse_args()
    ranks = [int(n) for n in options.ranks.split(",")] if options.ranks else [64] if options.quick else [64, 256, 1024]
    turns = 1 if options.quick else 3
    quiet()
    print("%5s %-8s %10s %14s %8s" % ("ranks", "", "time", "messages/s", "ratio"))
    with tempfile.TemporaryDirectory() as folder:
        for n in ranks:
            times = {}
            all_commands = commands(options.prefix, folder, n)
            for _ in range(turns):
                for name, command in all_commands.items():
                    result = timed(command)
                    if result is not None:
                        times.setdefault(name, []).append(result)
            peer = statistics.median(times["smpi"]) if "smpi" in times else None
            for name, values in times.items():
                seconds = statistics.median(values)
                ratio = "%.1f" % (peer / seconds) if peer else "-"
                print("%5d %-8s %10s %14.0f %8s" % (n, name, text(seconds), 4 * n * (ROUNDS + 1) / seconds, ratio), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
