/* SPDX-License-Identifier: BSD-3-Clause */
/* getopt decides what is done. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size;
    static char data[100000];
    int n = 10, repeat = 1, c, wants_barrier = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    while ((c = getopt(argc, argv, "n:r:b")) != -1) {
        switch (c) {
        case 'n':
            n = atoi(optarg);
            break;
        case 'r':
            repeat = (int)strtol(optarg, NULL, 10);
            break;
        case 'b':
            wants_barrier = 1;
            break;
        default:
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (int i = 0; i < repeat; i++) {
        MPI_Bcast(data, n, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (wants_barrier)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
