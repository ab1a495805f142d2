/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that messages carry decide what is sent next. */
#include <mpi.h>
static char data[1024];
int main(int argc, char **argv)
{
    int rank, size, n = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0)
        MPI_Recv(&n, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    n = n < 256 ? 2 * n : n;
    if (rank < size - 1) {
        MPI_Send(&n, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
        MPI_Send(data, n, MPI_CHAR, rank + 1, 2, MPI_COMM_WORLD);
    }
    if (rank > 0)
        MPI_Recv(data, 1024, MPI_CHAR, rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
