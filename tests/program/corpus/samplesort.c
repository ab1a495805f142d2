/* SPDX-License-Identifier: BSD-3-Clause */
/* Samplesort: splitters and counts depend on keys that a formula makes. ranks: 3 4 */
#include <mpi.h>
#include <stdlib.h>

#define PER 20

static int cmp(const void *a, const void *b)
{
    return (*(int *)a > *(int *)b) - (*(int *)a < *(int *)b);
}

int main(int argc, char **argv)
{
    int rank, p, keys[PER], splitters[16], *samples, *sizes, *sdispl, *rsizes, *rdispl, total = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (int i = 0; i < PER; i++)
        keys[i] = (rank * 31 + i * 17) % 101;
    qsort(keys, PER, sizeof(int), cmp);
    samples = malloc(p * (p - 1) * sizeof(int));
    int mine[16];
    for (int i = 1; i < p; i++)
        mine[i - 1] = keys[i * PER / p];
    MPI_Allgather(mine, p - 1, MPI_INT, samples, p - 1, MPI_INT, MPI_COMM_WORLD);
    qsort(samples, p * (p - 1), sizeof(int), cmp);
    for (int i = 1; i < p; i++)
        splitters[i - 1] = samples[i * (p - 1)];
    sizes = calloc(4 * p, sizeof(int));
    sdispl = sizes + p, rsizes = sizes + 2 * p, rdispl = sizes + 3 * p;
    for (int i = 0, b = 0; i < PER; i++) {
        while (b < p - 1 && keys[i] > splitters[b])
            b++;
        sizes[b]++;
    }
    MPI_Alltoall(sizes, 1, MPI_INT, rsizes, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < p; i++) {
        rdispl[i] = total;
        total += rsizes[i];
        sdispl[i] = i ? sdispl[i - 1] + sizes[i - 1] : 0;
    }
    int *sorted = malloc((total + 1) * sizeof(int));
    MPI_Alltoallv(keys, sizes, sdispl, MPI_INT, sorted, rsizes, rdispl, MPI_INT, MPI_COMM_WORLD);
    qsort(sorted, total, sizeof(int), cmp);
    MPI_Finalize();
    return 0;
}
