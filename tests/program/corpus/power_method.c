/* SPDX-License-Identifier: BSD-3-Clause */
/* Power iteration with a known number of steps; the residual is printed only. arguments: 48 5 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MASTER 0
#define FATAL(...)                                                                                 \
    {                                                                                              \
        fprintf(stderr, __VA_ARGS__);                                                              \
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);                                                   \
    }

int taskid, numtasks;
double *A, *x, *y;

static void generate(int rows, int n)
{
    A = (double *)malloc(rows * n * sizeof(double));
    x = (double *)malloc(n * sizeof(double));
    y = (double *)malloc(rows * sizeof(double));
    if (!A || !x || !y)
        FATAL("no memory for %d rows\n", rows)
    for (int i = 0; i < rows * n; i++)
        A[i] = (i * 7 % 13) / 13.0;
    for (int i = 0; i < n; i++)
        x[i] = 1.0;
}

int main(int argc, char **argv)
{
    int n, iterations, rows, it;
    double norm, local, start;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &taskid);
    MPI_Comm_size(MPI_COMM_WORLD, &numtasks);
    if (argc < 3)
        FATAL("usage: %s N ITERATIONS\n", argv[0])
    n = atoi(argv[1]), iterations = atoi(argv[2]);
    if (n % numtasks != 0)
        n += numtasks - n % numtasks;
    rows = n / numtasks;
    generate(rows, n);
    start = MPI_Wtime();
    for (it = 0; it < iterations; ++it) {
        local = 0;
        for (int i = 0; i < rows; i++) {
            y[i] = 0;
            for (int j = 0; j < n; j++)
                y[i] += A[i * n + j] * x[j];
            local += y[i] * y[i];
        }
        MPI_Reduce(&local, &norm, 1, MPI_DOUBLE, MPI_SUM, MASTER, MPI_COMM_WORLD);
        if (taskid == MASTER)
            norm = sqrt(norm);
        MPI_Bcast(&norm, 1, MPI_DOUBLE, MASTER, MPI_COMM_WORLD);
        for (int i = 0; i < rows; i++)
            y[i] /= norm;
        MPI_Allgather(y, rows, MPI_DOUBLE, x, rows, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    if (taskid == MASTER)
        printf("%g in %g s\n", norm, MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
