#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What mpiexec --check costs whole programs, and what the look for deadlocks of plain runs costs.

    bench/check_cost.py [--mpiexec FILE] [--ranks 2,8] [--turns N] [--quick] [--only NAME,...]

Runs examples that compute, LAMMPS and the other programs of bench/installed.py where they are installed, and floods of small
calls of one kind (bench/mpi/floods.c; --only floods: these alone), the worst case, in turn: plain,
without the thread that looks for deadlocks (--deadlock-after 0), and with --check; start and end included. The table has the
median seconds of the plain run and the medians of the others divided by it, by the clock and by processor time, which other
load disturbs less. --quick: two turns.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
from report_cost import ROOT, commands, parse, programs_of # noqa: E402 pylint: disable=wrong-import-position

WAYS = {"plain": [], "unwatched": ["--deadlock-after", "0"], "check": ["--check"]}
EXAMPLES = {"heat2d": ["1024", "300"], "fox": ["480"], "pi": ["100000000"]} # about a second each
FLOODS = ("send", "heap", "isend", "persistent", "any", "pingpong", "collective", "icollective", "fence", "lock", "allocate")
CALLS = "300000"
FINDINGS = (0, 120) # --check may warn


def measure(mpiexec, words, ranks, command, folder):
    """(seconds, seconds of processors)"""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([mpiexec, *words, "-n", str(ranks), *map(str, command)], cwd=folder, env=programs_of.installed.ENV,
                          capture_output=True, text=True, timeout=600, check=False)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    if done.returncode not in FINDINGS:
        sys.exit(f"{done.stderr[-2000:]}{command[0]} {' '.join(words)} on {ranks} ranks ended with exit code {done.returncode}")
    return end - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def floods(runner, mpiexec):
    """{name: command} of the kinds of small calls."""
    program = runner.folder / "floods"
    runner.prepare(mpiexec.parent / "mpicc", "-g", "-O2", ROOT / "bench/mpi/floods.c", "-o", program)
    return {f"floods-{kind}": [program, kind, CALLS] for kind in FLOODS}


def is_wanted(name, only):
    return not only or name in only.split(",") or name.split("-")[0] in only.split(",")


def main():
    options = parse(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        mpiexec = options.mpiexec.resolve()
        runner = programs_of.installed.Runner(mpiexec, [], Path(folder))
        others = list(WAYS)[1:]
        print(f"load average {os.getloadavg()[0]:.1f}\n\n{'program':<20}{'ranks':>6}{'plain':>9}" +
              "".join(f"{way:>11}{'(cpu)':>7}" for way in others), flush=True)
        for name, command in {**commands(runner, mpiexec, EXAMPLES), **floods(runner, mpiexec)}.items():
            if not is_wanted(name, options.only):
                continue
            for ranks in map(int, options.ranks.split(",")):
                times = {way: [] for way in WAYS}
                for _ in range(2 if options.quick else options.turns):
                    for way, words in WAYS.items():
                        times[way].append(measure(mpiexec, words, ranks, command, folder))
                clock, cpu = ({way: statistics.median(t[i] for t in list_of) for way, list_of in times.items()} for i in (0, 1))
                print(f"{name:<20}{ranks:>6}{clock['plain']:>9.2f}" +
                      "".join(f"{clock[way] / clock['plain']:>11.2f}{cpu[way] / cpu['plain']:>7.2f}" for way in others), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
