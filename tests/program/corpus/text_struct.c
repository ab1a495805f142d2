/* SPDX-License-Identifier: BSD-3-Clause */
/* Words in members of a struct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct person {
    int id;
    char name[32];
    char *title;
};
int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct person p;

    p.id = rank;
    strcpy(p.name, "Ada Lovelace");
    p.title = malloc(16);
    snprintf(p.title, 16, "Countess %d", rank);
    MPI_Bcast(p.name, (int)strlen(p.name) + 1, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Sendrecv(p.title, (int)strlen(p.title), MPI_CHAR, (rank + 1) % size, 0, p.name, 32,
                 MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(p.title);
    MPI_Finalize();
    return 0;
}
