/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for libraries that stand in front of MPI and of the C library. Rank r sends r messages;
 * memory goes back and forth between it and the C library. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern int allocator_caches(void) __attribute__((weak));
extern int filling_rank __attribute__((weak));

static void use_memory(void)
{
    for (int i = 0; i < 200; i++) {
        char *line = NULL, *pieces[20];
        size_t capacity = 0;
        FILE *text = fmemopen((char[]){"one\ntwo\n"}, 8, "r");

        free(strdup("a copy"));
        free(strndup("a copy", 3));
        free(realpath(".", NULL));
        free(getcwd(NULL, 0));
        if (asprintf(&line, "%d", i) < 1)
            printf("asprintf failed\n");
        free(line);
        line = i % 2 == 0 ? NULL : malloc(2);
        capacity = i % 2 == 0 ? 0 : 2;
        for (int k = 0; k < 20; k++)
            pieces[k] = calloc((size_t)k + 1, 1 + (size_t)i * 13);
        if (getline(&line, &capacity, text) != 4 || strcmp(line, "one\n") != 0)
            printf("getline failed\n");
        free(line);
        fclose(text);
        if (i % 20 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; k < 20; k++)
            free(realloc(pieces[k], 500));
    }
}

/* The variable of libfilling is the rank's, and so is its malloc. */
static void show_filling(int rank)
{
    char *piece = malloc(100);

    filling_rank = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d: filled with '%c' for rank %d\n", rank, piece[99], filling_rank);
    free(piece);
}

int main(int argc, char **argv)
{
    int rank, size, x = 0;
    const char *who = getenv("WHO"), *number;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < rank; i++)
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size * (size - 1) / 2; i++)
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    use_memory();
    MPI_Barrier(MPI_COMM_WORLD);
    number = getenv("PMI_RANK");
    if (argc > 1)
        printf("%s is %s, preloads '%s'\n", number, who != NULL ? who : "nobody",
               getenv("LD_PRELOAD") != NULL ? getenv("LD_PRELOAD") : "");
    if (allocator_caches != NULL)
        printf("rank %d: %d caches too many\n", rank, allocator_caches());
    if (&filling_rank != NULL)
        show_filling(rank);
    MPI_Finalize();
    return 0;
}
