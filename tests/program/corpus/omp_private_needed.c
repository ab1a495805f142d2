/* A private variable has its old value behind the block. threads: 2 */
#include <mpi.h>

int main(int argc, char **argv)
{
    static char data[4096];
    int rank, n = 5, i;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel for private(n)
    for (i = 0; i < 100; i++) {
        n = i;
        data[n] = 1;
    }
    MPI_Bcast(data, n, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
