#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What options of mpiexec cost whole programs: run times with them divided by run times without.

    bench/overhead.py [--mpiexec FILE] [--ways NAME,...] [--ranks 2,8] [--turns N] [--quick] [--only NAME,...] [--instructions]

The ways are unwatched (--deadlock-after 0, without the thread that looks for deadlocks), check (--check) and report (--report).
Examples that compute, LAMMPS and the other programs of bench/installed.py where they are installed, and floods of small calls of
one kind (bench/mpi/floods.c; --only floods: these alone), the worst case, run in turn plain and in each way, start and end
included. The table has the median seconds of the plain run and the medians of the others divided by it, by the clock and by
processor time, which other load disturbs less: 1.00 is free. --quick: two turns.

--instructions: the instructions of one call of each flood by 2 ranks on one core, as valgrind (callgrind) counts them, which other
load does not change.
"""
import argparse
import importlib.util
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[0] = str(ROOT / "tests/libraries")  # whose module installed is not bench/installed.py
SPEC = importlib.util.spec_from_file_location("bench_installed", ROOT / "bench/installed.py")
programs_of = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(programs_of)

WAYS = {"unwatched": ["--deadlock-after", "0"], "check": ["--check"], "report": ["--report=run.xyp"]}
# example: arguments by which it takes about a second
EXAMPLES = {"heat2d": ["2048", "250"], "fox": ["960"], "pi": ["1000000000"]}
FLOODS = ("send", "heap", "isend", "persistent", "any", "pingpong", "collective", "icollective", "fence", "lock", "allocate")
CALLS = "300000"
WARNED, ENDED = 120, 121  # exit codes of --check: it has warned; a mistake has ended the run


def commands(runner, mpiexec):
    """{name: command} of examples and floods, which are compiled, and of the installed programs."""
    found = {}
    for name, arguments in EXAMPLES.items():
        found[name] = [compiled(runner, mpiexec, ROOT / "examples" / f"{name}.c"), *arguments]
    found |= programs_of.programs(runner)
    flood = compiled(runner, mpiexec, ROOT / "bench/mpi/floods.c")
    return {**found, **{f"floods-{kind}": [flood, kind, CALLS] for kind in FLOODS}}


def compiled(runner, mpiexec, source):
    program = runner.folder / source.stem
    runner.prepare(mpiexec.parent / "mpicc", "-g", "-O2", source, "-o", program, "-lm")
    return program


def measure(mpiexec, words, ranks, command, folder):
    """(seconds, seconds of processors), or None for a run that a mistake of the program ends"""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([mpiexec, *words, "-n", str(ranks), *map(str, command)], cwd=folder, env=programs_of.installed.ENV,
                          capture_output=True, text=True, timeout=600, check=False)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    if done.returncode == ENDED:
        return None
    if done.returncode not in (0, WARNED):
        sys.exit(f"{done.stderr[-2000:]}{command[0]} {' '.join(words)} on {ranks} ranks ended with exit code {done.returncode}")
    return end - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def count(mpiexec, words, flood, kind, folder):
    """Instructions of one call: of a longer run, without those of a shorter one."""
    counts, short, more = [], 6400, 19200 # multiples of the 64 calls between fences and waits
    for calls in (short, short + more):
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", mpiexec, *words, "--cores", "1", "-n", "2",
                               flood, kind, str(calls)], cwd=folder, capture_output=True, text=True, timeout=600, check=True)
        counts.append(int(re.search(r"Collected : (\d+)", done.stderr).group(1)))
    return (counts[1] - counts[0]) / more


def count_floods(mpiexec, runner, ways, only):
    flood = compiled(runner, mpiexec, ROOT / "bench/mpi/floods.c")
    print(f"{'flood':<20}{'plain':>9}" + "".join(f"{way:>11}" for way in ways if way != "plain"), flush=True)
    for kind in FLOODS:
        if not only or "floods" in only.split(",") or kind in only.split(","):
            counts = {way: count(mpiexec, words, flood, kind, runner.folder) for way, words in ways.items()}
            print(f"{kind:<20}{counts['plain']:>9.0f}" +
                  "".join(f"{counts[way] / counts['plain']:>11.2f}" for way in ways if way != "plain"), flush=True)


def is_wanted(name, only):
    return not only or name in only.split(",") or name.split("-")[0] in only.split(",")


def row(name, ranks, times):
    """The line of a program: its plain seconds, and the ratios of each way."""
    clock, cpu = ({way: statistics.median(t[i] for t in list_of) for way, list_of in times.items() if None not in list_of}
                  for i in (0, 1))
    cells = [f"{clock[way] / clock['plain']:>11.2f}{cpu[way] / cpu['plain']:>7.2f}" if way in clock else f"{'mistake':>18}"
             for way in times if way != "plain"]
    return f"{name:<20}{ranks:>6}{clock['plain']:>9.2f}" + "".join(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpiexec", type=Path, default=ROOT / "build/dev/bin/mpiexec")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--ranks", default="2,8")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--instructions", action="store_true")
    options = parser.parse_args()
    others = options.ways.split(",")
    unknown = [way for way in others if way not in WAYS]
    if unknown:
        parser.error(f"--ways: {unknown[0]} is not one of {', '.join(WAYS)}")
    ways = {"plain": [], **{way: WAYS[way] for way in others}}
    with tempfile.TemporaryDirectory() as folder:
        mpiexec = options.mpiexec.resolve()
        runner = programs_of.installed.Runner(mpiexec, [], Path(folder))
        if options.instructions:
            count_floods(mpiexec, runner, ways, options.only)
            return 0
        print(f"load average {os.getloadavg()[0]:.1f}\n\n{'program':<20}{'ranks':>6}{'plain':>9}" +
              "".join(f"{way:>11}{'(cpu)':>7}" for way in others), flush=True)
        for name, command in commands(runner, mpiexec).items():
            if not is_wanted(name, options.only):
                continue
            for ranks in map(int, options.ranks.split(",")):
                times = {way: [] for way in ways}
                for _ in range(2 if options.quick else options.turns):
                    for way, words in ways.items():
                        times[way].append(measure(mpiexec, words, ranks, command, folder))
                print(row(name, ranks, times), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
