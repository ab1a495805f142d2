/* SPDX-License-Identifier: BSD-3-Clause */
/* Words as first values of arrays. */
#include <mpi.h>
#include <string.h>

static char global[] = "a word of the file";
int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char local[] = "local";
    char room[40] = "room for more";
    static char kept[20] = "kept";

    MPI_Bcast(global, (int)strlen(global) + 1, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(local, sizeof(local), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(room, (int)strlen(room), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Bcast(kept, (int)strlen(kept), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
