/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts that all add to in the windows of others, and messages that are as long as they say. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define BINS 8

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *bins, ones[BINS], most = 0;
    MPI_Win window;
    char *data = malloc(10000);

    MPI_Win_allocate(BINS * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &bins,
                     &window);
    memset(bins, 0, BINS * sizeof(int));
    for (int i = 0; i < BINS; i++)
        ones[i] = (i * rank) % 3;
    MPI_Win_fence(0, window);
    for (int r = 0; r < size; r++)
        MPI_Accumulate(ones, BINS, MPI_INT, r, 0, BINS, MPI_INT, r % 2 ? MPI_SUM : MPI_MAX, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < BINS; i++)
        if (bins[i] > most)
            most = bins[i];
    if (rank > 0)
        MPI_Send(data, 100 * most + bins[3], MPI_CHAR, 0, most, MPI_COMM_WORLD);
    else
        for (int i = 1; i < size; i++)
            MPI_Recv(data, 10000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Win_free(&window);
    free(data);
    MPI_Finalize();
    return 0;
}
