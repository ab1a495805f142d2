/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce_scatter with counts of one function, MPI_Reduce_scatter_block. */
#include <mpi.h>
#include <stdlib.h>

static int share(int r)
{
    return 3 + r * r % 5;
}

int main(int argc, char **argv)
{
    int rank, size, *counts, total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = malloc(size * sizeof(int));
    for (int i = 0; i < size; i++)
        total += counts[i] = share(i);
    int *in = calloc(total > 20 * size ? total : 20 * size, sizeof(int)),
        *out = malloc(100 * sizeof(int));
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(in, out, 20, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    int *at = calloc(size, sizeof(int));
    for (int i = 1; i < size; i++)
        at[i] = at[i - 1] + counts[i - 1];
    MPI_Allgatherv(out, counts[rank], MPI_INT, in, counts, at, MPI_INT, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
