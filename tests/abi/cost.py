#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a call costs in a program that is compiled for another MPI.

  cost.py BUILD

runs cost.c under callgrind, compiled for Xylem and for each ABI. In C and in Fortran a call may take MOST instructions more
than Xylem's own (75 to 100 of them took 13 to 14 ns on a Xeon of 2023, and 15 are allowed), and the translation
allocates nothing; only lists of more than 48 elements have memory of their own. Exit code 77: there is no valgrind.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 110
LARGE = "waitall of 49"
TURNS = 50
SOURCE = pathlib.Path(__file__).with_name("cost.c")
LIBRARIES = {"openmpi": "openmpi/libmpi.so.40", "mpich": "mpich/libmpich.so.12"}


def compile_for(abi, build, program):
    command = [build / "bin/mpicc"] if abi == "xylem" else ["cc", f"-I{build}/tests/abi/{abi}"]
    libraries = [] if abi == "xylem" else [build / "lib/xylem" / LIBRARIES[abi], "-Wl,--allow-shlib-undefined"]
    subprocess.run([*command, "-O1", "-w", SOURCE, "-o", program, *libraries], check=True)


def profiles(folder):
    """{name of the loop: instructions}; the run with fewest counts, as a thread of the runtime may wake up in another."""
    found = {}
    for path in folder.glob("profile.*"):
        text = path.read_text(encoding="utf-8", errors="replace")
        name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
        if name:
            instructions = int(re.search(r"^(?:totals|summary): (\d+)", text, re.M)[1])
            found[name[1]] = min(instructions, found.get(name[1], instructions))
    return found


def measure(abi, build, folder):
    """{name of the loop: (instructions of a call, allocations)}"""
    folder.mkdir()
    compile_for(abi, build, folder / "program")
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/profile", build / "bin/mpiexec",
                           "--workers", "1", "-n", "2", folder / "program"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"for {abi}: exit code {done.returncode}: {done.stdout}{done.stderr}")
    numbers = {name: (int(calls), int(made)) for name, calls, made in re.findall(r"^(.*): (\d+) (\d+)$", done.stdout, re.M)}
    found = profiles(folder)
    if not numbers or set(numbers) != set(found):
        sys.exit(f"for {abi}: loops {sorted(numbers)}, profiles of {sorted(found)}")
    return {name: (found[name] / calls, made) for name, (calls, made) in numbers.items()}


def main(arguments):
    if len(arguments) != 1:
        sys.exit("usage: cost.py BUILD")
    if not shutil.which("valgrind") or not pathlib.Path("/usr/include/valgrind/callgrind.h").exists():
        print("left out: valgrind is not installed")
        return 77
    build, wrong = pathlib.Path(arguments[0]), 0
    with tempfile.TemporaryDirectory() as folder:
        measured = {abi: measure(abi, build, pathlib.Path(folder, abi)) for abi in ("xylem", *LIBRARIES)}
    for name, (own, _) in measured["xylem"].items():
        row = f"{name:28}{own:9.1f}"
        for abi in LIBRARIES:
            instructions, allocations = measured[abi][name]
            is_wrong = allocations < TURNS if LARGE in name else instructions - own > MOST or allocations > 0
            row += f"  {abi} {instructions - own:+7.1f}, {allocations} allocations{' WRONG' if is_wrong else ''}"
            wrong += is_wrong
        print(row, flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
