#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Messages and reductions between two hosts beside Xylem's and SMPI's predictions.

  bench/mpi/smpi.py PREFIX [--quick] [--rates 1gbit,10gbit] [--peers openmpi,mpich] [--turns N]

PREFIX is where Xylem is installed (or build/release). Two network namespaces are the hosts (needs root, and
SimGrid); `tc tbf` limits their line. Latency and bandwidth are those of the library's own ping-pong of 64 B
and 1 MiB. The simulators get these two figures and nothing else: Xylem's, SMPI as it is, SMPI with
smpi/lat-factor and smpi/bw-factor at 1 for all sizes ("factors 1"), and SMPI that also sends small messages
before they are received, with the collectives of Open MPI ("as xylem"). Printed are seconds of each row, those of the
simulators divided by the measured ones, and the mean and the greatest error of each. hosts.py has predictions
by a calibration.

A token bucket is full after a pause: it lets 4 KiB through faster than the rate.
"""
import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from core import HERE, quiet, text
from nodes import Hosts
from predicted import seconds_by_row

SIZES = [64, 512, 1024, 4096, 16384, 65536, 262144, 1048576]
ROWS = [(what, size) for what in ("pingpong", "reduce") for size in SIZES]
PLAIN = ["--cfg=smpi/lat-factor:0:1", "--cfg=smpi/bw-factor:0:1"]
LIKE = PLAIN + ["--cfg=smpi/async-small-thresh:65536", "--cfg=smpi/coll-selector:ompi"]
PLATFORM = ('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
            '<cluster id="c" prefix="h" suffix="" radical="0-1" speed="1Gf" bw="%.0fBps" lat="%.9fs"/></platform>')


def arguments():
    return [w for what, size in ROWS for w in (what, str(size), str(200 if size < 65536 else 20))]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = seconds_by_row(done.stdout)
    if len(found) < len(ROWS):
        sys.exit("smpi.py: %s: %s" % (" ".join(command[:9]), done.stderr.strip()[-400:]))
    return found


def build(compiler, folder):
    program = os.path.join(folder, "predicted-" + os.path.basename(compiler))
    subprocess.run([compiler, "-O2", "-w", "-o", program, os.path.join(HERE, "predicted.c")], check=True)
    return program


def figures(measured):
    """Latency and bandwidth."""
    small, large = measured["pingpong", SIZES[0]], measured["pingpong", SIZES[-1]]
    return small, (SIZES[-1] - SIZES[0]) / (large - small)


def simulate(prefix, folder, programs, library, measured):
    """{simulator: {row: seconds}}"""
    latency, bandwidth = figures(measured)
    platform, hosts = (os.path.join(folder, name) for name in ("platform.xml", "smpi-hosts"))
    with open(platform, "w") as file:
        file.write(PLATFORM % (bandwidth, latency / 2))
    with open(hosts, "w") as file:
        file.write("h0\nh1\n")
    machine = "node:2(latency=%gns bandwidth=%gkB/s) core:1" % (latency / 2 * 1e9, bandwidth / 1e3)
    smpi = ["smpirun", "-np", "2", "-platform", platform, "-hostfile", hosts, "--cfg=smpi/simulate-computation:no",
            "--log=root.thres:critical"]
    own = [os.path.join(prefix, "bin/mpiexec"), "-n", "2", "--virtual", machine, "--library", library, "--compute", "none"]
    return {"xylem": run(own + [programs["xylem"]] + arguments()), "smpi": run(smpi + [programs["smpi"]] + arguments()),
            "smpi, factors 1": run(smpi + PLAIN + [programs["smpi"]] + arguments()),
            "smpi, as xylem": run(smpi + LIKE + [programs["smpi"]] + arguments())}


def report(title, measured, simulated):
    print("\n%-18s %10s" % (title, "measured") + "".join("%18s" % name for name in simulated))
    for row in ROWS:
        print("%-10s %7d %10s" % (*row, text(measured[row])) +
              "".join("%18.2f" % (found[row] / measured[row]) for found in simulated.values()))
    for name, found in simulated.items():
        ratios = [found[row] / measured[row] for row in ROWS]
        errors = [abs(r - 1) for r in ratios]
        print("# %s, %s: mean error %.0f %%, greatest %.0f %%; wrong by a factor of %.2f (geometric mean)" % (
            title, name, 100 * statistics.mean(errors), 100 * max(errors),
            math.exp(statistics.mean(abs(math.log(r)) for r in ratios))), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rates", default="1gbit,10gbit")
    parser.add_argument("--peers", default="openmpi,mpich")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    if shutil.which("smpicc") is None:
        sys.exit("smpi.py: there is no smpicc (SimGrid)")
    if not os.environ.get("XYLEM_BENCH_NAMESPACE"):
        os.environ["XYLEM_BENCH_NAMESPACE"] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    quiet()
    names = [n for n in options.peers.split(",") if shutil.which("mpicc." + n)]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        programs = {"smpi": build("smpicc", folder), "xylem": build(os.path.join(options.prefix, "bin/mpicc"), folder)}
        programs.update((n, build("mpicc." + n, folder)) for n in names)
        for rate in options.rates.split(","):
            hosts = Hosts(folder, rate)
            columns = hosts.columns(options.prefix, names)
            for name, library in columns.items():
                library.program = programs[name.split()[0]]
                if name == "xylem tcp":
                    continue
                times = [run(library.command(2, arguments())) for _ in range(1 if options.quick else options.turns)]
                measured = {row: statistics.median(t[row] for t in times) for row in ROWS}
                report("%s, %s" % (name, rate), measured,
                       simulate(options.prefix, folder, programs, name.split()[0], measured))
            hosts.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
