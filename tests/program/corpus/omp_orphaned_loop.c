/* A loop of the team in a function. threads: 3 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
static char data[4096];
static int t[60];
static void fill(void)
{
#pragma omp for
    for (int i = 0; i < 60; i++)
        t[i] = i;
}
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

#pragma omp parallel
    fill();
    MPI_Bcast(data, t[44], MPI_CHAR, 0, MPI_COMM_WORLD);

    MPI_Finalize();
    return 0;
}
