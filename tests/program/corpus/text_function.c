/* SPDX-License-Identifier: BSD-3-Clause */
/* A function that fills the caller's memory. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void greet(char *to, int who)
{
    sprintf(to, "hello, %d", who);
}
int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char text[64];

    greet(text, 100000 * (rank + 1));
    MPI_Send(text, (int)strlen(text), MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv(text, 64, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
