/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers out of words that the program wrote. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char text[32], other[32];
    int n, m = 0;

    sprintf(text, "%d", 40 + size);
    n = atoi(text);
    sprintf(other, "n=%d", 2 * n);
    sscanf(other, "n=%d", &m);
    double *data = calloc(n + m, sizeof(double));

    MPI_Bcast(data, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Bcast(data, m, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (strcmp(text, "44") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    free(data);
    MPI_Finalize();
    return 0;
}
