# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py: MPI for Python. Debian's archive has no sources of its own for it any more; those of
ParaView have a copy, of version 3.0.3, without its tests. A tree of its repository (--source
mpi4py=DIR) has them; its MPI.c is made by Cython where it is not there yet."""
import subprocess
import sys
from pathlib import Path

SOURCE = "paraview"
PART = "VTK/ThirdParty/mpi4py/vtkmpi4py"
WHAT = "what mpi4py's tutorial shows, on 1, 2, 4 and 7 ranks; with its own tree its tests, on 1, 2 and 4"
TUTORIAL = Path(__file__).resolve().parent.parent / "mpi4py_tutorial.py"

# Tests that cannot pass, and why.
WITHOUT = (
    # Expects MPI 5.0 of a library with MPI's ABI.
    "test_mpiapi.TestMPIAPI.testSymbolCoverage",
    # Without MPI_Comm_iagree it is MPI_Iallreduce, and the ranks call MPI_Barrier in another order.
    "test_ulfm.TestULFMWorld.testIAgree",
)


def about_python(what):
    """What the interpreter that runs the examples says about itself."""
    code = f"import sysconfig; print(sysconfig.{what})"
    return subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True).stdout.strip()


def build(job):
    """Make the extension as mpi4py's own setup.py does, which needs a later setuptools than Debian's."""
    code = "MPI.c"
    if (job.tree / "src/mpi4py/MPI.pyx").exists():
        code = "mpi4py/MPI.c"
        if not (job.tree / "src" / code).exists():
            job.need(sys.executable, "conf/cythonize.py")
    # As its own setup.py finds: MPI_LB and MPI_UB have been removed from MPI.
    missing = [f"-DPyMPI_MISSING_MPI_{name}" for name in ("LB", "UB")]
    suffix = about_python("get_config_var('EXT_SUFFIX')")
    include = about_python("get_path('include')")
    job.need(job.bin / "mpicc", "-O0", "-shared", "-fPIC", *missing, "-I.", f"-I{include}",
             code, "-o", f"mpi4py/MPI{suffix}", cwd="src")
    job.env["PYTHONPATH"] = str(job.tree / "src")


def run(job):
    build(job)
    for ranks in (1, 2, 4, 7):
        job.check(f"tutorial on {ranks}", *job.ranks(ranks, sys.executable, TUTORIAL, job.tree / "data"), seconds=300,
                  prints=f"^mpi4py on {ranks} ranks: all examples agree$")
    job.env["MPI4PY_TEST_SPAWN"] = "no"  # MPI_Comm_spawn is not for joined processes (docs/dynamic.md)
    without = [word for test in WITHOUT for word in ("-x", test)]
    for ranks in (1, 2, 4):
        for file in sorted((job.tree / "test").glob("test_*.py")):
            job.check(f"{file.stem} on {ranks}",
                      *job.ranks(ranks, sys.executable, "test/main.py", "--inplace", "-v", *without,
                                 "-i", f"^{file.name}$"), seconds=600,
                      prints=r"^Ran \d+ test")
