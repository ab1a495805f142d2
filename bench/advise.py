#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Predicted and measured gains of the remedies of xylem advise.

    bench/advise.py [--build DIR] [--virtual] [--rounds N] [--quick] [PROGRAM...]

Each program of tests/report/gain.c is recorded; xylem advise predicts what remedies gain. Options of
mpiexec are verified by 'xylem advise --verify'; for a remedy that changes the program, its changed form
is run in turn with the original. --virtual does the same in virtual time, where times are exact. Each gain
has its noise, half the 95 % interval of the median; a sign counts only where the gain is larger than that. "in range": the
measured gain, with its noise, meets the predicted range. Takes about three minutes on an idle machine; --quick: two rounds.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# program, or program-ranks: (ranks, options in real time, machine in virtual time, remedy that its changed form applies).
# Waits that other ranks of the core fill gain nothing from overlap: where that is the remedy, each rank has its core.
PROGRAMS = {
    "imbalance": (4, ["--workers", "2"], "core:4", "balance"),
    "imbalance-8": (8, ["--workers", "2"], "core:2", "balance"),
    "small": (2, ["--workers", "2"], "core:2", "merge"),
    "small-4": (4, ["--workers", "2"], "core:4", "merge"),
    "late": (2, ["--workers", "2"], "core:2", "overlap"),
    "early": (2, ["--workers", "2"], "core:2", "overlap"),
    "slope": (8, ["--workers", "2"], "core:2", "balance"),
    "sum": (4, ["--workers", "2"], "core:4", "overlap"),
    "exchange": (2, ["--workers", "1"], "core:3", None),
    "vector": (4, ["--workers", "2"], "core:6", None),
    "pipeline": (8, ["--workers", "1"], "core:2", None),
}


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


class Bench:
    def __init__(self, options, work):
        self.bin, self.work = Path(options.build) / "bin", Path(work)
        self.rounds, self.is_virtual = 1 if options.virtual else options.rounds, options.virtual
        self.program = self.work / "gain"
        run(self.bin / "mpicc", "-g", "-O1", ROOT / "tests/report/gain.c", "-o", self.program)

    def command(self, name):
        ranks, real, machine, _ = PROGRAMS[name]
        place = ["--virtual", machine, "--oversubscribe", "--compute", "none"] if self.is_virtual else real
        return [self.bin / "mpiexec", "-n", ranks, *place]

    def seconds(self, name, *more):
        profile = self.work / "run.xyp"
        run(*self.command(name), f"--report={profile}", self.program, name.split("-")[0], *more)
        return json.loads(run(self.bin / "xylem", "report", profile, "--json"))["run"]

    def advise(self, name):
        trace = self.work / f"{name}.xyt"
        run(*self.command(name), "--trace", trace, self.program, name.split("-")[0])
        machine = ["--machine", PROGRAMS[name][2]] if self.is_virtual else []
        return json.loads(run(self.bin / "xylem", "advise", trace, "--json", "--verify", "--rounds", self.rounds, *machine,
                              "--", *self.command(name), self.program, name.split("-")[0]))["remedies"]

    def measure_changed(self, name):
        """The gain and its noise, as 'xylem advise --verify' computes them."""
        gains = [1 - after / before for before, after in
                 ((self.seconds(name), self.seconds(name, "fixed")) for _ in range(self.rounds))]
        gain = statistics.median(gains)
        deviation = statistics.median(abs(value - gain) for value in gains)
        return gain, 1.96 * 1.2533 * 1.4826 * deviation / math.sqrt(len(gains))

    def rows(self, name):
        """Remedies that were measured: the best of those that change the program is its changed form."""
        changed = PROGRAMS[name][3]
        for remedy in self.advise(name):
            if remedy["measured"] is None and remedy["kind"] == changed:
                remedy["measured"], remedy["noise"] = self.measure_changed(name)
                changed = None
            if remedy["measured"] is not None:
                yield remedy


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build/dev")
    parser.add_argument("--virtual", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("program", nargs="*", choices=[[], *PROGRAMS])
    options = parser.parse_args()
    options.rounds = 2 if options.quick else options.rounds
    if not options.virtual:
        os.environ["GAIN_ROUNDS"] = "200"  # runs of a tenth of a second
    count = close = right = noisy = inside = 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="advise-") as work:
        bench = Bench(options, work)
        print(f"load average {os.getloadavg()[0]:.1f}\n\n| program | remedy | predicted | range | measured | noise | sign | difference | within 5 | in range |\n"
              "|---|---|---|---|---|---|---|---|---|---|")
        for name in options.program or PROGRAMS:
            for r in bench.rows(name):
                gain, measured, noise = 100 * r["gain"], 100 * r["measured"], 100 * (r["noise"] or 0)
                is_noise, is_right = noise > abs(measured), measured > 0
                is_close = abs(gain - measured) <= 5
                is_inside = 100 * r["low"] - noise <= measured <= 100 * r["high"] + noise
                count, close, inside = count + 1, close + is_close, inside + is_inside
                noisy, right = noisy + is_noise, right + (is_right and not is_noise)
                sign = "noise" if is_noise else "right" if is_right else "wrong"
                print(f"| {name} | {r['option'] or r['kind']} | {gain:.1f} % | {100 * r['low']:.0f} to {100 * r['high']:.0f} % "
                      f"| {measured:.1f} % | {noise:.1f} | {sign} | {gain - measured:+.1f} | {'yes' if is_close else 'no'} "
                      f"| {'yes' if is_inside else 'no'} |", flush=True)
    print(f"{count} remedies: the sign is right in {right}, wrong in {count - right - noisy}, lost in noise in {noisy}; "
          f"the gain is within 5 points in {close}, and in the range in {inside}; {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
