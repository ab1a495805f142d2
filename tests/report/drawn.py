#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs with a drawn cause of waiting: does the first line of the report name its rank and line?

    drawn.py BUILD SOURCE [--seed TEXT] [--count N] [--processes] [-v]

Pattern, cause, rank, phase and number of ranks are drawn. Each program runs in virtual time, and the report is read from its
profile and its trace; exit code 1 if one names another rank. --processes also runs each in two processes in real time, where
the work is a sleep; that is only counted, because other load delays ranks as well.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PATTERNS = ["ring", "halo", "line", "star", "tree", "all", "prefix", "butterfly", "grid", "pipe", "fence", "started"]
CAUSES = ["slow", "slow", "bursts", "once", "pair", "turns"]
NONE = re.compile(r"no rank alone|one after the other")


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=120, **more)
    assert done.returncode == 0, (command, done.returncode, done.stderr)
    return done


def draw(rng):
    pattern, cause, ranks = rng.choice(PATTERNS), rng.choice(CAUSES), 2 * rng.randint(2, 6)
    culprit, other = rng.sample(range(ranks), 2)
    return pattern, cause, ranks, rng.randrange(2), culprit, other, rng.choice([1, 2, 3])


def place_of(source, pattern, phase, culprit):
    marks = [f"late: {pattern} {phase} of {culprit} */", f"late: {pattern} {phase} */"]
    lines = source.read_text(encoding="utf-8").splitlines()
    for mark in marks:
        for number, line in enumerate(lines, 1):
            if mark in line:
                return f"{source.name}:{number + 1}"
    raise AssertionError(marks)


def is_named(source, case, said):
    pattern, cause, _, phase, culprit, other, _ = case
    if cause == "turns":
        return NONE.search(said) is not None
    place = place_of(source, pattern, phase, culprit)
    if cause == "pair":
        first, second = sorted((culprit, other))
        places = (place, place_of(source, pattern, phase, other))
        return f"ranks {first} and {second} compute" in said and any(line in said for line in places)
    return re.search(rf"\brank {culprit}\b", said) is not None and re.search(rf"{place}\b", said) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("--seed", default=os.environ.get("XYLEM_SEED", "xylem"))
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--processes", action="store_true")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    source, rng = options.source / "tests/report/drawn.c", random.Random(options.seed)
    ways = {"virtual": ["--virtual", "core:12", "--compute", "none"]}
    if options.processes:
        ways["two processes"] = ["--processes", "2", "--workers", "1"]
    right, wrong = dict.fromkeys((f"{way}, {form}" for way in ways for form in ("profile", "trace")), 0), 0
    with tempfile.TemporaryDirectory(prefix="drawn-") as work:
        program, profile, trace = (Path(work) / name for name in ("drawn", "run.xyp", "run.xyt"))
        run(options.build / "bin/mpicc", "-g", "-O1", source, "-o", program)
        for _ in range(options.count):
            case = draw(rng)
            pattern, cause, ranks, phase, culprit, other, factor = case
            words = [pattern, cause, phase, culprit, other, factor]
            for way, how in ways.items():
                more = {} if way == "virtual" else {"env": {**os.environ, "DRAWN_SLEEP": "0.005"}}
                run(options.build / "bin/mpiexec", "-n", ranks, *how, f"--report={profile}", "--trace", trace, program, *words, **more)
                for form, path in (("profile", profile), ("trace", trace)):
                    said = run(options.build / "bin/xylem", "report", path).stdout.splitlines()[0]
                    is_right = is_named(source, case, said)
                    right[f"{way}, {form}"] += is_right
                    wrong += not is_right and way == "virtual"
                    if options.v or (not is_right and way == "virtual"):
                        print("right" if is_right else "WRONG", f"-n {ranks}", *words, f"({way}, {form}): {said}", flush=True)
    for what, count in right.items():
        print(f"{what}: {count} of {options.count} named")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
