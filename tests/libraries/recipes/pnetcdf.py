# SPDX-License-Identifier: BSD-3-Clause
"""PnetCDF: arrays in netCDF files, written and read by several ranks through MPI-IO."""
SOURCE = "pnetcdf"
WHAT = "`make check` and `make ptest4` (4 ranks) of its C tests and of the Fortran ones among them"
PARTS = ("C", "nc_test", "testcases", "nonblocking", "cdf_format", "header")


def run(job):
    # gfortran takes minutes and a gigabyte to optimise the one file of all Fortran 90 interfaces.
    job.configure("--disable-cxx", f"MPICC={job.bin}/mpicc", f"MPIF77={job.bin}/mpifort",
                  f"MPIF90={job.bin}/mpifort", f"--with-mpi={job.bin.parent}", "CFLAGS=-O1",
                  "FFLAGS=-O1", "FCFLAGS=-O0")
    job.make()
    for part in PARTS:
        for target in ("check", "ptest4"):
            job.check(f"{target} of {part}", "make", "-k", "-C", f"test/{part}", target,
                      f"TESTMPIRUN={job.bin}/mpiexec -n NP")
