#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How often xylem_matmul, xylem_lu or xylem_cholesky chooses what is the best on machines that are simulated.

    bench/matmul_virtual.py BUILD [--seed N] [--each N] [--machines held|known] [--ranks 4,16,...]
                            [--routine lu|cholesky] [--random N]

All algorithms run in virtual time (tests/matmul/virtual.c): on each machine with each number of ranks
`each` instances, every second one with ranks of different speeds. `known` are the networks that
predictions were made with, `held` others; a seed gives the same instances again. Printed are, for each
machine, how often the choice by predicted times is the best, how often within 1 % and 5 % of it, the
mean loss, and the processor time of all predictions as a part of the run (median). --random draws N
networks and numbers of ranks (2 to 16) instead, with one instance each.
"""
import argparse
import os
import random
import re
import statistics
import subprocess
import sys
from pathlib import Path

MACHINES = {
    "known": ["node:{}(latency=1us bandwidth=10GB/s) core:1",
              "node:{}(latency=5us bandwidth=1GB/s) core:1",
              "node:{}(latency=24us bandwidth=98MB/s) core:1"],
    "held": ["node:{}(latency=600ns bandwidth=24GB/s) core:1",
             "node:{}(latency=3us bandwidth=3GB/s) core:1",
             "node:{}(latency=14us bandwidth=250MB/s) core:1"],
}
LINE = re.compile(r"^n (\d+): (\S+) (\S+) s, the best is (\S+) (\S+) s; predicted in (\S+) %$", re.M)


def run(build, machine, ranks, each, seed, routine=None):
    """(loss, chosen, best, share of predictions) of each instance."""
    text = machine.format(ranks)
    done = subprocess.run([build / "bin/mpiexec", "--virtual", text, "--compute", "none", "-n", str(ranks),
                           build / "tests/matmul/matmul_virtual", text, str(each), str(seed)],
                          stdout=subprocess.PIPE, text=True, check=True,
                          env=dict(os.environ, **({"DENSE_ROUTINE": routine} if routine else {})))
    return [(float(took) / float(least) - 1, chosen, best, float(share) / 100)
            for _, chosen, took, best, least, share in LINE.findall(done.stdout)]


def report(name, found):
    losses = [loss for loss, *_ in found]
    equal = sum(chosen == best for _, chosen, best, _ in found)
    print(f"{name}: {len(found)} instances, the best in {equal} ({100 * equal / len(found):.1f} %), "
          f"within 1 % in {sum(x <= 0.01 for x in losses)}, within 5 % in {sum(x <= 0.05 for x in losses)}, "
          f"mean loss {100 * statistics.mean(losses):.2f} %, worst {100 * max(losses):.1f} %; "
          f"predictions take {100 * statistics.median(x[3] for x in found):.2g} % of the run", flush=True)


def run_random(build, count, seed, routine):
    """One instance on each of `count` networks; latencies and bandwidths are spread evenly in their logarithms."""
    draw, found = random.Random(f"{seed} {routine}"), []
    for i in range(count):
        latency, bandwidth = 5e2 * 100 ** draw.random(), 1e2 * 200 ** draw.random()
        machine = f"node:{{}}(latency={latency:.0f}ns bandwidth={bandwidth:.0f}MB/s) core:1"
        found += run(build, machine, draw.randint(2, 16), 1, seed * 1000 + i, routine)
    report(f"{routine or 'product'} on random networks", found)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=6)
    parser.add_argument("--machines", choices=MACHINES, default="held")
    parser.add_argument("--ranks", default="4,6,9,16,25,28,48,64,100,128,256")
    parser.add_argument("--routine", choices=["lu", "cholesky"])
    parser.add_argument("--random", type=int, default=0)
    options = parser.parse_args()
    found = []
    if options.random > 0:
        found = run_random(options.build.resolve(), options.random, options.seed, options.routine)
    for machine in MACHINES[options.machines] if options.random == 0 else []:
        here = []
        for ranks in map(int, options.ranks.split(",")):
            here += run(options.build.resolve(), machine, ranks, options.each, options.seed, options.routine)
        report(machine.format("P"), here)
        found += here
    report("all", found)
    print("best:", ", ".join(f"{name} {sum(x[2] == name for x in found)}" for name in sorted({x[2] for x in found})))
    return 0


if __name__ == "__main__":
    sys.exit(main())
