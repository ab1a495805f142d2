/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch into a loop, as old programs unroll. */
#include <mpi.h>

static int rank, size;
static char byte[16];

static void pass(int n)
{
    MPI_Sendrecv_replace(byte, n, MPI_CHAR, (rank + 1) % size, n, (rank + size - 1) % size, n,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void passes(int count)
{
    int n = (count + 3) / 4;

    switch (count % 4) {
    case 0:
        do {
            pass(4);
        case 3:
            pass(3);
        case 2:
            pass(2);
        case 1:
            pass(1);
        } while (--n > 0);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    passes(5);
    passes(8);
    MPI_Finalize();
    return 0;
}
