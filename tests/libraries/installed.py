#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run programs of Debian that were compiled for Open MPI or MPICH, unchanged, under Xylem's mpiexec.

    tests/libraries/installed.py --mpiexec FILE [--install] [--only NAME,...] [--options 'WORDS'] [--ranks N,...]

Each program runs on 4 and 16 ranks (--ranks). Output is compared with that of the same program under mpirun.openmpi as far as
the program is deterministic; the others check themselves. Libraries of Debian are tried with the programs beside this
file, in programs/, compiled by mpicc.openmpi. --install installs the packages first (apt-get; PETSc, GROMACS, OpenFOAM and
Quantum ESPRESSO take most of the 1.7 GB). --options are for Xylem's mpiexec. A program that is not installed is left out; exit
code 77: none is.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = ["openmpi-bin", "libopenmpi-dev", "lammps", "lammps-data", "hpcc", "netpipe-openmpi", "netpipe-mpich2", "ptscotch",
            "python3-mpi4py", "libscalapack-openmpi-dev", "libhdf5-openmpi-dev", "libfftw3-mpi-dev", "libmumps-dev",
            "libpetsc-real3.18-dev", "libboost-mpi-dev", "quantum-espresso", "quantum-espresso-data", "gromacs", "gfortran",
            "openfoam", "openfoam-examples", "mpb-mpi", "form", "mplrs", "mumps-test", "scalapack-mpi-test"]
SOURCES = Path(__file__).resolve().parent / "programs"
ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
       "OPENBLAS_NUM_THREADS": "1", "LC_ALL": "C", "WM_PROJECT_DIR": "/usr/share/openfoam"}
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
COPPER = """units metal
atom_style atomic
lattice fcc 3.615
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
pair_style eam
pair_coeff 1 1 /usr/share/lammps/potentials/Cu_u3.eam
velocity all create 1600.0 376847 loop geom
neighbor 1.0 bin
fix 1 all nve
timestep 0.005
thermo 20
run 60
"""
CHAIN = """units lj
atom_style bond
special_bonds fene
read_data data.chain
bond_style fene
bond_coeff 1 30.0 1.5 1.0 1.0
pair_style lj/cut 1.12
pair_modify shift yes
pair_coeff 1 1 1.0 1.0 1.12
velocity all create 1.0 8973 loop geom
fix 1 all nve
fix 2 all langevin 1.0 1.0 10.0 904297
timestep 0.004
thermo 20
run 60
"""
SALT = """units lj
atom_style charge
lattice sc 0.8
region box block 0 12 0 12 0 12
create_box 2 box
create_atoms 1 box basis 1 1
set group all type/fraction 2 0.5 3847
set type 1 charge 1.0
set type 2 charge -1.0
mass * 1.0
pair_style lj/cut/coul/long 2.5 3.0
pair_coeff * * 1.0 1.0
kspace_style pppm 1.0e-4
velocity all create 0.8 87287 loop geom
fix 1 all nve
timestep 0.001
thermo 10
run 40
"""
SILICON = """&control
 calculation='scf', pseudo_dir='/usr/share/espresso/pseudo', outdir='{out}', prefix='si', disk_io='none'
/
&system
 ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc=14.0
/
&electrons
 conv_thr=1.0d-9
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0.0 0.0 0.0
 Si 0.25 0.25 0.25
K_POINTS automatic
 2 2 2 1 1 1
"""
WATER = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
water
[ molecules ]
"""
STEPS = """integrator = md
nsteps = 40
dt = 0.001
coulombtype = PME
rcoulomb = 0.8
rvdw = 0.8
nstenergy = 10
nstlog = 10
gen_vel = yes
gen_seed = 1
constraints = none
"""
CAVITY = Path("/usr/share/doc/openfoam-examples/examples/incompressible/icoFoam/cavity/cavity")
PARTS = """FoamFile {{ version 2.0; format ascii; class dictionary; object decomposeParDict; }}
numberOfSubdomains {ranks};
method simple;
simpleCoeffs {{ n ({side} {side} 1); delta 0.001; }}
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


