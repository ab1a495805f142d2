/* The last value behind a lock depends on the threads. expect: refused threads: 3 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
static char data[4096];
static omp_lock_t l;
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = 0, last = 0;
    omp_init_lock(&l);
#pragma omp parallel for
    for (int i = 0; i < 30; i++) {
        omp_set_lock(&l);
        last = i * (n > 3);
        n++;
        omp_unset_lock(&l);
    }
    MPI_Bcast(data, last + 1, MPI_CHAR, 0, MPI_COMM_WORLD);

    MPI_Finalize();
    return 0;
}
