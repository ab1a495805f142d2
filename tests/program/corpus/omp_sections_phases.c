/* Sections, a team over several loops, MPI by the master. threads: 4 arguments: 60 */
#include <mpi.h>
#include <stdlib.h>

static double left[4096], right[4096], sum[4096];

static void smooth(double *x, int n)
{
    for (int pass = 0; pass < 3; pass++)
        for (int i = 1; i < n - 1; i++)
            x[i] = (x[i - 1] + x[i + 1]) / 2;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 100, rank, size, provided, messages = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#pragma omp parallel shared(left, right) default(shared)
    {
#pragma omp sections
        {
#pragma omp section
            smooth(left, n);
#pragma omp section
            smooth(right, 2 * n);
        }
#pragma omp for collapse(2) schedule(static, 8)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < 4; k++)
                sum[i * 4 + k] = left[i] + right[k];
#pragma omp master
        {
            MPI_Sendrecv(sum, n, MPI_DOUBLE, (rank + 1) % size, 7, left, n, MPI_DOUBLE,
                         (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            messages++;
        }
#pragma omp barrier
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < n; i++)
            smooth(sum + i, n - i);
    }
    MPI_Allreduce(MPI_IN_PLACE, sum, messages * n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
