#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that a prediction is what a real run in virtual time takes, to the last bit.

    same.py XYLEM MPICC MPIEXEC COSTS PROGRAM.c...

Each program is described from its source and predicted, and compiled and run by `mpiexec
--virtual`. Time, messages and bytes, of the job and of each process, must be equal as text, and so
must the matrices of who sends how much to whom. Each program takes two of the cases; all of them with XYLEM_SOAK.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import testing # noqa: E402

# Processes, machine, further options of both commands; those of one node of cores are by the models of
# cores.xml, beside COSTS.
CASES = [
    (1, "haswell32", []),
    (2, "haswell8x32", []),
    (7, "haswell32", ["--progress", "none"]),
    (16, "haswell8x32", ["--place", "round-robin"]),
    (14, "haswell8x32", ["--comm-cores", "3"]),
    (12, "haswell8x32", ["--library", "openmpi"]),
    (9, "fattree1024", ["--library", "mpich", "--progress", "threads"]),
    (10, "core:2", ["--oversubscribe"]),
    (5, "core:8", ["--library", "mpich"]),
]
# What programs need more of: arguments; the least number of processes.
ARGUMENTS = {
    "sendrecv": ["3"],
    "parameter": ["130"],
    "options": ["-n5000", "extra", "-b", "-r", "3"],
    "strings": ["bcast", "all77", "other", "all1000"],
}
EVEN = {"clock"}
ALONE = {"clock"} # how often they send depends on when others have the core
# What they do depends on where processes are, or on how they make progress.
ALL_CASES = {"cart_reorder", "nonblocking", "one_buffer"}
COMPARED = ["time", "messages", "bytes", "point_to_point_messages", "point_to_point_bytes",
            "collectives"]
OF_PROCESS = ["end", "compute", "communication", "idle", "messages", "bytes"]


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=testing.seconds(100), check=False, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def few_cases(number):
    """Two cases of a program, others for the next one."""
    return [CASES[(number + step) % len(CASES)] for step in (0, 2 if number % 2 else 5)]


def entries(path):
    """{(from, to): (bytes, messages)} of a matrix as CSV."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.replace(" ", "").split(",")
        if len(words) < 3 or not words[0].isdigit():
            continue
        found[int(words[0]), int(words[1])] = tuple(float(w) for w in words[2:])
    return found


def differences(predicted, real):
    for key in COMPARED:
        if repr(predicted[key]) != repr(real[key]):
            yield f"{key}: predicted {predicted[key]!r}, in virtual time {real[key]!r}"
    for rank, (mine, other) in enumerate(zip(predicted["processes"], real["processes"])):
        for key in OF_PROCESS:
            if repr(mine[key]) != repr(other[key]):
                yield f"process {rank}, {key}: predicted {mine[key]!r}, not {other[key]!r}"
                return


def compare(tools, source, binary, case, work):
    xylem, mpiexec, costs = tools
    procs, machine, options = case
    if machine.startswith("core:"):
        costs = str(pathlib.Path(costs).with_name("cores.xml"))
    arguments = ARGUMENTS.get(source.stem, [])
    report, csv, monitored = work / "real.json", work / "predicted.csv", work / "real"
    predicted = json.loads(run(
        [xylem, "predict", str(source), "-n", str(procs), "-m", machine, *options, "--json",
         "--costs", costs, "--matrix", str(csv), *(f"--arg={a}" for a in arguments)]))
    run([mpiexec, "--virtual", machine, "-n", str(procs), *options, "--compute", "model", "--costs",
         costs, "--json", str(report), "--monitor", str(monitored), str(binary), *arguments])
    yield from differences(predicted, json.loads(report.read_text(encoding="utf-8")))
    if entries(csv) != entries(monitored / "all.csv"):
        yield "the matrices differ"


def main():
    xylem, mpicc, mpiexec, costs, *sources = sys.argv[1:]
    failed = checked = 0
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        library = pathlib.Path(__file__).with_name("dgemm.c")
        run([mpicc, "-shared", "-fPIC", str(library), "-o", str(work / "libdgemm.so")])
        for number, source in enumerate(map(pathlib.Path, sources)):
            binary = work / source.stem
            run([mpicc, "-O1", "-w", str(source), "-o", str(binary), "-lm",
                 f"-L{work}", "-Wl,--as-needed", "-ldgemm", f"-Wl,-rpath,{work}"])
            every = testing.SOAK or source.stem in ALL_CASES
            for case in CASES if every else few_cases(number):
                if source.stem in EVEN and case[0] % 2 or (
                        source.stem in ALONE and "--oversubscribe" in case[2]):
                    continue
                checked += 1
                try:
                    problems = list(compare((xylem, mpiexec, costs), source, binary, case, work))
                except RuntimeError as error:
                    problems = [str(error)]
                for problem in problems:
                    failed += 1
                    print(f"{source.stem} on {case[0]} of {case[1]} {' '.join(case[2])}: {problem}")
    print(f"{checked} runs, {failed} differences")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
