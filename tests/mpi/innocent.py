#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""No false alarm: correct programs that look stuck for a while (innocent.c) are not reported.

  innocent.py MPIEXEC PROGRAM [--runs N] [--seconds T] [--seed S] [--load L]

Each run has another program, seed, number of ranks, number of workers and way of progress, with looks for
deadlocks every few milliseconds, while L processes keep the cores busy. The exit code must be 0, and nothing may
be printed. After T seconds no other run begins. What fails is printed as a command that repeats it.
"""
import argparse
import random
import shlex
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import testing # noqa: E402

WHAT = ["token", "large", "any", "several", "meet", "poll", "give_up", "threads", "own", "locks"]
WAYS = [[], ["--workers", "1"], ["--workers", "2"], ["--comm-cores", "1"], ["--progress", "threads"],
        ["--progress", "none"], ["--comm-cores", "1", "--progress", "threads"],
        ["--algorithm", "allreduce=recursive-doubling,bcast=binomial"], ["--eager", "0"]]
LOOKS = ["0.002", "0.005", "0.02"]
SECONDS = testing.seconds(150) # where failure is a hang


def command(mpiexec, program, number, seed):
    """The first runs have every program and every way once."""
    draw = random.Random(f"{seed}.{number}")
    what = WHAT[number % len(WHAT)]
    way = WAYS[number % len(WAYS)] if number < len(WAYS) else draw.choice(WAYS)
    ranks = draw.choice([2, 3, 4, 5, 8, 16])
    if what == "token" and number % 40 == 10:
        ranks = 4096
    if what in ("threads", "own"):
        ranks = min(ranks, 4)
    polling = "0.4" if what == "poll" else "0.03"
    return [mpiexec, "-q", *way, "--deadlock-after", draw.choice(LOOKS), "--polling-after", polling,
            "-n", str(ranks), program, what, str(draw.randrange(1 << 30))]


def run(line):
    """What is wrong with one run; None: nothing."""
    try:
        done = subprocess.run(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "it hangs"
    if done.returncode == 0 and not done.stdout:
        return None
    return f"exit code {done.returncode}: {done.stdout.decode(errors='replace')}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mpiexec")
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", default=testing.SEED, help="any text")
    parser.add_argument("--load", type=int, default=2)
    options = parser.parse_args()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(options.load)]
    failures, ran, end = 0, 0, time.monotonic() + options.seconds
    try:
        for number in range(options.runs):
            if time.monotonic() > end:
                break
            ran += 1
            line = command(options.mpiexec, options.program, number, options.seed)
            wrong = run(line)
            if wrong:
                failures += 1
                print(f"{shlex.join(line)}\n  {wrong}", flush=True)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    print(f"{ran} runs, {failures} failed")
    sys.exit(failures > 0)


main()
