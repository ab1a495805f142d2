# SPDX-License-Identifier: BSD-3-Clause
"""hypre: linear solvers (multigrid and Krylov methods) on distributed matrices."""
SOURCE = "hypre"
WHAT = "the tests that its `checkpar` names, compared with the saved results, and its drivers on 4 ranks"
TESTS = ("TEST_ij/solvers", "TEST_struct/solvers", "TEST_sstruct/solvers")


def run(job):
    job.configure(f"CC={job.bin}/mpicc", f"CXX={job.bin}/mpicxx", f"F77={job.bin}/mpifort",
             "CFLAGS=-O1", "CXXFLAGS=-O1", "FFLAGS=-O1", cwd="src")
    job.make(cwd="src")
    job.make("ij", "struct", "sstruct", cwd="src/test")
    for driver in ("ij", "struct"):
        job.check(f"{driver} on 4 ranks", *job.ranks(4, f"./{driver}", "-P", "2", "2", "1"),
                  cwd="src/test", prints="Iterations = ", forbids="(?i)nan")
    for test in TESTS:
        # The script writes what differs from the saved results beyond the tolerance into an .err file.
        job.check(test, "bash", "-c",
                  f"bash ./runtest.sh -rtol 1e-3 -atol 1e-3 -mpi '{job.bin}/mpiexec -n' {test}.sh; cat {test}.err;"
                  f" test -e {test}.err -a ! -s {test}.err", cwd="src/test")
