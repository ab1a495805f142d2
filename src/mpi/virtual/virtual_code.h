/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a rank's code between two calls, by two clocks (private to the part). No clock is
 * read here but by the function that is given.
 */
#ifndef XY_MPI_VIRTUAL_VIRTUAL_CODE_H
#define XY_MPI_VIRTUAL_VIRTUAL_CODE_H

#include <stdint.h>
#include <time.h>

typedef int64_t (*virtual_read_fn)(clockid_t clock); /* ns */

/* The time of a clock reading, of that it shows. */
typedef struct {
    int64_t wall, processor; /* ns */
} virtual_looks_t;

/* When code began to run. */
typedef struct {
    int64_t wall, processor; /* ns */
} virtual_since_t;

/* The processor's clock, a system call, is read first: no part of it falls into what the other one
 * shows. */
static inline virtual_since_t virtual_code_begin(virtual_read_fn read)
{
    virtual_since_t since;

    since.processor = read(CLOCK_THREAD_CPUTIME_ID);
    since.wall = read(CLOCK_MONOTONIC);
    return since;
}

/* Nanoseconds that count.
 *
 * Code that ran for less than `short_ns` was not interrupted: another process would have had the
 * core for longer. The wall clock then tells how long it ran, to a few nanoseconds; the processor's
 * is off by what its system call takes beyond the least, which is more than many a loop between two
 * calls.
 *
 * A call that began less than `least_ns` ago still checks its arguments, which its model has
 * counted. So are the way out of one call and into the next, which take up to this long where the
 * simulator, and the data that it copied, have used the caches in between: shorter code counts as
 * none. */
static inline int64_t virtual_code_ns(virtual_read_fn read, virtual_since_t since,
                                      virtual_looks_t looks)
{
    const int64_t short_ns = 20000, least_ns = 1000;
    int64_t ns = read(CLOCK_MONOTONIC) - since.wall - looks.wall;

    if (ns > short_ns)
        ns = read(CLOCK_THREAD_CPUTIME_ID) - since.processor - looks.processor;
    return ns > least_ns ? ns : 0;
}

#endif
