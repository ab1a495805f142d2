#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How good the choices of xylem_matmul, xylem_lu and xylem_cholesky are in real runs on the cores that are here.

    bench/mpi/matmul.py BUILD [--quick] [--seed N] [--csv FILE] [--routine lu|cholesky]

Products on 2 to 16 ranks that share the cores and have different speeds (bench/mpi/matmul.c): all
algorithms in turn, in the same run (the least time counts), beside the choice by predicted times, which
knows the machine, the speeds and what the kernel takes, and no earlier run. Printed are, for each instance,
the choice, the best and what is lost, and at the end how often the choice is the best or within 5 % of it,
the mean loss, and predicted over measured times of each algorithm (median). Wanted are 90 % within 5 %, and
3 %. 30 instances take about two minutes on two idle cores, half a minute of it to measure the kernel; --quick, with
10 small ones and fewer repetitions, three quarters of a minute. MATMUL_COSTS names a file of `xylem calibrate --messages` for the
predictions; without it they use what is stored for the user, or the simulator's own figures.
--routine factors (bench/mpi/factor.c) on ranks of equal speed.
"""
import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RANKS = [2, 3, 4, 6, 7, 8, 9, 12, 14, 16]


def compile_program(build, to, routine):
    source = Path(__file__).with_name("factor.c" if routine else "matmul.c")
    program = Path(to) / "matmul"
    subprocess.run([build / "bin/mpicc", "-O3", source, "-o", program, "-lxylem_dense", "-lxylem", "-lm"], check=True)
    return program


def run(build, program, ranks, options):
    """[(n, {algorithm: (predicted, measured)}, chosen)]"""
    each, repetitions, least, most = (1, 3, 150, 400) if options.quick else (3, 25, 200, 800)
    done = subprocess.run([build / "bin/mpiexec", "-n", str(ranks), program, str(options.seed), str(each),
                           str(repetitions), str(least), str(most)], stdout=subprocess.PIPE, text=True, check=True,
                          env=dict(os.environ, DENSE_ROUTINE=options.routine or ""))
    found, before = [], None
    for n, _, name, predicted, measured, chosen in csv.reader(done.stdout.splitlines()):
        if (n, name) == before or not found or found[-1][0] != int(n) or name in found[-1][1]:
            found.append([int(n), {}, None])
        found[-1][1][name] = (float(predicted), float(measured))
        if chosen == "1":
            found[-1][2] = name
        before = (n, name)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--routine", choices=["lu", "cholesky"])
    options = parser.parse_args()
    build, losses, errors, equal, rows, ratios = options.build.resolve(), [], [], 0, [], {}
    with tempfile.TemporaryDirectory() as directory:
        program = compile_program(build, directory, options.routine)
        for ranks in RANKS:
            for n, times, chosen in run(build, program, ranks, options):
                best = min(times, key=lambda name: times[name][1])
                losses.append(times[chosen][1] / times[best][1] - 1)
                errors += [abs(predicted / measured - 1) for predicted, measured in times.values()]
                equal += chosen == best
                for name, (predicted, measured) in times.items():
                    ratios.setdefault(name, []).append(predicted / measured)
                rows += [(n, ranks, name, *pair, name == chosen) for name, pair in times.items()]
                print(f"{ranks:2} ranks, n {n:3}: {chosen:15} {1e3 * times[chosen][1]:7.2f} ms, the best is {best:15} "
                      f"{1e3 * times[best][1]:7.2f} ms: {100 * losses[-1]:.1f} % lost", flush=True)
    near = sum(loss <= 0.05 for loss in losses)
    print(f"{len(losses)} instances: the best in {equal}, the best or within 5 % in {near} "
          f"({100 * near / len(losses):.0f} %), mean loss {100 * statistics.mean(losses):.2f} %; predictions are wrong by "
          f"{100 * statistics.median(errors):.0f} % (median)")
    print("predicted over measured: " + ", ".join(f"{name} {statistics.median(found):.2f}"
                                                  for name, found in ratios.items()))
    if options.csv:
        with options.csv.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("n", "ranks", "algorithm", "predicted", "measured", "chosen"), *rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
