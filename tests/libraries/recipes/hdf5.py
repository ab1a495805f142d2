# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 with MPI-IO: one file that all ranks write and read."""
SOURCE = "hdf5"
WHAT = "the programs of `testpar` on 4 ranks"
PROGRAMS = ("t_mpi", "testphdf5", "t_cache", "t_cache_image", "t_pread", "t_pshutdown", "t_prestart",
            "t_init_term", "t_shapesame", "t_filters_parallel")


def run(job):
    job.configure("--enable-parallel", "--disable-fortran", "--disable-cxx", "--disable-hl",
             "--disable-tools", "--enable-build-mode=production", "--disable-shared",
             f"CC={job.bin}/mpicc", "CFLAGS=-O1", f"RUNPARALLEL={job.bin}/mpiexec -n 4")
    job.make(cwd="src")
    job.make("libh5test.la", cwd="test")
    job.make(*PROGRAMS, cwd="testpar")
    for program in PROGRAMS: # t_cache_image reads millions of blocks of 400 bytes: not for a busy machine
        job.check(program, *job.ranks(4, f"./{program}"), cwd="testpar", seconds=3600,
                  forbids=r".*\*FAILED\*.*")