POOL = """
import sys
from mpi4py import MPI
from mpi4py.futures import MPIPoolExecutor, MPICommExecutor
def square(x):
    return x * x
if __name__ == '__main__':
    if sys.argv[1] == 'world':
        with MPICommExecutor(MPI.COMM_WORLD, root=0) as pool:
            if pool is not None:
                print(sum(pool.map(square, range(100))), flush=True)
    else:
        with MPIPoolExecutor(max_workers=int(sys.argv[1])) as pool:
            print(sum(pool.map(square, range(100))), flush=True)
"""
BANDS = """(set! resolution 8)
(set! num-bands 3)
(set! geometry-lattice (make lattice (size 1 1 no-size)))
(set! geometry (list (make cylinder (center 0 0 0) (radius 0.2) (height infinity)
                       (material (make dielectric (epsilon 12))))))
(set! k-points (interpolate 3 (list (vector3 0.1 0 0) (vector3 0.5 0.3 0))))
(run-tm)
"""
FORM = """Symbols a,b,c,d;
Local F = (a+b+c+d)^16;
.sort
id a = b - c;
.sort
id b = 1; id c = 2; id d = 3;
print;
.end
"""
CUBE = """cube
H-representation
begin
10 6 integer
""" + "".join(f"1 {' '.join(str(sign * (i == j)) for j in range(5))}\n" for sign in (1, -1) for i in range(5)) + "end\n"


class Runner:
    def __init__(self, mpiexec, options, folder):
        self.mpiexec, self.options, self.folder, self.failed = mpiexec, options, folder, []

    def run(self, launcher, ranks, *command, text=None, options=()):
        words = [self.mpiexec, "-n", str(ranks), *self.options, *options] if launcher == "xylem" \
            else ["mpirun.openmpi", "--oversubscribe", "-n", str(ranks)]
        result = subprocess.run([*words, *map(str, command)], cwd=self.folder, env=ENV, capture_output=True, text=True, input=text,
                                timeout=600, check=False)
        if result.returncode != 0:
            print(result.stdout[-2000:], result.stderr[-2000:])
        return result.stdout if result.returncode == 0 else None

    def prepare(self, *command, text=None):
        """Run a command that makes an input or a program."""
        subprocess.run(list(map(str, command)), cwd=self.folder, env=ENV, input=text, capture_output=True, text=True, check=True)

    def compare(self, name, ranks, command, pattern):
        """What the pattern finds in the output is the same under both MPIs."""
        found = [re.findall(pattern, self.run(launcher, ranks, *command) or "", re.M | re.S) for launcher in ("xylem", "openmpi")]
        self.judge(name, ranks, bool(found[0]) and found[0] == found[1])
        if found[0] != found[1]:
            print(*found, sep="\n")

    def judge(self, name, ranks, is_right):
        print(f"{name} on {ranks} ranks: {'passed' if is_right else 'FAILED'}", flush=True)
        if not is_right:
            self.failed.append(name)


def chain_data():
    """Chains of 20 beads in rows along x."""
    beads, side, step, gap = 20, 12, 0.97, 1.1
    lines = ["chains", "", f"{beads * side * side} atoms", f"{(beads - 1) * side * side} bonds", "1 atom types", "1 bond types", "",
             f"0 {beads * step + 0.2} xlo xhi", f"0 {side * gap} ylo yhi", f"0 {side * gap} zlo zhi", "", "Masses", "", "1 1.0", "",
             "Atoms", ""]
    for i in range(beads * side * side):
        row, at = divmod(i, beads)
        lines.append(f"{i + 1} {row + 1} 1 {0.1 + at * step:.4f} {row % side * gap + 0.5:.4f} {row // side * gap + 0.5:.4f}")
    bonds = [i for i in range(1, beads * side * side + 1) if i % beads != 0]
    lines += ["", "Bonds", ""] + [f"{n} 1 {i} {i + 1}" for n, i in enumerate(bonds, 1)] + [""]
    return "\n".join(lines)


