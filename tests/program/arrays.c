/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts and displacements in arrays of their own. */
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size, total = 0, *counts, *starts;
    double *mine, *all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = malloc(size * sizeof(int));
    starts = malloc(size * sizeof(int));
    for (int r = 0; r < size; r++) {
        counts[r] = 3 * r + 1;
        starts[r] = total;
        total += counts[r];
    }
    mine = calloc(counts[rank], sizeof(double));
    all = calloc(total, sizeof(double));
    MPI_Allgatherv(mine, counts[rank], MPI_DOUBLE, all, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Gatherv(mine, counts[rank], MPI_DOUBLE, all, counts, starts, MPI_DOUBLE, size - 1,
                MPI_COMM_WORLD);
    free(counts);
    free(starts);
    free(mine);
    free(all);
    MPI_Finalize();
    return 0;
}
