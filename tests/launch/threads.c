/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a rank: OpenMP teams of several ranks on one core, plain threads, and their stacks. */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int mine;
#pragma omp threadprivate(mine)
static _Thread_local int start = 5;

/* Is a variable of the caller in the stack that the C library reports? Are 64 KiB below it? */
static int knows_stack(void)
{
    pthread_attr_t attributes;
    size_t size;
    void *low;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return 0;
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    return (char *)&size - 65536 > (char *)low && (char *)&size < (char *)low + size;
}

static void *plain(void *arg)
{
    int *result = arg;

    *result = start++ == 5 && knows_stack() ? atoi(getenv("PMI_RANK")) : -1;
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
    wrong += !knows_stack();
    printf("%d: %d threads, %d wrong, %d\n", rank, threads, wrong, result);
    MPI_Finalize();
    return 0;
}