def lammps(runner, ranks):
    """The same numbers as under Open MPI: several potentials and integrators, bonds, long-range forces with FFTs."""
    cases = {"lj": ("atomic", 0.8442, 8, "lj/cut", "nve"), "nvt": ("atomic", 0.8442, 8, "lj/cut", "nvt temp 1.0 1.0 0.1"),
             "soft": ("bond", 0.6, 10, "soft", "nve")}
    texts = {"eam": COPPER, "chain": CHAIN, "salt": SALT}
    for name, (style, density, size, pair, fix) in cases.items():
        texts[name] = LATTICE.format(style=style, density=density, size=size, pair=pair, fix=fix)
        if pair == "soft":
            texts[name] = texts[name].replace("1.0 1.0 2.5", "10.0")
    (runner.folder / "data.chain").write_text(chain_data(), encoding="ascii")
    for name, text in texts.items():
        (runner.folder / f"in.{name}").write_text(text, encoding="ascii")
        runner.compare(f"lmp {name}", ranks, ("lmp", "-in", f"in.{name}", "-log", "none"), r"^ *Step .*?(?=^Loop time)")


def compiled(name, compiler, *words):
    """A program of ours on a library of Debian: the same output under both MPIs."""
    def check(runner, ranks):
        runner.compare(name, ranks, (build(runner, name, compiler, *words), f"{name}.data"), r".+")
    return check


def build(runner, name, compiler, *words):
    program = runner.folder / f"on_{name}"
    if not program.exists():
        runner.prepare(compiler, "-O", "-I/usr/include", next(SOURCES.glob(f"{name}.*")), "-o", program, *words)
    return program


