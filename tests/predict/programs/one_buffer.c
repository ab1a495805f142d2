/* SPDX-License-Identifier: BSD-3-Clause */
/* One large buffer goes to all others, which a run could tell from several, and a prediction
 * cannot. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, count = 65536;
    char *data = malloc(count);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < 5; step++) {
        if (rank > 0)
            MPI_Recv(data, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int to = 1; rank == 0 && to < size; to++)
            MPI_Send(data, count, MPI_BYTE, to, 0, MPI_COMM_WORLD);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
