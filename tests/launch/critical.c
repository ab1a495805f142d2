/* SPDX-License-Identifier: BSD-3-Clause */
/* The unnamed locks of OpenMP belong to a rank: ranks meet in barriers inside, and the threads of
 * each exclude each other. */
#include <mpi.h>
#include <stdio.h>

/* What compilers call around an atomic operation that the processor lacks. */
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);

enum { ROUNDS = 200, THREADS = 3 };

static volatile int count, sum;

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp critical
    {
        MPI_Barrier(MPI_COMM_WORLD);
        count = rank;
        MPI_Barrier(MPI_COMM_WORLD);
    }
#pragma omp critical(named)
    MPI_Barrier(MPI_COMM_WORLD);
    GOMP_atomic_start();
    MPI_Barrier(MPI_COMM_WORLD);
    GOMP_atomic_end();
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp critical
        count++;
        GOMP_atomic_start();
        sum++;
        GOMP_atomic_end();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d: %d %d\n", rank, count - rank, sum);
    MPI_Finalize();
    return 0;
}
