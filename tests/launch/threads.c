/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a rank: OpenMP teams of several ranks on one core, and plain threads. */
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int mine;
#pragma omp threadprivate(mine)
static _Thread_local int start = 5;

static void *plain(void *arg)
{
    int *result = arg;

    *result = start++ == 5 ? atoi(getenv("PMI_RANK")) : -1;
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, wrong = 0, threads = 0, result = -1;
    pthread_t thread;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    start = 17;
    for (int round = 0; round < 5; round++) {
#pragma omp parallel
        {
            mine = 1000 * rank + omp_get_thread_num();
#pragma omp master
            threads = omp_get_num_threads();
        }
        MPI_Barrier(MPI_COMM_WORLD);
#pragma omp parallel reduction(+ : wrong)
        wrong += mine != 1000 * rank + omp_get_thread_num();
    }
    pthread_create(&thread, NULL, plain, &result);
    pthread_join(thread, NULL);
    printf("%d: %d threads, %d wrong, %d\n", rank, threads, wrong, result);
    MPI_Finalize();
    return 0;
}
