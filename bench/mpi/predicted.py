#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Predicted times beside measured ones, on this machine.

  bench/mpi/predicted.py PREFIX [--quick] [--only WORD] [--libraries LIST] [--ranks LIST] [--turns N]
                         [--minutes M] [--draw SEED] [--json FILE] [--again FILE] [--ablate]

PREFIX is where Xylem is installed (or build/release). Each turn calibrates messages and then runs all
programs (predicted.c) with real ranks: 2 to 64 under Xylem, 2 under Open MPI and MPICH. The prediction is
the same programs under `mpiexec --virtual`, the median of those by the calibration of each turn; what
programs compute themselves is timed. Printed are the median of the turns, the prediction, its error, and
how much the medians of the even and of the odd turns differ: no prediction can be better than that. The
last lines are the mean and the greatest error of each pattern and of each library, with those that count as
missed: above 20 % and above 1.5 times the difference of the two measurements. With SimGrid installed, smpirun predicts the
same programs from a platform with the latency and the bandwidth of the same models.

Libraries take turns: one calibrates and runs, then the next. --minutes ends this before a turn of all of
them that would last longer, two turns at least; predictions come after it.

--draw takes rows drawn at random by a seed (drawn.py) instead of those that the model was made with.
--ablate removes one figure of the model after the other and prints what becomes of the error.

--json keeps what was measured, calibrations included; --again predicts from such a file and measures
nothing, so that two states of the models can be compared with the same runs. Both with one file: more
turns are added to it.

All programs of one number of ranks are one launch, and the first of them only warms up: cores that have
just been idle are slower for some milliseconds, which is no concern of a model.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import drawn
from core import HERE, Library, peers, quiet, text

ROWS = [(what, size) for what in ("pingpong", "bcast", "scatter", "gather", "allreduce", "alltoall", "halo")
        for size in (64, 4096, 65536)] + [("cg", 65536), ("fox", 256)] + [
            (what, size) for what in ("bcast-linear", "reduce-bcast", "alltoall-pairs", "halo~") for size in (64, 4096, 65536)]
RANKS = {"xylem": [2, 4, 16, 64], "openmpi": [2], "mpich": [2]}
DRAWN = {"xylem": (96, 32), "openmpi": (48, 2), "mpich": (48, 2)}  # rows, ranks at most
COMPUTES = ("cg", "fox")
WORST, AGAIN = 0.20, 1.5
SIMULATED = 100  # rounds, of programs that compute nothing: all of them are alike
WARM = 400000  # messages to and fro: a tenth of a second


def rounds_of(what, size, ranks):
    if what == "fox":
        return 20
    weight = size * (ranks if base_of(what) in ("scatter", "gather") + drawn.WIDE else 1) * ranks
    return max(20, min(2000, int(2e8 / (weight + 20000 * ranks))))


def seconds_by_row(output):
    """{(what, size): seconds} of what predicted.c printed."""
    words = [line.split() for line in output.splitlines()]
    return {(w[0], int(w[1])): float(w[3]) for w in words if len(w) == 4 and w[2] == "seconds"}


