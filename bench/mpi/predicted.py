#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Predicted times beside measured ones, on this machine.

  bench/mpi/predicted.py PREFIX [--quick] [--only WORD] [--libraries LIST] [--ranks LIST] [--turns N]

PREFIX is where Xylem is installed (or build/release). Each turn calibrates messages and then runs every
program (predicted.c) with real ranks: 2 to 64 under Xylem, 2 under Open MPI and MPICH. The prediction is
the same program under `mpiexec --virtual`, with the models of all turns; what it computes itself is
timed. Printed are the median of the turns, the prediction, its error, and how much the medians of the
even and of the odd turns differ: no prediction can be better than that. The last lines are the mean and
the greatest error of each library, with those that count as missed: above 20 % and above 1.5 times the
difference of the two measurements. With SimGrid installed, smpirun predicts the same programs from a
platform with the latency and the bandwidth of the same models.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from core import HERE, Library, peers, quiet, text

ROWS = [(what, size) for what in ("pingpong", "bcast", "scatter", "gather", "allreduce", "alltoall", "halo")
        for size in (64, 4096, 65536)] + [("cg", 65536), ("fox", 256)] + [
            (what, size) for what in ("bcast-linear", "reduce-bcast", "alltoall-pairs", "halo~") for size in (64, 4096, 65536)]
RANKS = {"xylem": [2, 4, 16, 64], "openmpi": [2], "mpich": [2]}
WORST, AGAIN = 0.20, 1.5


def rounds_of(what, size, ranks):
    if what == "fox":
        return 20
    weight = size * (ranks if base_of(what) in ("alltoall", "scatter", "gather") else 1) * ranks
    return max(20, min(2000, int(2e8 / (weight + 20000 * ranks))))


def seconds_of(output):
    return float(output.split("seconds")[1].split()[0])


def seconds_by_row(output):
    """{(what, size): seconds} of what predicted.c printed."""
    words = [line.split() for line in output.splitlines()]
    return {(w[0], int(w[1])): float(w[3]) for w in words if len(w) == 4 and w[2] == "seconds"}


def error_of(predicted, times):
    """The error, how much two measurements differ, and the median."""
    middle = statistics.median(times)
    even, odd = statistics.median(times[0::2]), statistics.median(times[1::2] or times)
    return abs(predicted - middle) / middle, abs(even - odd) / middle, middle


def base_of(what):
    """The pattern that this one is another way to do."""
    return {"bcast-linear": "bcast", "reduce-bcast": "allreduce", "alltoall-pairs": "alltoall"}.get(what, what.rstrip("~"))


def count_ranked(rows, measured, predicted):
    """In words: alternatives that differ by more than 15 %, and how many of them are ranked right."""
    right, wrong = 0, []
    for row in rows:
        other = (base_of(row[0]),) + tuple(row[1:])
        if other == tuple(row) or any(not x.get(k) for x in (measured, predicted) for k in (row, other)):
            continue
        a, b = statistics.median(measured[row]), statistics.median(measured[other])
        if max(a, b) < 1.15 * min(a, b):
            continue
        if (a < b) == (predicted[row] < predicted[other]):
            right += 1
        else:
            wrong.append(" ".join(str(w) for w in row))
    return "# %d of %d pairs of alternatives that differ by more than 15 %% ranked right%s" % (
        right, right + len(wrong), "; wrong: " + ", ".join(wrong) if wrong else "")


def calibrate(prefix, library, costs, seconds):
    command = [os.path.join(prefix, "bin", "xylem"), "calibrate", "--messages", "-o", costs, "--seconds", str(seconds)]
    if library.name != "xylem":
        command += ["--launcher", library.launcher, "--compiler", library.compiler]
        if library.name == "openmpi":
            # as the programs run: core.Library.command
            command += ["--extra=" + w for w in ("--allow-run-as-root", "--mca", "btl_vader_single_copy_mechanism", "none")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=library.environment)
    if done.returncode != 0 or done.stderr:
        print("# calibrate %s: %s" % (library.name, (done.stderr or done.stdout).strip().split("\n")[-1]), flush=True)


def has_model(costs):
    """Whether messages between two cores have a model."""
    if not os.path.exists(costs):
        return False
    with open(costs) as file:
        return '<Message Cluster1="local" Cluster2="local"' in file.read()


