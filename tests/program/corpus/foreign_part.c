/* SPDX-License-Identifier: BSD-3-Clause */
/* A function without source writes to an array of its caller's caller. expect: asked */
#include <mpi.h>
#include <stdlib.h>
#include <sys/random.h>

static void load(int *to, int n)
{
    if (getrandom(to, n * sizeof(int), 0) < 0)
        exit(1);
}

int main(int argc, char **argv)
{
    int numbers[4] = {1, 2, 3, 4}, rank, size;
    char data[100] = {0}, room[100];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    load(numbers, 3);
    MPI_Sendrecv(data, (numbers[1] & 63) + 5, MPI_CHAR, (rank + 1) % size, 0, room, 100, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
