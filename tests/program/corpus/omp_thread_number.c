/* The number of a thread is not known. expect: asked threads: 2 */
#include <mpi.h>
#include <omp.h>

int main(int argc, char **argv)
{
    static char data[4096];
    int sums[64] = {0}, n = 0;

    MPI_Init(&argc, &argv);
#pragma omp parallel
    sums[omp_get_thread_num()] = 10;
    for (int i = 0; i < 64; i++)
        n += sums[i];
    MPI_Bcast(data, n, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
