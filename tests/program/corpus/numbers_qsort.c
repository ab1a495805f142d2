/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts that are sorted. */
#include <mpi.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int counts[5] = {50, 10, 40, 20, 30};
    double data[64];

    qsort(counts, 5, sizeof(int), compare);
    for (int i = 0; i < 5; i++)
        MPI_Bcast(data, counts[i] + i, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
