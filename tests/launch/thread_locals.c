/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread-local variables, and errno, of a function that calls MPI_Init_thread: the rank goes on on
 * another thread, and compilers have kept what counts from the thread pointer.
 */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>

static _Thread_local int counter;
_Thread_local long values[2048]; /* too far from the thread pointer for one instruction */

static int is_wrong(int rank)
{
    const int *mine = &counter; /* the compiler's to keep, too */

    return *mine != 111 + rank || values[2047] != 7 + rank;
}

int main(int argc, char **argv)
{
    int provided, rank, size, wrong, *address = &errno;

    counter = 1;
    values[2047] = 5;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    counter += 10;
    values[2047] += 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counter += rank;
    values[2047] += rank;
    MPI_Barrier(MPI_COMM_WORLD);
    counter += 100;
    MPI_Barrier(MPI_COMM_WORLD);
    wrong = is_wrong(rank) || address != &errno;
    printf("%d: %d\n", rank, wrong);
    MPI_Finalize();
    return 0;
}
