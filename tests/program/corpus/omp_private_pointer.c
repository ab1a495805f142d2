/* A pointer to a private variable. threads: 3 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
static char data[4096];
static void set(int *p)
{
    *p = 40;
}
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = 6;
#pragma omp parallel private(n)
    set(&n);
    MPI_Bcast(data, n, MPI_CHAR, 0, MPI_COMM_WORLD);

    MPI_Finalize();
    return 0;
}
