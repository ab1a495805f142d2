# SPDX-License-Identifier: BSD-3-Clause
"""PETSc: nonlinear solvers and linear ones on distributed vectors and matrices."""
import re
import subprocess

SOURCE = "petsc"
WHAT = "its `make check`, and tutorials of the linear and nonlinear solvers on 1 to 4 ranks"


def blas(job):
    """The library itself, which also has LAPACK, under the name that its package for development
    would give it."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], text=True, capture_output=True, check=True).stdout
    found = re.search(r"libopenblas\.so\S* .*=> (\S+)", known)
    if not found:
        return "-lopenblas"
    link = job.tree / "blas/libopenblas.so"
    link.parent.mkdir()
    link.symlink_to(found.group(1))
    return str(link)


def run(job):
    job.env.update(PETSC_DIR=str(job.tree), PETSC_ARCH="xylem")
    job.need("./configure", f"--with-cc={job.bin}/mpicc", "--with-cxx=0", "--with-fc=0", "--with-x=0",
             f"--with-mpiexec={job.bin}/mpiexec", f"--with-blaslapack-lib={blas(job)}",
             "--with-debugging=0", "COPTFLAGS=-O0", f"--with-make-np={job.jobs}", "--with-ssl=0",
             "--with-hwloc=0")
    job.make("all")
    job.check("make check", "make", "check", forbids=r"(?i)^.*(possible error|error detected).*")
    job.make("ex2", "ex23", cwd="src/ksp/ksp/tutorials")
    job.make("ex19", cwd="src/snes/tutorials")
    for ranks in (1, 2, 3, 4):
        job.check(f"ksp ex2 on {ranks}", *job.ranks(ranks, "./ex2", "-m", "40", "-n", "40", "-ksp_rtol", "1e-9"),
                  cwd="src/ksp/ksp/tutorials", prints=r"^Norm of error \S*e-0?[5-9]|^Norm of error 0\.000")
        job.check(f"ksp ex23 on {ranks}", *job.ranks(ranks, "./ex23"), cwd="src/ksp/ksp/tutorials",
                  prints=r"rows=10, cols=10", forbids=r"^Norm of error.*")
        job.check(f"snes ex19 on {ranks}",
                  *job.ranks(ranks, "./ex19", "-da_refine", "2", "-pc_type", "asm"), cwd="src/snes/tutorials",
                  prints=r"^Number of SNES iterations = 2$")
