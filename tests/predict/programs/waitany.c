/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests one by one as they end. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static char data[16][3000];
    MPI_Request requests[16];
    int index, count = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    if (rank == 0)
        for (int i = 1; i < size; i++)
            MPI_Irecv(data[i], 3000, MPI_CHAR, i, 0, MPI_COMM_WORLD, &requests[count++]);
    else
        MPI_Send(data[0], 100 * rank, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
