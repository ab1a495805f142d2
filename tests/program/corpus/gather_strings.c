/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of different lengths are gathered, put together and sent back. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *describe(int rank)
{
    char buffer[128];
    char *copy;
    int n = snprintf(buffer, sizeof buffer, "<%*d|", 3 + rank, rank);

    for (int i = 0; i < rank; i++)
        n += sprintf(buffer + n, "%s%c", i ? "," : "", 'a' + i);
    strcat(buffer, rank % 2 ? ">" : "/>");
    copy = malloc(strlen(buffer) + 1);
    return strcpy(copy, buffer);
}

int main(int argc, char **argv)
{
    int rank, size, len, *lens = NULL, *at = NULL, total = 0;
    char *mine, *all = NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = describe(rank);
    len = (int)strlen(mine);
    if (rank == 0) {
        lens = malloc(2 * size * sizeof(int));
        at = lens + size;
    }
    MPI_Gather(&len, 1, MPI_INT, lens, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < size; i++) {
            at[i] = total;
            total += lens[i];
        }
        all = calloc(total + 1, 1);
    }
    MPI_Gatherv(mine, len, MPI_CHAR, all, lens, at, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(&total, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank)
        all = malloc(total + 1);
    MPI_Bcast(all, total + 1, MPI_CHAR, 0, MPI_COMM_WORLD);
    int commas = 0;
    for (char *p = all; (p = strchr(p, ',')) != NULL; p++)
        commas++;
    MPI_Bcast(all, commas, MPI_CHAR, 1, MPI_COMM_WORLD);
    free(all);
    free(mine);
    free(lens);
    MPI_Finalize();
    return 0;
}
