/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of the command line choose. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;
    static double data[1000], sum[1000];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "bcast") == 0)
            MPI_Bcast(data, 1000, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        else if (strncmp(argv[i], "all", 3) == 0)
            MPI_Allreduce(data, sum, atoi(argv[i] + 3), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
