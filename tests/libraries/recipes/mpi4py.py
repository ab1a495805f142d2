# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py: MPI for Python. Debian's archive has no sources of its own for it any more; those of
ParaView have a copy, of version 3.0.3, without its tests."""
import subprocess
import sys
from pathlib import Path

SOURCE = "paraview"
PART = "VTK/ThirdParty/mpi4py/vtkmpi4py"
WHAT = "the copy of mpi4py 3.0.3 in it: what its tutorial shows, on 1, 2, 4 and 7 ranks"
TUTORIAL = Path(__file__).resolve().parent.parent / "mpi4py_tutorial.py"


def about_python(what):
    """What the interpreter that runs the examples says about itself."""
    code = f"import sysconfig; print(sysconfig.{what})"
    return subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True).stdout.strip()


def run(job):
    # As its own setup.py finds: MPI_LB and MPI_UB have been removed from MPI.
    missing = [f"-DPyMPI_MISSING_MPI_{name}" for name in ("LB", "UB")]
    suffix = about_python("get_config_var('EXT_SUFFIX')")
    include = about_python("get_path('include')")
    job.need(job.bin / "mpicc", "-O1", "-shared", "-fPIC", *missing, "-I.", f"-I{include}",
             "MPI.c", "-o", f"mpi4py/MPI{suffix}", cwd="src")
    job.env["PYTHONPATH"] = str(job.tree / "src")
    for ranks in (1, 2, 4, 7):
        job.check(f"tutorial on {ranks}", *job.ranks(ranks, sys.executable, TUTORIAL, job.tree / "data"), seconds=300,
                  prints=f"^mpi4py on {ranks} ranks: all examples agree$")
