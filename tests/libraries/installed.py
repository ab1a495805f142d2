#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run programs of Debian that were compiled for Open MPI, unchanged, under Xylem's mpiexec.

    tests/libraries/installed.py --mpiexec FILE [--install] [--only NAME,...]

Each program runs on 4 and 16 ranks. Output is compared with that of the same program under mpirun.openmpi as far as
the program is deterministic; the others check themselves. --install installs the packages first (apt-get). A
program that is not installed is left out; exit code 77: none is.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = ["openmpi-bin", "lammps", "hpcc", "netpipe-openmpi", "netpipe-mpich2", "ptscotch", "python3-mpi4py"]
ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
       "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C"}
LATTICE = """units lj
atom_style {style}
lattice fcc {density}
region box block 0 {size} 0 {size} 0 {size}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style {pair} 2.5
pair_coeff * * 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all {fix}
thermo 20
run 100
"""
MPI4PY = """
import sys
from array import array
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
assert comm.allgather({'rank': rank}) == [{'rank': r} for r in range(size)]
data = array('d', [rank]) * 1000
got = array('d', [0]) * 1000
comm.Sendrecv(data, (rank + 1) % size, recvbuf=got, source=(rank - 1) % size)
assert got[0] == (rank - 1) % size
total = array('d', [0])
comm.Allreduce(array('d', [rank]), total, op=MPI.SUM)
assert total[0] == size * (size - 1) / 2
op = MPI.Op.Create(lambda a, b, t: None, commute=True)
op.Free()
memory = array('i', [rank])
win = MPI.Win.Create(memory, 4, MPI.INFO_NULL, comm)
win.Fence()
other = array('i', [-1])
win.Get(other, (rank + 1) % size)
win.Fence()
assert other[0] == (rank + 1) % size
win.Free()
path = sys.argv[1]
file = MPI.File.Open(comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at_all(4 * rank, memory)
file.Sync()
file.Read_at_all(4 * ((rank + 1) % size), other)
assert other[0] == (rank + 1) % size
file.Close()
sub = comm.Split(rank % 2, rank)
assert sub.size == (size + 1 - rank % 2) // 2
print('rank', rank, 'of', size, 'is right', flush=True)
"""


class Runner:
    def __init__(self, mpiexec, folder):
        self.mpiexec, self.folder, self.failed = mpiexec, folder, []

    def run(self, launcher, ranks, *command):
        words = [self.mpiexec, "-n", str(ranks)] if launcher == "xylem" \
            else ["mpirun.openmpi", "--oversubscribe", "-n", str(ranks)]
        result = subprocess.run([*words, *map(str, command)], cwd=self.folder, env=ENV, capture_output=True, text=True,
                                timeout=600, check=False)
        if result.returncode != 0:
            print(result.stdout[-2000:], result.stderr[-2000:])
        return result.stdout if result.returncode == 0 else None

    def judge(self, name, ranks, is_right):
        print(f"{name} on {ranks} ranks: {'passed' if is_right else 'FAILED'}", flush=True)
        if not is_right:
            self.failed.append(name)


def lammps(runner, ranks):
    """The same numbers as under Open MPI, for two potentials and two integrators."""
    cases = {"lj": ("atomic", 0.8442, 8, "lj/cut", "nve"), "nvt": ("atomic", 0.8442, 8, "lj/cut", "nvt temp 1.0 1.0 0.1"),
             "soft": ("bond", 0.6, 10, "soft", "nve")}
    for name, (style, density, size, pair, fix) in cases.items():
        text = LATTICE.format(style=style, density=density, size=size, pair=pair, fix=fix)
        if pair == "soft":
            text = text.replace("1.0 1.0 2.5", "10.0")
        (runner.folder / f"in.{name}").write_text(text, encoding="ascii")
        tables = []
        for launcher in ("xylem", "openmpi"):
            output = runner.run(launcher, ranks, "lmp", "-in", f"in.{name}", "-log", "none") or ""
            table = re.search(r"^Step .*?(?=^Loop time)", output, re.M | re.S)
            tables.append(table.group() if table else None)
        runner.judge(f"lmp {name}", ranks, tables[0] is not None and tables[0] == tables[1])


