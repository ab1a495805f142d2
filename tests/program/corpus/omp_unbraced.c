/* A directive between if and else. threads: 3 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
static char data[4096];

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int s = 3;
    if (rank >= 0)
#pragma omp parallel for
        for (int i = 0; i < 10; i++)
            data[i] = 0;
    else
        s = 9;
    MPI_Bcast(data, s, MPI_CHAR, 0, MPI_COMM_WORLD);

    MPI_Finalize();
    return 0;
}
