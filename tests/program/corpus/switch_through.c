/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch whose cases fall through. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char data[64] = {0};
    int n = 0;

    switch (size % 5) {
    case 0:
        n += 1;
    case 1:
        n += 2; /* falls through */
    case 4:
        n += 4;
    default:
        n += 8;
        break;
    case 2:
    case 3:
        n = 40;
    }
    MPI_Bcast(data, n, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 6; i++) {
        switch (i) {
        case 1:
            continue;
        case 3:
            MPI_Barrier(MPI_COMM_WORLD);
        case 4:
            MPI_Bcast(data, i, MPI_CHAR, 0, MPI_COMM_WORLD);
            break;
        default:
            if (i > 4)
                break;
            MPI_Bcast(data, 20 + i, MPI_CHAR, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