def arguments_of(rows, ranks, warms=False, most=2000):
    """Of predicted.c: all rows, of so many rounds at most; the first may be there to warm up."""
    warm = ["pingpong", "64", str(WARM // ranks)] if warms else []
    return warm + [w for what, size in rows for w in (what, str(size), str(min(most, rounds_of(what, size, ranks))))]


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


def predict(prefix, program, library, ranks, rows, costs):
    """{(what, size): seconds} by one file of costs. What programs compute is timed."""
    is_timed = any(what in COMPUTES for what, size in rows)
    command = [os.path.join(prefix, "bin", "mpiexec"), "-n", str(ranks), "--virtual", "live", "--oversubscribe",
               "--library", library, "--compute", "timed" if is_timed else "none",
               *(["--costs", costs] if costs else []), program,
               *arguments_of(rows, ranks, most=2000 if is_timed else SIMULATED)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        print("# %s: %s" % (" ".join(command[1:]), done.stderr.strip().split("\n")[-1]), flush=True)
    return seconds_by_row(done.stdout)


def predict_all(prefix, program, library, rows, all_costs, folder):
    """{(what, size, ranks): seconds}: the median of what the calibrations of all turns say."""
    found, path = {}, os.path.join(folder, "costs.xml")
    for costs in all_costs or [None]:
        if costs is not None:
            with open(path, "w") as file:
                file.write(costs)
        for ranks, some in by_ranks(rows).items():
            for row, seconds in predict(prefix, program, library, ranks, some, costs and path).items():
                found.setdefault(row + (ranks,), []).append(seconds)
    return {key: statistics.median(values) for key, values in found.items()}


def by_ranks(rows):
    found = {}
    for what, size, ranks, *_ in rows:
        found.setdefault(ranks, []).append((what, size))
    return found


class Smpi:
    """SMPI with one host per rank behind links of the given latency and bandwidth."""

    def __init__(self, folder, is_wanted):
        self.folder, self.program = folder, os.path.join(folder, "predicted-smpi")
        self.is_there = is_wanted and shutil.which("smpicc") is not None and subprocess.run(
            ["smpicc", "-O2", "-o", self.program, os.path.join(HERE, "predicted.c")], capture_output=True).returncode == 0

    def predict(self, ranks, rows, link):
        if not self.is_there or link is None:
            return {}
        platform, hosts = (os.path.join(self.folder, name) for name in ("platform.xml", "hosts"))
        with open(platform, "w") as file:
            file.write('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'
                       '<platform version="4.1"><cluster id="c" prefix="h" suffix="" radical="0-%d" speed="1Gf" '
                       'bw="%.0fBps" lat="%.9fs"/></platform>' % (ranks - 1, link[1], link[0] / 2))
        with open(hosts, "w") as file:
            file.writelines("h%d\n" % r for r in range(ranks))
        found = {}
        for computes in (False, True):
            part = [r for r in rows if (r[0] in COMPUTES) == computes]
            if part:
                done = subprocess.run(["smpirun", "-np", str(ranks), "-platform", platform, "-hostfile", hosts,
                                       "--cfg=smpi/simulate-computation:%s" % ("yes" if computes else "no"),
                                       "--log=root.thres:critical", self.program, *arguments_of(part, ranks)],
                                      capture_output=True, text=True, timeout=900)
                found.update(seconds_by_row(done.stdout))
        return found


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
    print("%-14s %6d %5d  %10s %10s %6.1f %% %6.1f %% %s" % (what, size, ranks, text(middle), text(predicted),
                                                             100 * error, 100 * spread, others), flush=True)
    return error, error > max(WORST, AGAIN * spread), abs(smpi - middle) / middle if smpi else None


def measure_turn(library, rows, kept, prefix, folder, seconds):
    """One more calibration, and one more time of each row, to `kept`: see measure_all()."""
    costs = os.path.join(folder, "%s-%d.xml" % (library.name, len(kept["costs"])))
    calibrate(prefix, library, costs, seconds)
    if has_model(costs):
        with open(costs) as file:
            kept["costs"].append(file.read())
    for ranks, some in by_ranks(rows).items():
        done = subprocess.run(library.command(ranks, arguments_of(some, ranks, True)), capture_output=True,
                              text=True, env=library.environment, timeout=120)
        for (what, size), value in seconds_by_row(done.stdout).items():
            if (what, size) in some:
                kept["times"].setdefault((what, size, ranks), []).append(value)


def summary(errors):
    """In words: mean, median and greatest of errors."""
    return "mean error %.1f %%, median %.1f %%, greatest %.1f %%" % (
        100 * statistics.mean(errors), 100 * statistics.median(errors), 100 * max(errors))


def compare(name, kept, predicted, smpi):
    """Print all rows of a library and what they say together."""
    errors, missed, others, spreads = {}, {}, [], []
    measured = {(what, size, ranks): times for what, size, ranks, times in kept["rows"]}
    print("# " + name + ("" if kept["costs"] else ": no model of messages; predictions are by default figures"))
    for key in [k for k in measured if k in predicted]:
        error, is_missed, other = row(*key, measured[key], predicted[key], smpi.get(key))
        errors.setdefault(key[0], []).append(error)
        missed[key[0]] = missed.get(key[0], 0) + is_missed
        spreads.append(error_of(predicted[key], measured[key])[1])
        others += [other] if other is not None else []
    for what, values in errors.items():
        print("# %s, %-14s %3d rows, %s, %d missed" % (name, what + ":", len(values), summary(values), missed[what]))
    if errors:
        every = [e for values in errors.values() for e in values]
        print("# %s: %d programs, %s, %d missed; two measurements differ by %.1f %%%s" % (
            name, len(every), summary(every), sum(missed.values()), 100 * statistics.mean(spreads),
            "; smpi: mean %.0f %%, greatest %.0f %%" % (100 * statistics.mean(others), 100 * max(others))
            if others else ""), flush=True)
        print(count_ranked(list(measured), measured, predicted), flush=True)


def simulate(smpi, kept):
    link = hockney({(what, size): times for what, size, ranks, times in kept["rows"] if ranks == 2})
    return {row + (ranks,): seconds for ranks, rows in by_ranks(kept["rows"]).items()
            for row, seconds in smpi.predict(ranks, rows, link).items()}


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--libraries", default="xylem,openmpi,mpich")
    parser.add_argument("--ranks", help="of Xylem, with commas")
    parser.add_argument("--turns", type=int)
    parser.add_argument("--minutes", type=float, help="for measuring, at most; two turns at least")
    parser.add_argument("--without-smpi", action="store_true")
    parser.add_argument("--draw", metavar="SEED", help="rows drawn at random")
    parser.add_argument("--ablate", action="store_true", help="what each figure of the model is worth")
    parser.add_argument("--json", help="keep what was measured there")
    parser.add_argument("--again", help="predict from such a file, and measure nothing")
    parser.add_argument("--measure-only", action="store_true", help="predict later, with --again")
    options = parser.parse_args()
    if options.ranks or options.quick:
        RANKS["xylem"] = [int(n) for n in options.ranks.split(",")] if options.ranks else [2, 4]
    return options


def rows_of(options, library):
    if options.draw:
        return [r for r in drawn.draw(options.draw, *DRAWN[library]) if options.only in r[0]]
    return [(what, size, ranks) for ranks in RANKS[library] for what, size in ROWS
            if options.only in what and (not options.quick or size in (4096, 256))]


def measure_all(options, libraries, folder, known):
    """{library: {"costs": [text, one per turn], "rows": [[what, size, ranks, [seconds, one per turn]], ...]}}"""
    turns, seconds = (2, 3) if options.quick else (7, 8)
    kept = {library.name: {"costs": [], "times": {}} for library in libraries}
    begin, end = time.monotonic(), time.monotonic() + 60 * (options.minutes or 1e9)
    for library in libraries:
        library.build(folder, os.path.join(HERE, "predicted.c"))
        for row in known.get(library.name, {"rows": []})["rows"]:
            kept[library.name]["times"][tuple(row[:3])] = row[3]
        kept[library.name]["costs"] += known.get(library.name, {"costs": []})["costs"]
    for turn in range(options.turns or turns):
        now = time.monotonic()
        if turn >= 2 and now + (now - begin) / turn > end:
            print("# %d turns in %.1f minutes" % (turn, (now - begin) / 60), flush=True)
            break
        for library in libraries:
            measure_turn(library, rows_of(options, library.name), kept[library.name], options.prefix, folder, seconds)
    return {name: {"costs": of["costs"], "rows": [[*key, times] for key, times in of["times"].items()]}
            for name, of in kept.items()}


def read_kept(options, libraries):
    """The same of a file, less what is not wanted."""
    with open(options.again) as file:
        kept = json.load(file)
    for name in list(kept):
        if name not in [x.name for x in libraries]:
            del kept[name]
            continue
        kept[name]["rows"] = [r for r in kept[name]["rows"] if options.only in r[0]
                              and (not options.ranks or r[2] in RANKS[name])]
    return kept


def main():
    options = read_options()
    quiet()
    own = os.path.join(os.path.abspath(options.prefix), "bin")
    xylem = Library("xylem", os.path.join(own, "mpicc"), os.path.join(own, "mpiexec"))
    wanted = options.libraries.split(",")
    libraries = [xylem] * ("xylem" in wanted) + peers(wanted)
    with tempfile.TemporaryDirectory() as folder:
        kept = read_kept(options, libraries) if options.again else {}
        if not options.again or options.json:
            kept = measure_all(options, libraries, folder, kept)
        if options.json:
            with open(options.json, "w") as file:
                json.dump(kept, file)
        if options.measure_only:
            return 0
        smpi = Smpi(folder, not options.without_smpi)
        print("%-14s %6s %5s  %10s %10s %8s %8s %s" % ("what", "bytes", "ranks", "measured", "predicted", "error", "twice",
                                                       "smpi" if smpi.is_there else ""))
        xylem.build(folder, os.path.join(HERE, "predicted.c"))
        for name, found in kept.items():
            def predicted(costs, rows=found["rows"], name=name):
                return predict_all(options.prefix, xylem.program, name, rows, costs, folder)
            compare(name, found, predicted(found["costs"]), simulate(smpi, found))
            if options.ablate and found["costs"]:
                drawn.ablate(found, predicted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
