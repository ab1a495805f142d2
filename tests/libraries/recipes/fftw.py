# SPDX-License-Identifier: BSD-3-Clause
"""FFTW: transforms of random sizes on 1 to 4 ranks, compared with those of one process."""
SOURCE = "fftw3"
WHAT = "its `make check` of transforms on ranks: 60 random ones, each on 1 to 4 ranks"


def run(job):
    job.configure("--enable-mpi", "--disable-fortran", "--disable-doc", "CFLAGS=-O1",
             f"MPICC={job.bin}/mpicc")
    job.make()
    bench = job.tree / "mpi/mpi-bench"
    for ranks in (1, 2, 3, 4):
        for seed in (1, 2, 3):
            command = " ".join(map(str, job.ranks(ranks, bench)))
            job.check(f"20 transforms on {ranks} ranks, seed {seed}", "perl", "-w",
                      "../tests/check.pl", "--random", "--maxsize=4000", "-c=20", "--mpi",
                      "--verbose", "--nowisdom", "--estimate", f"--seed={seed}", command, cwd="mpi",
                      forbids="FAILED.*")
