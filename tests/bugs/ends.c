/* SPDX-License-Identifier: BSD-3-Clause */
/* Crashes of the program: faults and ends of ranks. */
#include "bugs.h"

static int *volatile nowhere;

__attribute__((noinline)) static void store(int where)
{
    nowhere[where] = 1; // @store
}

/* code: 139
 * says: rank 1: segmentation fault (address *) in program code, at @store
 * says:   store at @store
 * says:   crash at @here
 * says:   main at main.c:* */
BUG(crash)
{
    if (rank == 1) {
        if (!wrong)
            nowhere = numbers;
        store(3); // @here
    }
}

/* code: 139
 * says: segmentation fault (address *) in MPI_Allreduce, at @here
 * says:   crash_in_mpi at @here */
BUG(crash_in_mpi)
{
    int *to = wrong && rank == 0 ? (int *)16 : others;

    MPI_Allreduce(numbers, to, 1, MPI_INT, MPI_SUM, world); // @here
}

/* code: 134
 * says: rank 1: aborted (SIGABRT) in program code, at @here
 * says:   aborted at @here */
BUG(aborted)
{
    if (wrong && rank == 1)
        abort(); // @here
}

__attribute__((noinline)) static int recurse(int depth)
{
    volatile char much[1024];

    much[depth % 1024] = (char)depth;
    return depth > 0 ? recurse(depth - 1) + much[depth % 1024] : 0; // @recurse
}

/* code: 139
 * says: rank 0: stack overflow in program code; its stack has *
 * says:   recurse at @recurse (* times) */
BUG(overflow)
{
    if (rank == 0)
        numbers[0] = recurse(wrong ? 1 << 30 : 10);
}
