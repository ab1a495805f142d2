# SPDX-License-Identifier: BSD-3-Clause
"""PnetCDF: arrays in netCDF files, written and read by several ranks through MPI-IO."""
SOURCE = "pnetcdf"
WHAT = "its `make check` on one rank and `make ptest` on 4 ranks, C and Fortran"


def run(job):
    # gfortran takes minutes and a gigabyte to optimise the one file of all Fortran 90 interfaces.
    job.configure("--disable-cxx", f"MPICC={job.bin}/mpicc", f"MPIF77={job.bin}/mpifort",
             f"MPIF90={job.bin}/mpifort", f"--with-mpi={job.bin.parent}", "CFLAGS=-O1", "FFLAGS=-O1",
             "FCFLAGS=-O0")
    job.make()
    job.make("tests")
    run_all = f"TESTMPIRUN={job.bin}/mpiexec -n NP"
    job.check("make check", "make", "-k", "check", run_all, forbids=r"(?i)^.*\bfail\b.*")
    job.check("make ptest", "make", "-k", "ptest", run_all, forbids=r"(?i)^.*\bfail\b.*")
