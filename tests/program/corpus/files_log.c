/* SPDX-License-Identifier: BSD-3-Clause */
/* A log with the shared pointer, and one in the order of the ranks. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char line[80];
    int rank, size, written;
    MPI_File log;
    MPI_Request request;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        MPI_File_delete("log.tmp", MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, "log.tmp",
                  MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &log);
    snprintf(line, sizeof(line), "rank %d of %d\n", rank, size);
    MPI_File_write_ordered(log, line, (int)strlen(line), MPI_CHAR, MPI_STATUS_IGNORE);
    for (int i = 0; i <= rank; i++)
        MPI_File_write_shared(log, line, (int)strlen(line), MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_iwrite_shared(log, line, 5 + rank, MPI_CHAR, &request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_CHAR, &written);
    MPI_Send(line, written, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv(line, 80, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_File_close(&log);
    MPI_Finalize();
    return 0;
}
