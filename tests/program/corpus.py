#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Predict programs from their source, run them in virtual time, and count what came of it.

    tests/program/corpus.py BUILD PROGRAM.c... [--ranks N,M] [--arg WORD]... [--flag=-IDIR]... [--list]
    tests/program/corpus.py BUILD --sample FOLDER

Each program is described and predicted by `xylem predict`, and compiled and run by `mpiexec --virtual`. It is

    predicted   messages and bytes between all pairs of ranks are those of the run
    asked       the scan or the prediction says that a value is not known
    refused     the scan or the prediction says that it does not understand something
    wrong       the prediction differs from the run, in silence
    left out    the program does not compile, or does not run

The exit code is 1 if one is wrong. A comment `expect: WORD` in a program says what it must be, `arguments: A B` what it is
given, `ranks: N M` on how many it runs, `threads: T` that it is compiled with OpenMP, for teams of T threads. --sample takes a fixed sample of the programs of a folder, all with XYLEM_SOAK.
"""
import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import testing # noqa: E402

SECONDS = testing.seconds(30)
MACHINE = "node:1 core:32"
ASKED = ("not known", "--assume")


def run(command, **more):
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=SECONDS, check=False,
                              errors="replace", **more)
    except subprocess.TimeoutExpired:
        return 124, "took too long"
    return done.returncode, done.stdout + done.stderr


def read_matrix(path):
    """{(from, to): (bytes, messages)} of a CSV file."""
    with open(path, encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row and row[0].strip().isdigit()]
    return {(int(a), int(b)): (int(float(c)), int(float(d))) for a, b, c, d in rows if int(a) != int(b)}


def said(text, word, default):
    found = re.search(rf"{word}: *([^*\n]*?) *(?= [a-z]+:|\*|\n)", text)
    return found.group(1).split() if found else default


class Corpus:
    def __init__(self, build, work):
        self.bin, self.work = Path(build).resolve() / "bin", Path(work)

    def predict(self, sources, ranks, arguments, flags, assumed=(), threads=0):
        """("predicted", matrix), or what became of it and the message."""
        matrix = self.work / "predicted.csv"
        code, text = run([self.bin / "xylem", "predict", *sources, "-n", ranks, "--machine", MACHINE, "--free-kernels",
                          "--matrix", matrix, "--threads-per-rank", threads, *flags, *[f"--arg={a}" for a in arguments],
                          *[f"--assume={a}" for a in assumed]], cwd=self.work)
        if code != 0:
            return ("asked" if any(a in text for a in ASKED) else "refused"), text.strip()
        return "predicted", read_matrix(matrix)

    def execute(self, program, ranks, arguments, threads=0):
        """The matrix of the run; a text: why there is none."""
        code, text = run([self.bin / "mpiexec", "-n", ranks, "--virtual", MACHINE, "--compute", "none", "--monitor",
                          self.work / "m", program, *arguments], cwd=self.work,
                         env={**os.environ, "OMP_NUM_THREADS": str(threads or 1)})
        return read_matrix(self.work / "m" / "all.csv") if code == 0 else f"exit code {code}: {text.strip()}"

    def judge(self, sources, ranks, arguments, flags, assumed=(), threads=0):
        """What became of a program: a word, and why. The prediction is given the values `assumed`."""
        program = self.work / "p"
        code, text = run([self.bin / "mpicc", "-O1", "-w", *(["-fopenmp"] if threads else []), *flags, *sources, "-o", program, "-lm"])
        if code != 0:
            return "left out", text
        for n in ranks:
            what, found = self.predict(sources, n, arguments, flags, assumed, threads)
            if what != "predicted":
                return what, found
            real = self.execute(program, n, arguments, threads)
            if isinstance(real, str):
                return "left out", real
            if real != found:
                pairs = sorted(k for k in real.keys() | found.keys() if real.get(k) != found.get(k))
                return "wrong", f"{n} ranks, from {pairs[0][0]} to {pairs[0][1]}: (bytes, messages) " \
                                f"{real.get(pairs[0])} in the run, {found.get(pairs[0])} predicted"
        return "predicted", ""


def options(words):
    files, found = [], {"--ranks": "4", "--arg": [], "--flag": [], "--list": False}
    words = iter(words)
    for word in words:
        if word == "--list":
            found["--list"] = True
        elif word.startswith("--flag="):
            found["--flag"].append(word[len("--flag="):])
        elif word == "--arg":
            found["--arg"].append(next(words))
        elif word == "--sample":
            folder = Path(next(words)).resolve()
            files += [f for f in sorted(folder.glob("*.c")) if testing.is_chosen(f.stem, 20)]
        elif word == "--ranks":
            found["--ranks"] = next(words)
        else:
            files.append(Path(word).resolve())
    return files, found


def main():
    files, given = options(sys.argv[2:])
    counts, failed = {}, 0
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        sources = [file] if file.is_file() else sorted(file.glob("*.c"))
        ranks = said(text, "ranks", given["--ranks"].split(","))
        with tempfile.TemporaryDirectory() as work:
            what, why = Corpus(sys.argv[1], work).judge(sources, ranks, said(text, "arguments", given["--arg"]),
                                                        given["--flag"], (), int(*said(text, "threads", ["0"])))
        counts[what] = counts.get(what, 0) + 1
        expected = " ".join(said(text, "expect", []))
        is_bad = what == "wrong" or expected not in ("", what)
        failed += is_bad
        if is_bad or given["--list"]:
            first = why.splitlines()[0] if why else ""
            print(f"{what}{f', not {expected}' if is_bad and expected else ''}: {file.name}{': ' if first else ''}{first}")
    print(", ".join(f"{counts.get(w, 0)} {w}" for w in ("predicted", "asked", "refused", "wrong", "left out")))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
