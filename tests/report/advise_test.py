#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""xylem advise: what it predicts for programs is what changed programs and options give, in virtual time.

    advise_test.py BUILD SOURCE
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD, SOURCE = Path(sys.argv[1]), Path(sys.argv[2])

# program: (ranks, cores, kind of the best remedy, word in what it says)
BEST = {
    "imbalance": (4, 4, "balance", "MPI_Allreduce at gain.c:"),
    "small": (2, 2, "merge", "MPI_Send at gain.c:"),
    "late": (4, 4, "overlap", "MPI_Irecv"),
    "early": (4, 4, "eager", "eager limit"),
    "slope": (8, 2, "balance", "MPI_Barrier at gain.c:"),
    "sum": (4, 4, "overlap", "MPI_Iallreduce"),
    "exchange": (2, 3, "comm-cores", "communication"),
}


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == code, (command, done.returncode, done.stdout, done.stderr)
    return done


class Advise:
    def __init__(self, work):
        self.work, self.program = Path(work), Path(work) / "gain"
        run(BUILD / "bin/mpicc", "-g", "-O1", SOURCE / "tests/report/gain.c", "-o", self.program)

    def command(self, ranks, cores):
        return [BUILD / "bin/mpiexec", "-n", ranks, "--virtual", f"core:{cores}", "--oversubscribe", "--compute", "none"]

    def record(self, name, ranks, cores):
        trace = self.work / f"{name}.xyt"
        run(*self.command(ranks, cores), "--trace", trace, self.program, name)
        return trace

    def seconds(self, name, ranks, cores, *more):
        profile = self.work / "run.xyp"
        run(*self.command(ranks, cores), f"--report={profile}", self.program, name, *more)
        return json.loads(run(BUILD / "bin/xylem", "report", profile, "--json").stdout)["run"]

    def advise(self, *arguments, code=0):
        return run(BUILD / "bin/xylem", "advise", *arguments, code=code)


def check_best(advise, name):
    ranks, cores, kind, word = BEST[name]
    trace = advise.record(name, ranks, cores)
    found = json.loads(advise.advise(trace, "--json", "--machine", f"core:{cores}", "--verify", "--rounds", 1, "--",
                                     *advise.command(ranks, cores), advise.program, name).stdout)
    best = found["remedies"][0]
    assert best["kind"] == kind and word in best["change"], (name, best)
    assert abs(found["replayed"] - found["run"]) < 0.02 * found["run"], (name, found)
    gains = [remedy["gain"] for remedy in found["remedies"]]
    assert gains == sorted(gains, reverse=True) and gains[-1] >= 0.01, (name, gains)
    assert all(remedy["low"] <= remedy["gain"] <= remedy["high"] for remedy in found["remedies"]), found["remedies"]
    if best["measured"] is None:
        changed = advise.seconds(name, ranks, cores, "fixed")
        best["measured"] = 1 - changed / advise.seconds(name, ranks, cores)
    for remedy in found["remedies"]:
        if remedy["measured"] is not None:
            assert abs(remedy["measured"] - remedy["gain"]) < 0.03, (name, remedy)


def check_nothing(advise):
    """What is as it should be gets no advice."""
    program = advise.program
    run(BUILD / "bin/mpicc", "-g", "-O1", SOURCE / "tests/report/planted.c", "-o", advise.work / "planted")
    advise.program = advise.work / "planted"
    trace = advise.record("balanced", 4, 4)
    advise.program = program
    # The part between the calls of MPI_Pcontrol is uneven: the trace has it.
    assert "balance" in advise.advise(trace, "--json").stdout
    trace = advise.work / "fixed.xyt"
    run(*advise.command(4, 4), "--trace", trace, program, "imbalance", "fixed")
    said = advise.advise(trace).stdout.splitlines()
    assert said[0] == "nothing would help by more than 2 %", said


def check_mistakes(advise):
    trace = advise.work / "early.xyt"
    for arguments, code in (((trace, "--verify"), 2), ((trace, "more"), 2), ((advise.program,), 1), ((advise.work / "no",), 1),
                            ((SOURCE / "examples/heat.xyt",), 1), ((trace, "--machine", "core:x"), 1),
                            ((trace, "--verify", "--", "false", "x"), 1)):
        done = advise.advise(*arguments, code=code)
        assert len(done.stderr.splitlines()) == 1 and not done.stdout, (arguments, done.stderr)


def main():
    with tempfile.TemporaryDirectory(prefix="advise-") as work:
        advise = Advise(work)
        for name in BEST:
            check_best(advise, name)
        check_nothing(advise)
        check_mistakes(advise)
    print("advise: ok")


if __name__ == "__main__":
    main()
