/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many thread-local variables that begin with zeros.
 *
 *   locals_zeros untouched        pages that no rank uses are not in memory
 *   locals_zeros random SEED      ranks write some of them at random, and find what they wrote
 *   locals_zeros threads SEED     ... before they move to threads of their own, and there
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 50, ROUNDS = 300 };

static _Thread_local int before = 7;
static _Thread_local volatile char many[PAGES * 4096];
static char model[PAGES * 4096]; /* what this rank wrote */
static int rank;

static void untouched(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
              from = ((uintptr_t)many + page - 1) & ~(page - 1),
              to = (uintptr_t)(many + sizeof(many)) & ~(page - 1);
    unsigned char is_there[PAGES];
    size_t count = 0;

    before += rank;
    for (int i = 0; i < ROUNDS; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (mincore((void *)from, to - from, is_there) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (size_t i = 0; i < (to - from) / page; i++)
        count += is_there[i] & 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%zu pages are there\n", count);
}

static void write_one(unsigned *state)
{
    size_t at = (size_t)rand_r(state) % sizeof(many);

    many[at] = model[at] = (char)rand_r(state);
}

static void check(void)
{
    for (size_t i = 0; i < sizeof(many); i++)
        if (many[i] != model[i]) {
            fprintf(stderr, "rank %d: byte %zu is %d and not %d\n", rank, i, many[i], model[i]);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
}

static void at_random(unsigned seed)
{
    unsigned state = seed + (unsigned)rank * 7919;

    check();
    for (int i = 0; i < ROUNDS; i++) {
        if (rand_r(&state) % (unsigned)(1 + 20 * (rank % 3)) == 0)
            write_one(&state);
        before++;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rand_r(&state) % 100 == 0)
            check(); /* which reads all pages */
        if (rand_r(&state) % 50 == 0)
            usleep(100);
    }
    check();
    if (before != 7 + ROUNDS)
        MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("all is there\n");
}

int main(int argc, char **argv)
{
    unsigned state = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
    int level =
        argc > 2 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;

    for (int i = 0; argc > 2 && i < 3; i++)
        write_one(&state);
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2)
        at_random(state);
    else
        untouched();
    MPI_Finalize();
    return 0;
}
