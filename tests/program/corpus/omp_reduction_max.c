/* A reduction of the largest element. threads: 3 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
static char data[4096];
static int t[50];
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int m = 0;
    for (int i = 0; i < 50; i++)
        t[i] = i * 7 % 43;
#pragma omp parallel for reduction(max : m)
    for (int i = 0; i < 50; i++)
        if (t[i] > m)
            m = t[i];
    MPI_Bcast(data, m, MPI_CHAR, 0, MPI_COMM_WORLD);

    MPI_Finalize();
    return 0;
}
