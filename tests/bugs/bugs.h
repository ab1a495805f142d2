/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small programs in pairs: one with a mistake, one without. Each is a function; `wrong` says which
 * of the two it is. A comment in front of it says what mpiexec must report about the wrong one
 * (run.py reads it), and nothing may be reported about the right one:
 *
 *   /+ ranks: 2
 *    + code: 1
 *    + says: rank 0: in MPI_Recv from rank 1, tag 7 on MPI_COMM_WORLD, at @here +/
 *   BUG(recv_recv)
 *   {
 *       if (wrong || rank == 0)
 *           MPI_Recv(...); // @here
 *
 * with stars for the pluses. `@here` is the
 * line that ends with that mark, `*` any text. Fields:
 *
 *   ranks     how many (2)
 *   code      the exit code of the wrong one (1)
 *   options   of mpiexec, for both
 *   says      a part of one line of the report; several: each of them
 *   not       what no line may say
 *   before    yes: MPI_Init has not been called
 *   right     no: there is no right one
 *   alone     yes: the right one is right in one process only
 */
#ifndef TESTS_BUGS_BUGS_H
#define TESTS_BUGS_BUGS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bug {
    const char *name;
    void (*make)(void);
    struct bug *next;
} bug_t;

enum { LARGE = 1 << 18 };

#define world  MPI_COMM_WORLD
#define ignore MPI_STATUS_IGNORE

#ifdef __cplusplus
extern "C" {
#endif

extern bool wrong;
extern int rank, size;
extern int numbers[LARGE], others[LARGE];

void bug_add(bug_t *bug);

#ifdef __cplusplus
}
#endif

#define BUG(title)                                                                                 \
    static void title(void);                                                                       \
    static bug_t bug_##title = {#title, title, NULL};                                              \
    __attribute__((constructor)) static void add_##title(void)                                     \
    {                                                                                              \
        bug_add(&bug_##title);                                                                     \
    }                                                                                              \
    static void title(void)

#endif