def flags(package):
    if not shutil.which("pkg-config"):
        return []
    done = subprocess.run(["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True, check=False)
    return done.stdout.split()


def pw(runner, ranks):
    """Quantum ESPRESSO: silicon; the energy and the number of iterations are the same."""
    (runner.folder / "si.in").write_text(SILICON.format(out=runner.folder), encoding="ascii")
    runner.compare("pw.x", ranks, ("pw.x", "-in", "si.in"), r"^! .*?Ry|convergence has been achieved in +\d+")


def openfoam(runner, ranks):
    """OpenFOAM: the flow in a cavity, from its tutorial; residuals and iterations of all steps are the same, sums of rounding
    errors are not."""
    case = runner.folder / f"cavity{ranks}"
    shutil.copytree(CAVITY, case)
    control = case / "system/controlDict"
    control.write_text(re.sub(r"(endTime +)0.5;", r"\g<1>0.1;", control.read_text(encoding="ascii")), encoding="ascii")
    (case / "system/decomposeParDict").write_text(PARTS.format(ranks=ranks, side=round(ranks ** 0.5)), encoding="ascii")
    for command in ("blockMesh", "decomposePar"):
        runner.prepare(command, "-case", case)
    runner.compare("icoFoam", ranks, ("icoFoam", "-parallel", "-case", case),
                   r"^(?:Time =|Courant|smoothSolver|DICPCG).*?$|sum local = [^,]+")


def energies(log):
    """The potential energy of each step, to four digits; columns are 15 characters wide."""
    found = []
    for names, values in re.findall(r"^(.* Potential .*)\n(.*)$", log, re.M):
        at = names.index("Potential") // 15 * 15
        found += [f"{float(values[at:at + 15]):.3e}"] if re.fullmatch(r"[-+.e\d ]+", values) else []
    return found


def water(runner):
    """The input of GROMACS."""
    if not (runner.folder / "water.tpr").exists():
        (runner.folder / "water.top").write_text(WATER, encoding="ascii")
        (runner.folder / "water.mdp").write_text(STEPS, encoding="ascii")
        runner.prepare("gmx", "solvate", "-cs", "spc216.gro", "-box", "2.6", "2.6", "2.6", "-p", "water.top", "-o", "water.gro")
        runner.prepare("gmx", "grompp", "-f", "water.mdp", "-c", "water.gro", "-p", "water.top", "-o", "water.tpr", "-maxwarn", "9")
    return "water.tpr"


def gromacs(runner, ranks):
    """GROMACS: water with PME; the energies of all steps agree to four digits."""
    tables = []
    for launcher in ("xylem", "openmpi"):
        log = runner.folder / f"{launcher}.log"
        log.unlink(missing_ok=True)
        runner.run(launcher, ranks, "gmx_mpi", "mdrun", "-s", water(runner), "-g", log.name, "-ntomp", "1", "-reprod", "-dlb", "no",
                   "-notunepme", "-npme", "0", "-e", "out.edr", "-o", "out.trr", "-c", "out.gro", "-cpo", "out.cpt")
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        tables.append(energies(text))
    runner.judge("gmx_mpi", ranks, len(tables[0]) >= 5 and tables[0] == tables[1])


def hpcc_input(runner, ranks):
    """The input of hpcc: its example with small matrices on a grid of the ranks."""
    text = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text(encoding="ascii")
    side = next(p for p in range(round(ranks ** 0.5), 0, -1) if ranks % p == 0)
    text = re.sub(r"^1000 +", "400 ", text, flags=re.M)
    text = re.sub(r"^\d+( +Ps)", rf"{side}\1", text, flags=re.M)
    text = re.sub(r"^\d+( +Qs)", rf"{ranks // side}\1", text, flags=re.M)
    (runner.folder / "hpccinf.txt").write_text(text, encoding="ascii")
    (runner.folder / "hpccoutf.txt").unlink(missing_ok=True)


def hpcc(runner, ranks):
    """All its tests of results pass, and the residuals of HPL.

    MPIRandomAccess on more than four ranks has several receives from any rank, and ends with the last message that says
    so: it relies on the order in which MPI_Waitany gives them."""
    hpcc_input(runner, ranks)
    done = runner.run("xylem", ranks, "hpcc") is not None
    output = (runner.folder / "hpccoutf.txt").read_text(encoding="ascii") if done else ""
    lost = [int(n) / int(of) for n, of in re.findall(r"Found (\d+) errors in (\d+) locations", output)]
    residuals = re.findall(r"(\d+) tests completed and (passed|failed) residual checks", output)
    runner.judge("hpcc", ranks, len(lost) == 4 and max(lost) == 0 and "FAILED" not in output and "Success=1" in output
                 and [int(n) > 0 for n, _ in residuals] == 2 * [True, False] and "End of HPC Challenge tests." in output)


def netpipe(program):
    def check(runner, ranks):
        """Two ranks that check what arrives."""
        output = runner.run("xylem", 2, program, "-i", "-u", "100000", "-n", "5")
        runner.judge(program, 2, output is not None and ranks > 0)
    return check


def grid(n):
    """A graph of n x n vertices in the format of Scotch."""
    lines, edges = [], 0
    for i in range(n):
        for j in range(n):
            near = [a * n + b for a, b in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)) if 0 <= a < n and 0 <= b < n]
            edges += len(near)
            lines.append(" ".join(map(str, [len(near), *near])))
    return "\n".join(["0", f"{n * n} {edges}", "0 000", *lines, ""])


def dgpart(runner, ranks):
    """A partition of a grid into equal parts."""
    n = 40
    (runner.folder / "grid.grf").write_text(grid(n), encoding="ascii")
    done = runner.run("xylem", ranks, "dgpart", "5", "grid.grf", "grid.map") is not None
    parts = [line.split()[1] for line in (runner.folder / "grid.map").read_text(encoding="ascii").splitlines()[1:]] if done else []
    sizes = [parts.count(str(part)) for part in range(5)]
    runner.judge("dgpart", ranks, sum(sizes) == n * n and max(sizes) < 1.1 * n * n / 5)


