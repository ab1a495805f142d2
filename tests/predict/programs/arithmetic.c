/* SPDX-License-Identifier: BSD-3-Clause */
/* Block sizes by integer and floating-point arithmetic. */
#include <math.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    static char data[1 << 16];
    unsigned seed = 12345;
    int side, bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    side = (int)floor(sqrt((double)size));
    for (int i = 0; i < 8; i++) {
        seed = seed * 1103515245u + 12345u;
        bytes = (int)(seed >> 16) % 5000 + side;
        MPI_Bcast(data, bytes, MPI_CHAR, (int)(seed % (unsigned)size), MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