def predict(prefix, program, library, ranks, arguments, costs):
    command = [os.path.join(prefix, "bin", "mpiexec"), "-n", str(ranks), "--virtual", "live", "--oversubscribe",
               "--library", library.name, "--compute", "timed", "--costs", costs, program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        print("# %s: %s" % (" ".join(command[1:]), done.stderr.strip().split("\n")[-1]), flush=True)
        return None
    return seconds_of(done.stdout)


class Smpi:
    """SMPI with one host per rank behind links of the given latency and bandwidth."""

    def __init__(self, folder, is_wanted):
        self.folder, self.program = folder, os.path.join(folder, "predicted-smpi")
        self.is_there = is_wanted and shutil.which("smpicc") is not None and subprocess.run(
            ["smpicc", "-O2", "-o", self.program, os.path.join(HERE, "predicted.c")], capture_output=True).returncode == 0

    def predict(self, ranks, arguments, link):
        if not self.is_there or link is None:
            return None
        platform, hosts = (os.path.join(self.folder, name) for name in ("platform.xml", "hosts"))
        with open(platform, "w") as file:
            file.write('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
                       '<platform version="4.1"><cluster id="c" prefix="h" suffix="" radical="0-%d" speed="1Gf" '
                       'bw="%.0fBps" lat="%.9fs"/></platform>' % (ranks - 1, link[1], link[0] / 2))
        with open(hosts, "w") as file:
            file.writelines("h%d\n" % r for r in range(ranks))
        done = subprocess.run(["smpirun", "-np", str(ranks), "-platform", platform, "-hostfile", hosts,
                               "--cfg=smpi/simulate-computation:%s" % ("yes" if arguments[0] in ("cg", "fox") else "no"),
                               "--log=root.thres:critical", self.program, *arguments],
                              capture_output=True, text=True, timeout=600)
        return seconds_of(done.stdout) if "seconds" in done.stdout else None


def hockney(measured):
    """Latency and bandwidth from the measured messages of 64 B and 64 KiB."""
    small, large = (measured.get(("pingpong", size)) for size in (64, 65536))
    if not small or not large:
        return None
    a, b = statistics.median(small), statistics.median(large)
    return a, (65536 - 64) / max(1e-9, b - a)


def row(what, size, ranks, times, predicted, smpi):
    error, spread, middle = error_of(predicted, times)
    others = "%10s %6.0f %%" % (text(smpi), 100 * abs(smpi - middle) / middle) if smpi else ""
    print("%-10s %6d %5d  %10s %10s %6.1f %% %6.1f %% %s" % (what, size, ranks, text(middle), text(predicted),
                                                             100 * error, 100 * spread, others), flush=True)
    return error, error > max(WORST, AGAIN * spread), abs(smpi - middle) / middle if smpi else None


def measure(library, rows, turns, prefix, costs, seconds):
    """{(what, size, ranks): [seconds, one per turn]}"""
    found = {}
    for _ in range(turns):
        calibrate(prefix, library, costs, seconds)
        for what, size in rows:
            for ranks in RANKS[library.name]:
                arguments = [what, str(size), str(rounds_of(what, size, ranks))]
                done = subprocess.run(library.command(ranks, arguments), capture_output=True, text=True,
                                      env=library.environment, timeout=120)
                if "seconds" in done.stdout:
                    found.setdefault((what, size, ranks), []).append(seconds_of(done.stdout))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--libraries", default="xylem,openmpi,mpich")
    parser.add_argument("--ranks", help="of Xylem, with commas")
    parser.add_argument("--turns", type=int)
    parser.add_argument("--without-smpi", action="store_true")
    parser.add_argument("--keep", help="copy the files of the calibrations there, with the library's name in front")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = [r for r in ROWS if options.only in r[0] and (not options.quick or r[1] in (4096, 256))]
    if options.quick:
        RANKS["xylem"] = [2, 4]
    if options.ranks:
        RANKS["xylem"] = [int(n) for n in options.ranks.split(",")]
    turns, seconds = (2, 3) if options.quick else (7, 8)
    turns = options.turns or turns
    quiet()
    own = os.path.join(os.path.abspath(options.prefix), "bin")
    libraries = [Library("xylem", os.path.join(own, "mpicc"), os.path.join(own, "mpiexec"))]
    libraries += [p for p in peers(["openmpi", "mpich"])]
    kept = []
    with tempfile.TemporaryDirectory() as folder:
        smpi = Smpi(folder, not options.without_smpi)
        source = os.path.join(HERE, "predicted.c")
        print("%-10s %6s %5s  %10s %10s %8s %8s %s" % ("what", "bytes", "ranks", "measured", "predicted", "error", "twice",
                                                       "smpi" if smpi.is_there else ""))
        for library in [x for x in libraries if x.name in options.libraries.split(",")]:
            costs = os.path.join(folder, library.name + ".xml")
            library.build(folder, source)
            measured = measure(library, rows, turns, options.prefix, costs, seconds)
            if options.keep and os.path.exists(costs):
                shutil.copy(costs, os.path.join(os.path.dirname(options.keep), library.name + "-" + os.path.basename(options.keep)))
            own_program = libraries[0].program or libraries[0].build(folder, source) or libraries[0].program
            link = hockney({key[:2]: value for key, value in measured.items() if key[2] == 2})
            errors, missed, others, found = [], 0, [], {}
            print("# " + library.name + ("" if has_model(costs) else ": no model of messages; predictions are by default figures"))
            for (what, size, ranks), times in measured.items():
                arguments = [what, str(size), str(rounds_of(what, size, ranks))]
                predicted = predict(options.prefix, own_program, library, ranks, arguments, costs)
                if predicted is None:
                    continue
                found[(what, size, ranks)] = predicted
                error, is_missed, other = row(what, size, ranks, times, predicted, smpi.predict(ranks, arguments, link))
                errors.append(error)
                missed += is_missed
                others += [other] if other is not None else []
                kept.append([library.name, what, size, ranks, statistics.median(times), predicted, other])
            if errors:
                print("# %s: %d programs, mean error %.1f %%, greatest %.1f %%, %d missed%s" % (
                    library.name, len(errors), 100 * statistics.mean(errors), 100 * max(errors), missed,
                    "; smpi: mean %.0f %%, greatest %.0f %%" % (100 * statistics.mean(others), 100 * max(others))
                    if others else ""), flush=True)
                print(count_ranked(list(measured), measured, found), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(kept, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
