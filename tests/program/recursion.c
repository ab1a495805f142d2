/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that call themselves: by halves of a communicator, by levels, for a number. */
#include <mpi.h>
#include <stdlib.h>
static double x[1000], y[1000];
static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static void halve(MPI_Comm c, int n)
{
    int rank, size, peer;
    MPI_Comm half;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    if (size == 1)
        return;
    MPI_Bcast(x, n, MPI_DOUBLE, 0, c);
    peer = rank < size / 2 ? rank + size / 2 : rank - size / 2;
    if (peer < size / 2 * 2)
        MPI_Sendrecv(x, n, MPI_DOUBLE, peer, 0, y, n, MPI_DOUBLE, peer, 0, c, MPI_STATUS_IGNORE);
    MPI_Comm_split(c, rank < size / 2, rank, &half);
    halve(half, n / 2);
    MPI_Barrier(half);
    MPI_Comm_free(&half);
    MPI_Bcast(y, n, MPI_DOUBLE, size - 1, c);
}
static void even(int n);
static void odd(int n)
{
    MPI_Bcast(x, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (n > 0)
        even(n - 1);
}
static void even(int n)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (n > 0)
        odd(n - 1);
    MPI_Bcast(y, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size % 2 == 0 && (size & (size - 1)) == 0)
        halve(MPI_COMM_WORLD, 1000);
    even(5);
    for (int i = 0; i < fib(5); i++)
        MPI_Bcast(x, 10 * i, MPI_DOUBLE, i % size, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
