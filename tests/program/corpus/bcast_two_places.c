/* SPDX-License-Identifier: BSD-3-Clause */
/* The root broadcasts in one function, the others in another. */
#include <mpi.h>

static void give(int *n, MPI_Comm comm)
{
    *n = 50;
    MPI_Bcast(n, 1, MPI_INT, 0, comm);
}

static void take(int *n, MPI_Comm comm)
{
    MPI_Bcast(n, 1, MPI_INT, 0, comm);
}
int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = 3;
    char data[64] = {0};

    if (rank == 0)
        give(&n, MPI_COMM_WORLD);
    else
        take(&n, MPI_COMM_WORLD);
    MPI_Send(data, n, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv(data, 64, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
