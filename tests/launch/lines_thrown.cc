/* SPDX-License-Identifier: BSD-3-Clause */
/* An exception that nothing catches. */
#include <mpi.h>
#include <stdexcept>

static void complain(int rank)
{
    if (rank == 1)
        throw std::runtime_error("the matrix is singular"); /* throw */
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    complain(rank);
    MPI_Finalize();
    return 0;
}
