/* The number of threads steers the messages: each thread has a block. threads: 3 */
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, blocks = omp_get_max_threads();

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *data = calloc(1000, sizeof(double));
    for (int b = 0; b < blocks; b++)
        MPI_Bcast(data, 10 + b, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    omp_set_num_threads(2);
#pragma omp parallel for num_threads(blocks + 1)
    for (int i = 0; i < 1000; i++)
        data[i] += i;
#pragma omp parallel for if (blocks > 100)
    for (int i = 0; i < 1000; i++)
        data[i] += i;
    if (omp_get_max_threads() == 2)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(data, omp_get_max_threads() * 100, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
