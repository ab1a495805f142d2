/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of whole MPI programs: the first that fails names its place and rank and ends the job.
 * Programs that test one thing keep no globals, so that they mean the same with and without private
 * images; those that stand for users' programs keep some.
 */
#ifndef XY_TESTS_MPI_CHECK_H
#define XY_TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>

#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)
#define CHECK_EQUAL(a, b)                                                                          \
    check_equal((long long)(a), (long long)(b), #a " == " #b, __FILE__, __LINE__)

static inline void check(int is_true, const char *text, const char *file, int line)
{
    int rank;

    if (is_true)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s:%d: rank %d: failed: %s\n", file, line, rank, text);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static inline void check_equal(long long a, long long b, const char *text, const char *file,
                               int line)
{
    int rank;

    if (a == b)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s:%d: rank %d: failed: %s (%lld, %lld)\n", file, line, rank, text, a, b);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/* The same numbers for the same seed on every rank. */
static inline unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