def hpcc(runner, ranks):
    """All its tests of results pass, and the residuals of HPL."""
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    text = example.read_text(encoding="ascii")
    side = round(ranks ** 0.5)
    text = re.sub(r"^1000 +", "400 ", text, flags=re.M)
    text = re.sub(r"^\d+( +Ps)", rf"{side}\1", text, flags=re.M)
    text = re.sub(r"^\d+( +Qs)", rf"{ranks // side}\1", text, flags=re.M)
    (runner.folder / "hpccinf.txt").write_text(text, encoding="ascii")
    (runner.folder / "hpccoutf.txt").unlink(missing_ok=True)
    done = runner.run("xylem", ranks, "hpcc") is not None
    output = (runner.folder / "hpccoutf.txt").read_text(encoding="ascii") if done else ""
    runner.judge("hpcc", ranks, "Success=1" in output and "FAILED" not in output and "1 tests completed and passed" in output)


def netpipe(program):
    def check(runner, ranks):
        """Two ranks that check what arrives."""
        output = runner.run("xylem", 2, program, "-i", "-u", "100000", "-n", "5")
        runner.judge(program, 2, output is not None and ranks > 0)
    return check


def dgpart(runner, ranks):
    """A partition of a grid into equal parts."""
    n, lines, edges = 40, [], 0
    for i in range(n):
        for j in range(n):
            near = [a * n + b for a, b in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)) if 0 <= a < n and 0 <= b < n]
            edges += len(near)
            lines.append(" ".join(map(str, [len(near), *near])))
    (runner.folder / "grid.grf").write_text("\n".join(["0", f"{n * n} {edges}", "0 000", *lines, ""]), encoding="ascii")
    done = runner.run("xylem", ranks, "dgpart", "5", "grid.grf", "grid.map") is not None
    parts = [line.split()[1] for line in (runner.folder / "grid.map").read_text(encoding="ascii").splitlines()[1:]] if done else []
    sizes = [parts.count(str(part)) for part in range(5)]
    runner.judge("dgpart", ranks, sum(sizes) == n * n and max(sizes) < 1.1 * n * n / 5)


def mpi4py(runner, ranks):
    """Objects, buffers, windows and files from Python; each process is a rank."""
    (runner.folder / "check.py").write_text(MPI4PY, encoding="ascii")
    output = runner.run("xylem", ranks, "/usr/bin/python3", "check.py", "shared.bin") or ""
    runner.judge("mpi4py", ranks, output.count("is right") == ranks)


def has_mpi4py():
    return subprocess.run(["/usr/bin/python3", "-c", "import mpi4py"], capture_output=True, check=False).returncode == 0


PROGRAMS = {"lammps": (lammps, lambda: shutil.which("lmp") and shutil.which("mpirun.openmpi")),
            "hpcc": (hpcc, lambda: shutil.which("hpcc")),
            "netpipe": (netpipe("NPopenmpi"), lambda: shutil.which("NPopenmpi")),
            "netpipe-mpich": (netpipe("NPmpich2"), lambda: shutil.which("NPmpich2")),
            "scotch": (dgpart, lambda: shutil.which("dgpart")),
            "mpi4py": (mpi4py, has_mpi4py)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.install:
        subprocess.run(["apt-get", "install", "-y", *PACKAGES], check=True)
    chosen = [name for name in PROGRAMS if not options.only or name in options.only.split(",")]
    present = [name for name in chosen if PROGRAMS[name][1]()]
    if not present:
        print("none of the programs is installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(options.mpiexec).resolve(), Path(folder))
        for name in present:
            for ranks in (4, 16):
                PROGRAMS[name][0](runner, ranks)
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
