/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions in a struct of operations. */
#include <mpi.h>
#include <string.h>

struct ops {
    const char *name;
    void (*exchange)(int n, int rank, int size);
    int (*length)(int rank);
};
static void ring(int n, int rank, int size)
{
    char a[128] = {0}, b[128];

    MPI_Sendrecv(a, n, MPI_CHAR, (rank + 1) % size, 0, b, 128, MPI_CHAR, (rank + size - 1) % size,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void tree(int n, int rank, int size)
{
    char a[128] = {0};

    MPI_Bcast(a, n, MPI_CHAR, 0, MPI_COMM_WORLD);
}
static int ten(int rank)
{
    return 10;
}
static int more(int rank)
{
    return 10 + rank;
}
static const struct ops table[] = {{"ring", ring, more}, {"tree", tree, ten}};
int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        table[i].exchange(table[i].length(rank), rank, size);
    MPI_Finalize();
    return 0;
}
