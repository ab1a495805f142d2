/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank reads its part of a file of any size. expect: asked */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, count;
    MPI_Offset bytes;
    MPI_File file;
    MPI_Status status;
    char *part;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File_open(MPI_COMM_WORLD, argv[argc - 1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_get_size(file, &bytes);
    part = malloc(bytes / size + 1);
    MPI_File_read_at_all(file, rank * (bytes / size), part, (int)(bytes / size), MPI_CHAR, &status);
    MPI_Get_count(&status, MPI_CHAR, &count);
    MPI_File_close(&file);
    MPI_Gather(part, (int)(bytes / size), MPI_CHAR, rank == 0 ? malloc(bytes) : NULL,
               (int)(bytes / size), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return count == 0;
}
