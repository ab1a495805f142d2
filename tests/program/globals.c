/* SPDX-License-Identifier: BSD-3-Clause */
/* Global and static variables. */
#include <mpi.h>
enum { FIRST = 3, SECOND };
static const int weights[3] = {1, 10, 100};
static int rank, size;
int rounds = FIRST;
static int next(void)
{
    static int calls = 0;
    return calls++ % 3;
}
static void setup(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds += SECOND;
}
int main(int argc, char **argv)
{
    static char data[1000];
    MPI_Init(&argc, &argv);
    setup();
    for (int i = 0; i < rounds; i++)
        MPI_Bcast(data, weights[next()], MPI_CHAR, i % size, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
