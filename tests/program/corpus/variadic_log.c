/* SPDX-License-Identifier: BSD-3-Clause */
/* A variadic function that logs, and one that broadcasts a list of numbers. expect: asked */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

static int rank;

static void logf_(const char *format, ...)
{
    va_list list;

    if (rank != 0)
        return;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}

static void bcast_many(int n, ...)
{
    va_list list;
    static char data[1000];

    va_start(list, n);
    for (int i = 0; i < n; i++) {
        int length = va_arg(list, int);
        MPI_Bcast(data, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
    va_end(list);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    logf_("%d arguments\n", argc);
    bcast_many(3, 10, 20, 30);
    MPI_Finalize();
    return 0;
}
