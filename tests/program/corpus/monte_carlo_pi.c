/* SPDX-License-Identifier: BSD-3-Clause */
/* Pi by darts: the points are data, the numbers of them are not. arguments: 4000 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
    int rank, nprocs;
    long long total = 1000, mine, hits = 0, all = 0;
    unsigned int seed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc > 1)
        total = strtoll(argv[1], NULL, 10);
    MPI_Bcast(&total, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    mine = total / nprocs + (rank < total % nprocs ? 1 : 0);
    seed = 17 * rank + 1;
    for (long long i = 0; i < mine; i++) {
        double x = rand_r(&seed) / (double)RAND_MAX;
        double y = rand_r(&seed) / (double)RAND_MAX;
        if (x * x + y * y <= 1.0)
            ++hits;
    }
    if (rank == 0) {
        all = hits;
        for (int i = 1; i < nprocs; i++) {
            MPI_Status st;
            long long other;
            MPI_Recv(&other, 1, MPI_LONG_LONG, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &st);
            all += other;
        }
        printf("pi is about %f\n", 4.0 * all / total);
    } else {
        MPI_Send(&hits, 1, MPI_LONG_LONG, 0, 7, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
