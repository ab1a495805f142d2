#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The default policy of xylem stencil beside all others, on random problems in virtual time or on a GPU.

  bench/stencil_random.py [--rows 100] [--seed TEXT] [--quick] [--build DIR] [--worst N]
  bench/stencil_random.py --real [MACHINE] [--trials N] [--lines FILE [--measured FILE]] ...

A row is a grid of one to three dimensions in either order, a number of iterations, a size of blocks, a time of a
task, a number of GPUs and their memory. Each row runs with the default policy and with every other policy and
several numbers of data loaded early (--look-ahead), driven as real GPUs are (--as-real). Prints the time of the default
divided by that of the best other: its distribution, and the worst rows with the command of both. The default also runs
with a quarter more memory, which should not take longer.

--real runs on the GPU of this machine (bench_gpu_random). A row has cells and a memory of the GPU; it runs with the
default and with fourteen others, three times each in turn where one of them seems faster. Prints the ratio of the medians,
and the errors of the virtual times that the choice was made from. Where MACHINE describes the GPU (xylem calibrate --gpu;
xylem machine --xml MACHINE), the others are the --trials (6) that are best in virtual time, and the errors are those of
--as-real. --lines writes the input of bench_gpu_random, for another machine; with --measured, its output there, the
results are printed.
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

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/dev")
OTHERS = ([["closure", n] for n in (0, 1, 2, 4, 8, 16)] + [["relay", n] for n in (0, 2, 8)] +
          [[policy, n] for policy in ("dmdar", "lws", "eager", "modular-ready", "darts", "prio", "dmdas", "dmda",
                                      "cache-oblivious") for n in (0, 4)])


REAL_OTHERS = [["closure", 0], ["closure", 1], ["closure", 2], ["closure", 4], ["closure", 8], ["relay", 0], ["relay", 2],
               ["dmdar", 0], ["dmdar", 4], ["lws", 4], ["darts", 4], ["modular-ready", 0], ["modular-ready", 4],
               ["cache-oblivious", 0]]


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
    """[(virtual time, policy, look-ahead)] of what the default is compared with; without a machine the time is None."""
    if not machine:
        return [(None, *way) for way in REAL_OTHERS]
    virtual = ("--as-real", "--machine", machine)
    predicted = pool.map(lambda way: predict(xylem, row, ways_options(*way), virtual), OTHERS)
    return sorted((seconds, *way) for seconds, way in zip(predicted, OTHERS) if seconds is not None)[:trials]


def ways_options(policy, look_ahead):
    return ["--policy", policy, "--look-ahead", str(look_ahead)]


def predict(xylem, row, how, virtual):
    """Virtual time of the row; None where it is refused."""
    done = run(xylem, row, how, virtual)
    return done["makespan"] if done is not None else None


def ran_options(way):
    """The options of a way as it ran; the last --memory counts."""
    how = ways_options(way["policy"], way["look_ahead"]) + ["--eviction", way["eviction"], "--rounds", str(way["rounds"])]
    return how + (["--memory", str(way["memory"])] if way["memory"] > 0 else [])


def line_of(row, ways):
    """A line for bench_gpu_random."""
    value = dict(zip(row[::2], row[1::2]))
    return " ".join([value["--graph"], value["--blocks"], value["--cells"], value["--iterations"], value["--memory"]] +
                    ["%s:%d" % way[1:] for way in ways])


def row_of(line):
    """The row of such a line."""
    words = line.split()
    return ["--graph", words[0], "--blocks", words[1], "--cells", words[2], "--iterations", words[3], "--gpus", "1",
            "--memory", words[4]]


def errors_of(xylem, machine, row, ways, pool):
    """Those of the virtual times, of all ways that ran."""
    virtual = ("--as-real", "--machine", machine)
    ran = [way for way in ways if way["seconds"]]
    if not machine:
        return [way["predicted"] / statistics.median(way["seconds"]) - 1 for way in ran]
    times = pool.map(lambda way: predict(xylem, row, ran_options(way), virtual), ran)
    return [time / statistics.median(way["seconds"]) - 1 for time, way in zip(times, ran) if time is not None]


