/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters that are written as arrays, with two dimensions. */
#include <mpi.h>
static char data[100];
static void fill(int m[][3], int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++)
            m[i][j] = i * j;
}
static void count(int out[], int n)
{
    while (n-- > 0)
        out[n] = n + 1;
}
static int sum(const int m[][3], int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 3; j++)
            s += m[i][j];
    return s;
}
int main(int argc, char *argv[])
{
    int m[4][3], c[5], rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    fill(m, 4);
    count(c, 5);
    if (rank == 0 && size > 1)
        MPI_Send(data, sum(m, 4) + c[rank + 2], MPI_CHAR, 1, m[3][2], MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(data, 100, MPI_CHAR, 0, m[3][2], MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