def dgord(runner, ranks):
    """An ordering of a grid: each vertex once."""
    side = 30
    (runner.folder / "grid.grf").write_text(grid(side), encoding="ascii")
    done = runner.run("xylem", ranks, "dgord", "grid.grf", "grid.ord") is not None
    lines = (runner.folder / "grid.ord").read_text(encoding="ascii").splitlines()[1:] if done else []
    runner.judge("dgord", ranks, sorted(int(line.split()[1]) for line in lines) == list(range(side * side)))


def mpi4py(runner, ranks):
    """Objects, buffers, windows and files from Python; each process is a rank."""
    (runner.folder / "check.py").write_text(MPI4PY, encoding="ascii")
    output = runner.run("xylem", ranks, "/usr/bin/python3", "check.py", "shared.bin") or ""
    runner.judge("mpi4py", ranks, output.count("is right") == ranks)


def pool(runner, ranks):
    """Executors of mpi4py: on the ranks of the job, on those behind `-m mpi4py.futures`, and on new ones."""
    (runner.folder / "pool.py").write_text(POOL, encoding="ascii")
    python = "/usr/bin/python3"
    for name, first, command in (("world", ranks, (python, "pool.py", "world")),
                                 ("futures", ranks, (python, "-m", "mpi4py.futures", "pool.py", "3")),
                                 ("spawned", 1, (python, "pool.py", str(ranks - 1)))):
        output = runner.run("xylem", first, *command, options=["--usize", str(ranks)] if first == 1 else [])
        runner.judge(f"mpi4py pool, {name},", ranks, output == "328350\n")


def bands(runner, ranks):
    """mpb-mpi, a program in Scheme with a garbage collector: the frequencies are the same."""
    (runner.folder / "bands.ctl").write_text(BANDS, encoding="ascii")
    runner.compare("mpb-mpi", ranks, ("mpb-mpi", "bands.ctl"), r"^tmfreqs:, \d[^\n]*")


def parform(runner, ranks):
    """Formulas: the sum of all coefficients."""
    (runner.folder / "sum.frm").write_text(FORM, encoding="ascii")
    runner.compare("parform", ranks, ("parform", "sum.frm"), r"F =\s+(\d+);")


def vertices(runner, ranks):
    """The corners of a cube of five dimensions, in any order."""
    (runner.folder / "cube.ine").write_text(CUBE, encoding="ascii")
    output = runner.run("xylem", ranks, "mplrs", "cube.ine") or ""
    runner.judge("mplrs", ranks, len(set(re.findall(r"^ 1 +([-01 ]+)$", output, re.M))) == 32)


def mumps_test(runner, ranks):
    """The Fortran example of MUMPS, which reads a system of equations: the solution is 1, 2, 3, 4, 5."""
    text = Path("/usr/lib/mumps/input_simpletest_real").read_text(encoding="ascii")
    output = runner.run("xylem", ranks, "/usr/lib/mumps/dsimpletest", text=text) or ""
    numbers = re.findall(r"Solution is +([-+.eEdD\d ]+)", output)
    runner.judge("dsimpletest", ranks, bool(numbers) and [round(float(x), 12) for x in numbers[0].split()] == [1, 2, 3, 4, 5])


SCALAPACK = sorted(Path("/usr/lib").glob("*/scalapack/*-tests"))


