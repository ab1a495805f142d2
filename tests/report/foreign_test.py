#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""xylem monitor OUT.xyp: a profile of a program under Open MPI and MPICH, where they are installed.

    foreign_test.py BUILD SOURCE

What is checked does not depend on time: calls, bytes, lines, and that times add up.
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD, SOURCE = Path(sys.argv[1]), Path(sys.argv[2])
PROGRAM = SOURCE / "tests/report/foreign.c"
RANKS, ROUNDS, BYTES = 3, 10, 1000
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe"], "mpich": ["mpiexec.mpich"]}
PARTS = ["late_sender", "late_receiver", "collective", "lock", "core", "transfer", "library"]


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=120,
                          env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                               "OMPI_MCA_btl_vader_single_copy_mechanism": "none"})
    assert done.returncode == 0, (command, done.returncode, done.stdout, done.stderr)
    return done


def places(mark):
    """The lines of the statement that has this comment at its end."""
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    end = next(i for i, line in enumerate(lines) if f"/* {mark} */" in line)
    first = end
    while re.match(r"\s*MPI_\w+\(", lines[first]) is None:
        first -= 1
    return {f"foreign.c:{number + 1}" for number in range(first, end + 1)}


def check_calls(rows):
    """By rank, function and line: so many calls of so many bytes."""
    found = {}
    for row in rows:
        key = (int(row["rank"]), row["function"])
        calls, size = found.get(key, (0, 0))
        found[key] = (calls + int(row["calls"]), size + int(row["bytes"]))
    expected = {}
    for rank in range(RANKS):
        expected[rank, "MPI_Allreduce"] = (ROUNDS, 8 * ROUNDS)
        expected[rank, "MPI_Send"] = (1, 1)
        expected[rank, "MPI_Irecv"] = (1, 0)
        expected[rank, "MPI_Wait"] = (1, 0)
    expected[0, "MPI_Recv"] = (ROUNDS, BYTES * ROUNDS)
    expected[RANKS - 1, "MPI_Send"] = (ROUNDS + 1, BYTES * ROUNDS + 1)
    assert found == expected, (found, expected)
    for function, mark in (("MPI_Recv", "receive"), ("MPI_Allreduce", "together"), ("MPI_Wait", "wait")):
        lines = {row["place"] for row in rows if row["function"] == function}
        assert len(lines) == 1 and lines <= places(mark), (function, lines, places(mark))


def check(mpi, work):
    program, profile = Path(work) / f"foreign_{mpi}", Path(work) / f"{mpi}.xyp"
    run(f"mpicc.{mpi}", "-g", "-O1", PROGRAM, "-o", program)
    done = run(BUILD / "bin/xylem", "monitor", profile, "--mpi", mpi, "--", *LAUNCHERS[mpi], "-n", RANKS, program)
    assert "waiting" in done.stderr and done.stdout == "", done
    check_calls(list(csv.DictReader(io.StringIO(run(BUILD / "bin/xylem", "report", profile, "--csv").stdout))))
    found = json.loads(run(BUILD / "bin/xylem", "report", profile, "--json").stdout)
    assert found["ranks"] == RANKS and len(found["by_rank"]) == RANKS, found
    for rank in found["by_rank"]:
        total = rank["computation"] + sum(rank[part] for part in PARTS)
        assert abs(total - rank["run"]) < 1e-6, (rank, total)
        assert rank["computation"] > 0, rank
    assert found["collective"] > 0 and found["library"] > 0, found


def main():
    tried = 0
    with tempfile.TemporaryDirectory() as work:
        for mpi, launcher in LAUNCHERS.items():
            if shutil.which(launcher[0]) is None or not (BUILD / f"lib/xylem/libxylem-monitor-{mpi}.so").exists():
                print(f"{launcher[0]} is not installed: not tried")
                continue
            check(mpi, work)
            tried += 1
    sys.exit(0 if tried > 0 else 77)


main()