def real(xylem, arguments, rows):
    """One row after the other: there is one GPU."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        if arguments.measured is None:
            lines = [line_of(row, ways_of(xylem, arguments.real, row, pool, arguments.trials)) for row in rows]
            if arguments.lines is not None:
                with open(arguments.lines, "w", encoding="utf-8") as file:
                    file.writelines(line + "\n" for line in lines)
                return
            bench = subprocess.run([os.path.join(arguments.build, "bench/bench_gpu_random")], text=True, check=True,
                                   input="".join(line + "\n" for line in lines), stdout=subprocess.PIPE)
            results = bench.stdout.splitlines()
        else:
            with open(arguments.lines, encoding="utf-8") as file:
                lines = file.read().splitlines()
            with open(arguments.measured, encoding="utf-8") as file:
                results = [line for line in file.read().splitlines() if line.endswith("}")]
        tell(xylem, arguments, lines, results, pool)


def tell(xylem, arguments, lines, results, pool):
    """Prints each row, and the distributions."""
    ratios, errors, spent, alone, refused, at = [], [], [], [], 0, 0
    for result in map(json.loads, results):
        if "ready_alone" in result:
            alone.append((result["ready_alone"], before["ready"]))
            continue
        row, before, at = row_of(lines[at]), result, at + 1
        if not result or not result["ways"][0]["seconds"]:
            refused += 1
            continue
        ways = result["ways"]
        default = statistics.median(ways[0]["seconds"])
        best = min((way for way in ways[1:] if way["seconds"]), key=lambda way: statistics.median(way["seconds"]))
        wrong = errors_of(xylem, arguments.real, row, ways, pool)
        ratios.append(default / statistics.median(best["seconds"]))
        errors += wrong
        spent.append((result["waited"], default, result["ready"]))
        print("%.3f  %8.2f ms, choice waited for %.2f ms after %.0f ms  xylem stencil --real %s   (%s %d)  %s %d  %s" %
              (ratios[-1], 1e3 * default, 1e3 * result["waited"], 1e3 * result["ready"], " ".join(row),
               ways[0]["policy"], ways[0]["look_ahead"], best["policy"], best["look_ahead"],
               " ".join("%+.0f %%" % (100 * e) for e in wrong)), flush=True)
    if not ratios:
        sys.exit("no row could be run")
    ratios.sort()
    print("%d rows (seed %s), %d refused: default / best other: median %.3f, 90 %% %.3f, worst %.3f, %d more than 5 %% slower" %
          (len(ratios), arguments.seed, refused, statistics.median(ratios), ratios[int(0.9 * len(ratios))], ratios[-1],
           sum(r > 1.05 for r in ratios)))
    print("the choice was waited for %.2f %% of the runs in all, %.2f %% in the median, at worst %.1f %%" %
          (100 * sum(s[0] for s in spent) / sum(s[1] for s in spent), 100 * statistics.median(s[0] / s[1] for s in spent),
           100 * max(s[0] / s[1] for s in spent)))
    if alone:
        print("memory was ready after %.0f ms, without a choice after %.0f ms, in all of %d rows" %
              (1e3 * sum(a[1] for a in alone), 1e3 * sum(a[0] for a in alone), len(alone)))
    if errors:
        print("virtual times: mean error %.1f %%, worst %.0f %%, %d of %d within 10 %%" %
              (100 * statistics.mean(map(abs, errors)), 100 * max(map(abs, errors)),
               sum(abs(e) <= 0.1 for e in errors), len(errors)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--seed", default="xylem")
    parser.add_argument("--quick", action="store_true", help="ten rows")
    parser.add_argument("--build", default=BUILD)
    parser.add_argument("--worst", type=int, default=8, help="print so many of the worst rows")
    parser.add_argument("--real", metavar="MACHINE", nargs="?", const="", help="on the GPU of this machine")
    parser.add_argument("--trials", type=int, default=6, help="with --real: so many others")
    parser.add_argument("--lines", metavar="FILE", help="with --real: the input of bench_gpu_random")
    parser.add_argument("--measured", metavar="FILE", help="with --lines: its output")
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
