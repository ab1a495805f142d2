#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The default policy of xylem stencil beside all others, on random problems in virtual time or on a GPU.

  bench/stencil_random.py [--rows 100] [--seed TEXT] [--quick] [--build DIR] [--worst N]
  bench/stencil_random.py --real [MACHINE] [--seconds N] [--trials N] ...

A row is a grid of one to three dimensions in either order, a number of iterations, a size of blocks, a time of a
task, a number of GPUs and their memory. Each row runs with the default policy and with every other policy and
several numbers of data loaded early (--look-ahead), driven as real GPUs are (--as-real). Prints the time of the default
divided by that of the best other: its distribution, and the worst rows with the command of both. The default also runs
with a quarter more memory, which should not take longer.

--real runs on the GPU of this machine. A row has cells and a memory of the GPU; it runs with the default and with nine
others, three times each in turn where one of them seems faster. Prints the ratio of the medians. Where MACHINE describes
the GPU (xylem calibrate --gpu; xylem machine --xml MACHINE), the others are the --trials (4) that are best in virtual
time, and the errors of the virtual times are printed, too.
"""
import argparse
import concurrent.futures
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/dev")
OTHERS = ([["closure", n] for n in (0, 1, 2, 4, 8, 16)] + [["relay", n] for n in (0, 2, 8)] +
          [[policy, n] for policy in ("dmdar", "lws", "eager", "modular-ready", "darts", "prio", "dmdas", "dmda",
                                      "cache-oblivious") for n in (0, 4)])


REAL_OTHERS = [["closure", 0], ["closure", 2], ["closure", 8], ["relay", 2], ["dmdar", 0], ["dmdar", 4], ["lws", 4],
               ["darts", 4], ["modular-ready", 4]]


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


def draw_real(choose):
    """Cells of 8 bytes, 64 MiB to 2 GiB of them."""
    blocks = [1] * choose.choice([1, 2, 3])
    total, domain = between(choose, 48, 512), between(choose, 64, 2048) * 2 ** 20 / 8
    for d in range(1, len(blocks)):
        blocks[d] = max(3, round(between(choose, 3, total ** (1 / len(blocks)) * 1.5)))
    blocks[0] = max(3, round(total / math.prod(blocks[1:])))
    left = domain / math.prod(blocks)
    cells = []
    for d in range(max(2, len(blocks)) - 1):
        cells.append(max(8, 8 * round(between(choose, 8, min(512, left / 8)) / 8)))
        left /= cells[-1]
    cells.append(max(8, 8 * round(left / 8)))
    graph = choose.choice(["jacobi", "red-black"])
    memory = between(choose, 0.1, 1.2) * domain * 8 * (2 if graph == "jacobi" else 1)
    return ["--graph", graph, "--blocks", "x".join(map(str, blocks if len(blocks) > 1 else blocks + [1])),
            "--cells", "x".join(map(str, cells)), "--iterations", str(choose.randint(10, 60)), "--gpus", "1",
            "--memory", str(int(max(memory, 16 * math.prod(cells) * 8)))]


def run(xylem, row, more, mode=("--as-real",)):
    done = subprocess.run([xylem, "stencil", "--json", *mode] + row + more, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def share_of(default):
    """Processor time of the trials, on all processors, as a part of the run."""
    seconds = default.get("trial_seconds", default["scheduling_seconds"])
    return seconds / min(os.cpu_count(), 17) / default["makespan"]


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


def ways_of(xylem, machine, row, pool, trials):
    """[(virtual time, options)] of the default and of what is compared with it; without a machine the time is None."""
    if not machine:
        return [(None, [])] + [(None, ["--policy", policy, "--look-ahead", str(n)]) for policy, n in REAL_OTHERS]
    virtual = ("--as-real", "--machine", machine)
    hows = [[]] + [["--policy", policy, "--look-ahead", str(n)] for policy, n in OTHERS]
    predicted = [(p["makespan"], how) for p, how in zip(pool.map(lambda how: run(xylem, row, how, virtual), hows), hows)
                 if p is not None]
    return predicted[:1] + sorted(predicted[1:])[:trials] if predicted and predicted[0][1] == [] else None


def measure_real(xylem, machine, row, pool, trials):
    """The default and some others, on the GPU: (ratio, how, default, errors of the virtual times)."""
    ways = ways_of(xylem, machine, row, pool, trials)
    if ways is None:
        return None
    times = [[] for _ in ways]
    ran = None
    for _ in range(3):
        for i, (_, how) in enumerate(ways):
            done = run(xylem, row, how, ("--real", "--no-check", "--choices", "none"))
            if done is None and i == 0:
                return None
            times[i].append(done["makespan"] if done is not None else math.inf)
            ran = done if i == 0 else ran
        if times[0][0] <= 1.02 * min(t[0] for t in times[1:]):
            break
    medians = [statistics.median(t) for t in times]
    best = min(range(1, len(ways)), key=lambda i: medians[i])
    errors = [way[0] / t - 1 for way, t in zip(ways, medians) if way[0] is not None]
    return medians[0] / medians[best], ways[best][1], ran, errors


def real(xylem, arguments, rows):
    """One row after the other: there is one GPU."""
    end = time.monotonic() + arguments.seconds
    ratios, errors, spent, refused = [], [], [], 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for row in rows:
            if time.monotonic() > end:
                break
            measured = measure_real(xylem, arguments.real, row, pool, arguments.trials)
            if measured is None:
                refused += 1
                continue
            ratio, how, default, wrong = measured
            ratios.append(ratio)
            errors.append(wrong)
            spent += [(default["choosing_seconds"], default["makespan"])]
            print("%.3f  %8.2f ms, chosen in %.2f ms  xylem stencil --real %s   (%s %d)  %s  %s" %
                  (ratio, 1e3 * default["makespan"], 1e3 * default["choosing_seconds"], " ".join(row),
                   default["ran"], default["look_ahead"], " ".join(how), " ".join("%+.0f %%" % (100 * e) for e in wrong)),
                  flush=True)
    if not ratios:
        sys.exit("no row could be run")
    ratios.sort()
    flat = [abs(e) for row in errors for e in row]
    print("%d rows (seed %s), %d refused: default / best other: median %.3f, worst %.3f, %d more than 5 %% slower" %
          (len(ratios), arguments.seed, refused, statistics.median(ratios), ratios[-1], sum(r > 1.05 for r in ratios)))
    print("choosing took %.2f %% of the runs in all, at worst %.1f %%" %
          (100 * sum(s for s, _ in spent) / sum(t for _, t in spent), 100 * max(s / t for s, t in spent)))
    if flat:
        print("virtual times: mean error %.1f %%, worst %.0f %%, %d of %d within 10 %%" %
              (100 * statistics.mean(flat), 100 * max(flat), sum(e <= 0.1 for e in flat), len(flat)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--seed", default="xylem")
    parser.add_argument("--quick", action="store_true", help="ten rows")
    parser.add_argument("--build", default=BUILD)
    parser.add_argument("--worst", type=int, default=8, help="print so many of the worst rows")
    parser.add_argument("--real", metavar="MACHINE", nargs="?", const="", help="on the GPU of this machine")
    parser.add_argument("--seconds", type=float, default=math.inf, help="with --real: begin no row after that")
    parser.add_argument("--trials", type=int, default=4, help="with --real: so many others")
    arguments = parser.parse_args()
    xylem = os.path.join(arguments.build, "bin/xylem")
    choose = random.Random(arguments.seed)
    if arguments.real is not None:
        return real(xylem, arguments, [draw_real(choose) for _ in range(10 if arguments.quick else arguments.rows)])
    rows = [draw(choose) for _ in range(10 if arguments.quick else arguments.rows)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        measured = list(pool.map(lambda row: measure(xylem, row), rows))
    refused = measured.count(None)
    measured = sorted((m for m in measured if m is not None), key=lambda m: m[0])
    if not measured:
        sys.exit("no row could be run")
    ratios = [m[0] for m in measured]
    shares = sorted(share_of(m[3]) for m in measured)
    part = lambda share: ratios[min(len(ratios) - 1, int(share * len(ratios)))]
    print("%d rows (seed %s), %d refused: default / best other: median %.3f, 90 %% %.3f, 99 %% %.3f, worst %.3f" %
          (len(ratios), arguments.seed, refused, part(0.5), part(0.9), part(0.99), ratios[-1]))
    print("%d more than 5 %% slower; choosing takes %.2f %% of the run in the median, %.2f %% at worst, with %s trials" %
          (sum(r > 1.05 for r in ratios), 100 * statistics.median(shares), 100 * shares[-1],
           " to ".join(str(f(m[3]["trials"] for m in measured)) for f in (min, max))))
    memory = sorted(m[4] for m in measured)
    print("with a quarter more memory: %d more than 2 %% slower, worst %.3f" % (sum(r > 1.02 for r in memory), memory[-1]))
    for ratio, row, how, default, _ in measured[::-1][:arguments.worst]:
        print("%.3f  xylem stencil --as-real %s   (%s %d)  %s" %
              (ratio, " ".join(row), default["ran"], default["look_ahead"], " ".join(how)))


main()
