/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that call functions, with a message inside an expression. */
#include <mpi.h>
static int everywhere(int mine)
{
    int sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}
static int average(int mine, int size)
{
    return everywhere(mine) / size;
}
int main(int argc, char **argv)
{
    int rank, size;
    static char data[1000];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (average(rank, size) >= 0 && rank < size)
        MPI_Bcast(data, 10 + everywhere(1) + average(size, size), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
