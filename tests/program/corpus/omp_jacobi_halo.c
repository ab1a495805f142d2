/* A Jacobi iteration with halos, rows shared by threads. threads: 3 arguments: 48 5 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 32, steps = argc > 2 ? atoi(argv[2]) : 4, rank, size,
        provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int rows = n / size + (rank < n % size), up = rank > 0 ? rank - 1 : MPI_PROC_NULL,
        down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    double *a = calloc((size_t)(rows + 2) * n, sizeof(double)),
           *b = calloc((size_t)(rows + 2) * n, sizeof(double));

    for (int step = 0; step < steps; step++) {
        double error = 0, all;

        MPI_Sendrecv(a + n, n, MPI_DOUBLE, up, 0, a + (rows + 1) * n, n, MPI_DOUBLE, down, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(a + rows * n, n, MPI_DOUBLE, down, 1, a, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
#pragma omp parallel for schedule(static) reduction(+ : error)
        for (int i = 1; i <= rows; i++)
            for (int j = 1; j < n - 1; j++) {
                b[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] +
                                       a[i * n + j + 1]);
                error += b[i * n + j] - a[i * n + j];
            }
#pragma omp parallel for
        for (int i = 0; i < (rows + 2) * n; i++)
            a[i] = b[i];
        MPI_Allreduce(&error, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
