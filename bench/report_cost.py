#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What mpiexec --report costs whole programs: run times with it divided by run times without it.

    bench/report_cost.py [--mpiexec FILE] [--ranks 2,8] [--turns N] [--quick] [--only NAME,...]

Runs the examples that compute, and LAMMPS and the other programs of bench/installed.py where they are installed, in turn with
and without --report, start and end included. The table has medians in seconds and their ratio: 1.00 is free. --quick: two turns.
"""
import argparse
import importlib.util
import os
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[0] = str(ROOT / "tests/libraries")  # whose module installed is not bench/installed.py
SPEC = importlib.util.spec_from_file_location("bench_installed", ROOT / "bench/installed.py")
programs_of = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(programs_of)
# example: arguments by which it takes about a second
EXAMPLES = {"heat2d": ["1024", "300"], "fox": ["480"], "pi": ["100000000"]}


def commands(runner, mpiexec, examples):
    """{name: command} of examples, which are compiled, and of the installed programs."""
    found = {}
    for name, arguments in examples.items():
        program = runner.folder / name
        runner.prepare(mpiexec.parent / "mpicc", "-g", "-O2", ROOT / "examples" / f"{name}.c", "-o", program, "-lm")
        found[name] = [program, *arguments]
    return {**found, **programs_of.programs(runner)}


def parse(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpiexec", type=Path, default=ROOT / "build/dev/bin/mpiexec")
    parser.add_argument("--ranks", default="2,8")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    return parser.parse_args()


def main():
    options = parse(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        mpiexec = options.mpiexec.resolve()
        kinds = [programs_of.installed.Runner(mpiexec, words, Path(folder)) for words in ([], [f"--report={folder}/run.xyp"])]
        print(f"load average {os.getloadavg()[0]:.1f}\n\n{'program':<12}{'ranks':>6}{'without':>9}{'with':>9}{'ratio':>7}", flush=True)
        for name, command in commands(kinds[0], mpiexec, EXAMPLES).items():
            if options.only and name not in options.only.split(","):
                continue
            for ranks in map(int, options.ranks.split(",")):
                times = [[], []]
                for _ in range(2 if options.quick else options.turns):
                    for runner, list_of in zip(kinds, times):
                        list_of.append(programs_of.seconds(runner, "xylem", ranks, command))
                without, with_it = map(statistics.median, times)
                print(f"{name:<12}{ranks:>6}{without:>9.2f}{with_it:>9.2f}{with_it / without:>7.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
