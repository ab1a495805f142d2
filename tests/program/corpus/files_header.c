/* SPDX-License-Identifier: BSD-3-Clause */
/* The header of a file says how much follows. expect: asked */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, header[4] = {0};
    MPI_File file;
    char *data;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File_open(MPI_COMM_WORLD, "input.bin", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_read_at_all(file, 0, header, 4, MPI_INT, MPI_STATUS_IGNORE);
    data = malloc(header[2]);
    MPI_File_read_at(file, 16 + rank * header[2], data, header[2], MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Bcast(data, header[2], MPI_CHAR, 0, MPI_COMM_WORLD);
    free(data);
    MPI_Finalize();
    return 0;
}
