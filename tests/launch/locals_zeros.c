/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many thread-local variables that begin with zeros.
 *
 *   locals_zeros untouched        those that no rank uses take no memory, however often ranks
 * change locals_zeros random SEED      ranks write some of them at random, and find what they wrote
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

/* `model` is what this rank wrote. */
static void check(const char *model)
{
    for (size_t i = 0; i < sizeof(many); i++)
        if (many[i] != model[i]) {
            fprintf(stderr, "rank %d: byte %zu is %d and not %d\n", rank, i, many[i], model[i]);
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
}

static void at_random(unsigned seed)
{
    char *model = calloc(1, sizeof(many));
    unsigned state = seed + (unsigned)rank * 7919;

    for (int i = 0; i < ROUNDS; i++) {
        size_t at = (size_t)rand_r(&state) % sizeof(many);

        if (rand_r(&state) % (unsigned)(1 + 20 * (rank % 3)) == 0)
            many[at] = model[at] = (char)rand_r(&state);
        before++;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rand_r(&state) % 100 == 0)
            check(model); /* which reads all pages */
        if (rand_r(&state) % 50 == 0)
            usleep(100);
    }
    check(model);
    if (before != 7 + ROUNDS)
        MPI_Abort(MPI_COMM_WORLD, 4);
    free(model);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("all is there\n");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2)
        at_random((unsigned)atoi(argv[2]));
    else
        untouched();
    MPI_Finalize();
    return 0;
}
