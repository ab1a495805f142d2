/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes that sanitizers find, one per word on the command line, made by rank 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *kept; /* of every rank: not lost */
static int table[4];

static __attribute__((noinline)) void lose(size_t size)
{
    char *volatile lost = malloc(size);

    lost[0] = 1;
    lost = NULL;
}

static void blunder(const char *what, int by)
{
    if (strcmp(what, "heap") == 0) {
        char *volatile p = malloc(10);

        p[9 + by] = 1; /* heap */
        free(p);
    } else if (strcmp(what, "stack") == 0) {
        int here[4];
        int *volatile p = here;

        p[3 + by] = 1; /* stack */
    } else if (strcmp(what, "global") == 0) {
        int *volatile p = table;

        p[3 + by] = 1; /* global */
    } else if (strcmp(what, "freed") == 0) {
        char *volatile p = malloc(10);

        free(p);
        p[by] = 1; /* freed */
    } else if (strcmp(what, "null") == 0) {
        int *volatile p = NULL;

        p[by] = 1; /* null */
    } else if (strcmp(what, "undefined") == 0) {
        volatile int large = 0x7fffffff;

        large += by; /* undefined */
    } else if (strcmp(what, "exit") == 0) {
        int here[64];

        memset(here, 0, sizeof(here));
        MPI_Finalize();
        exit(here[by]); /* frames that never return */
    }
}

/* The sanitizer's library is preloaded, but not in the environment of a rank. */
static int is_preloaded(void)
{
    const char *list = getenv("LD_PRELOAD");

    return list != NULL && strstr(list, "san") != NULL;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank, size, sum;
    MPI_Comm other;
    char *copy = strdup(what);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &other); /* the library keeps a block for the rank: not lost */
    MPI_Comm_free(&other);
    kept = malloc(100);
    printf("rank %d of %d\n", rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 || strcmp(what, "exit") == 0)
        blunder(what, 1);
    if (strcmp(argc > 1 ? argv[argc - 1] : "", "leak") == 0) /* alone, or after another blunder */
        lose(17);
    free(copy);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum == size * (size - 1) / 2 && !is_preloaded() ? 0 : 3;
}
