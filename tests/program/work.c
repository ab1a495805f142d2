/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops that compute between messages. */
#include <mpi.h>
#include <stdio.h>
enum { N = 20 };
static double a[N][N], b[N][N], c[N][N];
static void multiply(int rows)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                c[i][j] += a[i][k] * b[k][j];
}
static void triangle(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            a[i][j] = i - j;
}
int main(int argc, char **argv)
{
    int i, rank, size;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    triangle();
    for (i = 0; i < N; i++)
        b[i][i] = 1;
    for (i = 0; i < 3; i++) {
        MPI_Bcast(a, N * N, MPI_DOUBLE, i % size, MPI_COMM_WORLD);
        multiply(N / size);
    }
    for (i = N - 1; i >= 0; i -= 2)
        sum += c[i][i];
    if (rank == 0)
        printf("%g\n", sum);
    MPI_Finalize();
    return 0;
}
