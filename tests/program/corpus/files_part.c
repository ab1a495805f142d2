/* SPDX-License-Identifier: BSD-3-Clause */
/* A function reads a part of an array of its caller from a file. expect: asked */
#include <mpi.h>

static void load(MPI_File file, int *to, int n)
{
    MPI_File_read_all(file, to, n, MPI_INT, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int numbers[4] = {1, 2, 3, 4}, rank, size;
    char data[100] = {0}, room[100];
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File_open(MPI_COMM_WORLD, argv[0], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    load(file, numbers, 3);
    MPI_File_close(&file);
    MPI_Sendrecv(data, (numbers[1] & 63) + 5, MPI_CHAR, (rank + 1) % size, 0, room, 100, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
