/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The unnamed locks of OpenMP belong to a rank: ranks meet in barriers inside, and the threads of
 * each exclude each other, also those in a library (LIBRARY). RUNTIME is an OpenMP runtime that has
 * one lock for all atomic operations; not all versions of clang's have these functions.
 */
#include <mpi.h>
#include <stdio.h>

#if defined(RUNTIME)
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void __kmpc_atomic_start(void);
void __kmpc_atomic_end(void);

void __kmpc_atomic_start(void)
{
    pthread_mutex_lock(&lock);
}

void __kmpc_atomic_end(void)
{
    pthread_mutex_unlock(&lock);
}
#elif defined(LIBRARY)
void add(volatile int *count);
void meet(void);

void add(volatile int *count)
{
#pragma omp critical
    ++*count;
}

void meet(void)
{
#pragma omp critical
    MPI_Barrier(MPI_COMM_WORLD);
}
#else

/* Calls of compilers around an atomic operation that the processor lacks. */
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);
void __kmpc_atomic_start(void);
void __kmpc_atomic_end(void);
void add(volatile int *count);
void meet(void);

enum { ROUNDS = 200, THREADS = 3 };

static volatile int count, sum, total;

static void meet_inside(int rank)
{
#pragma omp critical
    {
        MPI_Barrier(MPI_COMM_WORLD);
        count = rank;
        MPI_Barrier(MPI_COMM_WORLD);
    }
#pragma omp critical(named)
    MPI_Barrier(MPI_COMM_WORLD);
    meet();
    GOMP_atomic_start();
    MPI_Barrier(MPI_COMM_WORLD);
    GOMP_atomic_end();
    __kmpc_atomic_start();
    MPI_Barrier(MPI_COMM_WORLD);
    __kmpc_atomic_end();
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    meet_inside(rank);
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < ROUNDS; i++) {
#pragma omp critical
        count++;
        add(&count);
        GOMP_atomic_start();
        sum++;
        GOMP_atomic_end();
        __kmpc_atomic_start();
        total++;
        __kmpc_atomic_end();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d: %d %d %d\n", rank, count - rank, sum, total);
    MPI_Finalize();
    return 0;
}
#endif
