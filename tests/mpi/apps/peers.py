#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs in the style of applications print the same with Xylem, Open MPI and MPICH.

    tests/mpi/apps/peers.py BUILD

BUILD is a build tree. Exit code 77: neither of the other libraries is here.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
# With ranks and arguments. Small: where ranks share cores, other libraries wait for their targets to be scheduled.
# Three ranks of cg: of two or four, MPICH 4.0.2 sends in each start of a persistent allgather what was there at its init.
PROGRAMS = {"rma/bfs": ["2", "120"], "rma/halo": ["2"], "rma/steal": ["2", "60"], "rma/table": ["2", "60"],
            "rma/random": ["2", "12"], "apps/pipeline": ["5", "6", "100"], "apps/cg": ["3", "8", "2"]}
SECONDS = 200


def libraries(build):
    """name, compiler, how a program of `ranks` ranks begins"""
    yield "xylem", f"{build}/bin/mpicc", [f"{build}/bin/mpiexec", "-n"]
    if shutil.which("mpicc.openmpi") and shutil.which("mpirun.openmpi"):
        # osc/rdma of 4.1.4 crashes in MPI_Compare_and_swap.
        yield "openmpi", "mpicc.openmpi", ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca",
                                           "osc", "^rdma", "--mca", "mpi_yield_when_idle", "1", "--bind-to",
                                           "none", "-n"]
    if shutil.which("mpicc.mpich") and shutil.which("mpiexec.mpich"):
        yield "mpich", "mpicc.mpich", ["mpiexec.mpich", "-n"]


def run(command, environment):
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=SECONDS, check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main(build):
    environment = dict(os.environ, UCX_TLS="posix,sysv,self")
    found = list(libraries(build))
    with tempfile.TemporaryDirectory() as place:
        for source, (ranks, *arguments) in PROGRAMS.items():
            program = source.split("/")[1]
            said = {}
            for name, compiler, launcher in found:
                path = f"{place}/{program}-{name}"
                run([compiler, "-O2", TESTS / f"{source}.c", "-lm", "-o", path], environment)
                said[name] = run([*launcher, ranks, path, *arguments], environment)
            if len(set(said.values())) != 1 or not said["xylem"].startswith(program + ": "):
                sys.exit(f"FAILED: {program} prints {said}")
            print(said["xylem"], end="")
    return 0 if len(found) > 1 else 77


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