def scalapack_tests(runner, ranks):
    """Two of ScaLAPACK's own tests, which judge themselves: LU and QR, compiled for Open MPI and for MPICH."""
    for folder in SCALAPACK:
        for data in folder.glob("*.dat"):
            shutil.copy(data, runner.folder)
        for name in ("xdlu", "xdqr"):
            output = runner.run("xylem", ranks, folder / name) or ""
            counts = re.findall(r"(\d+) tests completed and (passed|failed)", output)
            runner.judge(f"{name} ({folder.name})", ranks,
                         bool(counts) and int(counts[0][0]) > 0 and all(n == "0" for n, what in counts if what == "failed"))


def has_mpi4py():
    return subprocess.run(["/usr/bin/python3", "-c", "import mpi4py"], capture_output=True, check=False).returncode == 0


def has_header(name):
    """A header of a library's package, and the compilers for Open MPI."""
    def check():
        return shutil.which("mpicc.openmpi") and (any(Path("/usr/include").glob(name)) or any(Path("/usr/include").glob(f"*/{name}")))
    return check


PROGRAMS = {"lammps": (lammps, lambda: shutil.which("lmp") and shutil.which("mpirun.openmpi")),
            "hpcc": (hpcc, lambda: shutil.which("hpcc")),
            "netpipe": (netpipe("NPopenmpi"), lambda: shutil.which("NPopenmpi")),
            "netpipe-mpich": (netpipe("NPmpich2"), lambda: shutil.which("NPmpich2")),
            "scotch": (dgpart, lambda: shutil.which("dgpart")),
            "scotch-order": (dgord, lambda: shutil.which("dgord")),
            "mpi4py": (mpi4py, has_mpi4py),
            "mpi4py-pool": (pool, has_mpi4py),
            "mpb": (bands, lambda: shutil.which("mpb-mpi") and shutil.which("mpirun.openmpi")),
            "form": (parform, lambda: shutil.which("parform") and shutil.which("mpirun.openmpi")),
            "mplrs": (vertices, lambda: shutil.which("mplrs")),
            "mumps-test": (mumps_test, lambda: Path("/usr/lib/mumps/dsimpletest").exists()),
            "scalapack-test": (scalapack_tests, lambda: SCALAPACK),
            "scalapack": (compiled("scalapack", "mpicc.openmpi", "-lscalapack-openmpi", "-lm"), lambda: flags("scalapack-openmpi")),
            "hdf5": (compiled("hdf5", "mpicc.openmpi", *flags("hdf5-openmpi")), lambda: flags("hdf5-openmpi")),
            "fftw": (compiled("fftw", "mpicc.openmpi", "-lfftw3_mpi", "-lfftw3", "-lm"), has_header("fftw3-mpi.h")),
            "mumps": (compiled("mumps", "mpif90.openmpi", "-ldmumps", "-lmumps_common"), has_header("dmumps_struc.h")),
            "petsc": (compiled("petsc", "mpicc.openmpi", *flags("petsc")), lambda: flags("petsc")),
            "boost": (compiled("boost", "mpicxx.openmpi", "-lboost_mpi", "-lboost_serialization"), has_header("boost/mpi.hpp")),
            "espresso": (pw, lambda: shutil.which("pw.x") and shutil.which("mpirun.openmpi")),
            "openfoam": (openfoam, lambda: shutil.which("icoFoam") and CAVITY.exists() and shutil.which("mpirun.openmpi")),
            "gromacs": (gromacs, lambda: shutil.which("gmx_mpi") and shutil.which("mpirun.openmpi"))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--options", default="")
    parser.add_argument("--ranks", default="4,16")
    options = parser.parse_args()
    if options.install:
        subprocess.run(["apt-get", "install", "-y", *PACKAGES], check=True)
    chosen = [name for name in PROGRAMS if not options.only or name in options.only.split(",")]
    present = [name for name in chosen if PROGRAMS[name][1]()]
    if not present:
        print("none of the programs is installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(options.mpiexec).resolve(), options.options.split(), Path(folder))
        for name in present:
            for ranks in map(int, options.ranks.split(",")):
                PROGRAMS[name][0](runner, ranks)
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
