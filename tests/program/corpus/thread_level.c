/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init_thread, version and name queries around plain messages. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int provided, rank, size, major, minor, len, flag, done;
    char name[MPI_MAX_PROCESSOR_NAME], version[MPI_MAX_LIBRARY_VERSION_STRING];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_FUNNELED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Initialized(&flag);
    MPI_Finalized(&done);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_version(&major, &minor);
    MPI_Get_library_version(version, &len);
    MPI_Get_processor_name(name, &len);
    if (rank == 0)
        printf("MPI %d.%d on %s, %d threads\n", major, minor, name, provided);
    if (flag && !done) {
        char mine[64] = "", theirs[64];
        snprintf(mine, sizeof mine, "rank %03d of %d", rank, size);
        MPI_Sendrecv(mine, (int)strlen(mine) + 1, MPI_CHAR, size - 1 - rank, 0, theirs, 64,
                     MPI_CHAR, size - 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
