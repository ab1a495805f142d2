#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The default policy of xylem stencil beside all others, on random problems in virtual time.

  bench/stencil_random.py [--rows 100] [--seed TEXT] [--quick] [--build DIR] [--worst N]

A row is a grid of one to three dimensions in either order, a number of iterations, a size of blocks, a time of a
task, a number of GPUs and their memory. Each row runs with the default policy and with every other policy and
several numbers of data loaded early (--look-ahead), driven as real GPUs are (--as-real). Prints the time of the default
divided by that of the best other: its distribution, and the worst rows with the command of both. The default also runs
with a quarter more memory, which should not take longer.
"""
import argparse
import concurrent.futures
import json
import math
import os
import random
import subprocess
import sys

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/dev")
OTHERS = ([["closure", n] for n in (0, 1, 2, 4, 8, 16)] + [["relay", n] for n in (0, 2, 8)] +
          [[policy, n] for policy in ("dmdar", "lws", "eager", "modular-ready", "darts", "prio", "dmdas", "dmda",
                                      "cache-oblivious") for n in (0, 4)])


def between(choose, low, high):
    """Of all orders of magnitude alike."""
    return math.exp(choose.uniform(math.log(low), math.log(high)))


def draw(choose):
    dims = choose.choice([1, 1, 2, 3])
    total = between(choose, 48, 512)
    blocks = [1] * dims
    for d in range(1, dims):
        blocks[d] = max(3, round(between(choose, 3, total ** (1 / dims) * 1.5)))
    blocks[0] = max(3, round(total / math.prod(blocks[1:])))
    gpus = choose.choice([1, 1, 1, 1, 2, 3, 4, 8])
    block = round(between(choose, 0.5, 16) * 1024) * 1024
    graph = choose.choice(["jacobi", "red-black"])
    arrays = 2 if graph == "jacobi" else 1
    memory = between(choose, 0.1, 1.2) * math.prod(blocks) * block * arrays / gpus
    return ["--graph", graph, "--blocks", "x".join(map(str, blocks)), "--iterations", str(choose.randint(10, 60)),
            "--block", str(block), "--gpus", str(gpus), "--memory", str(int(max(memory, 16 * block))),
            "--task-time", "%.1fus" % between(choose, 5, 5000)]


def run(xylem, row, more):
    done = subprocess.run([xylem, "stencil", "--as-real", "--json"] + row + more, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def measure(xylem, row):
    default = run(xylem, row, [])
    if default is None:
        return None
    best, best_how = math.inf, None
    for policy, look_ahead in OTHERS:
        how = ["--policy", policy, "--look-ahead", str(look_ahead)]
        other = run(xylem, row, how)
        if other is not None and other["makespan"] < best:
            best, best_how = other["makespan"], how
    larger = list(row)
    at = larger.index("--memory") + 1
    larger[at] = str(int(row[at]) * 5 // 4)
    more = run(xylem, larger, [])
    more = more["makespan"] if more is not None else 0  # the GPU has less
    return default["makespan"] / best, row, best_how, default, more / default["makespan"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--seed", default="xylem")
    parser.add_argument("--quick", action="store_true", help="ten rows")
    parser.add_argument("--build", default=BUILD)
    parser.add_argument("--worst", type=int, default=8, help="print so many of the worst rows")
    arguments = parser.parse_args()
    xylem = os.path.join(arguments.build, "bin/xylem")
    choose = random.Random(arguments.seed)
    rows = [draw(choose) for _ in range(10 if arguments.quick else arguments.rows)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        measured = list(pool.map(lambda row: measure(xylem, row), rows))
    refused = measured.count(None)
    measured = sorted((m for m in measured if m is not None), key=lambda m: m[0])
    if not measured:
        sys.exit("no row could be run")
    ratios = [m[0] for m in measured]
    tasks = sum(m[3]["tasks"] for m in measured)
    part = lambda share: ratios[min(len(ratios) - 1, int(share * len(ratios)))]
    print("%d rows (seed %s), %d refused: default / best other: median %.3f, 90 %% %.3f, 99 %% %.3f, worst %.3f" %
          (len(ratios), arguments.seed, refused, part(0.5), part(0.9), part(0.99), ratios[-1]))
    print("%d more than 5 %% slower; choosing took %.1f us per task" %
          (sum(r > 1.05 for r in ratios), 1e6 * sum(m[3]["scheduling_seconds"] for m in measured) / tasks))
    memory = sorted(m[4] for m in measured)
    print("with a quarter more memory: %d more than 2 %% slower, worst %.3f" % (sum(r > 1.02 for r in memory), memory[-1]))
    for ratio, row, how, default, _ in measured[::-1][:arguments.worst]:
        print("%.3f  xylem stencil --as-real %s   (%s %d)  %s" %
              (ratio, " ".join(row), default["ran"], default["look_ahead"], " ".join(how)))


main()
