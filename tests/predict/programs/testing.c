/* SPDX-License-Identifier: BSD-3-Clause */
/* A test that is repeated until it succeeds. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static char data[60000];
    MPI_Request request;
    int flag = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    if (rank == 0 && size > 1) {
        MPI_Irecv(data, 60000, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Send(data, 60000, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
