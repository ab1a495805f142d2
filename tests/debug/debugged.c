/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring in which every rank has something to look at: gdb.sh debugs it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int counter;        /* found by its global symbol */
static int squares; /* and by a local one */
static volatile int is_released;

static int hand_on(int rank, int size)
{
    int token = rank * 100, sum = 0;

    counter = rank + 1;
    squares = rank * rank;
    if (rank > 0)
        MPI_Recv(&sum, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* receives */
    usleep(1000); /* on one core: the others reach their calls */
    sum += token; /* has the sum */
    if (rank < size - 1)
        MPI_Send(&sum, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    return sum;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank, size, sum;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sum = hand_on(rank, size);
    if (strcmp(what, "abort") == 0 && rank == size - 1)
        abort();
    if (strcmp(what, "hang") == 0 && rank == 0) {
        printf("hangs\n");
        fflush(stdout);
        while (!is_released)
            usleep(1000); /* sleeps */
    }
    MPI_Barrier(MPI_COMM_WORLD); /* meets */
    if (rank == size - 1)
        printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
