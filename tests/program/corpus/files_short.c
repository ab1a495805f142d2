/* SPDX-License-Identifier: BSD-3-Clause */
/* A read that may give less than asked for; its count is sent. expect: asked */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, count;
    char data[100], room[100];
    MPI_File file;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File_open(MPI_COMM_SELF, argv[0], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_read_at(file, 1000000000L * rank, data, 100, MPI_CHAR, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    MPI_File_close(&file);
    MPI_Sendrecv(data, count, MPI_CHAR, (rank + 1) % size, 0, room, 100, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
