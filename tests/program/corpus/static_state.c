/* SPDX-License-Identifier: BSD-3-Clause */
/* A function that remembers. */
#include <mpi.h>

static int next(void)
{
    static int state = 1;

    state = state * 3 % 50;
    return state;
}
static void step(void)
{
    static int calls;
    static char data[64];

    calls++;
    MPI_Bcast(data, next() + calls, MPI_CHAR, 0, MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++)
        step();
    MPI_Finalize();
    return 0;
}
