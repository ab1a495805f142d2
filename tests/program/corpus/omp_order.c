/* What comes last in a critical section depends on the threads. expect: refused threads: 3 */
#include <mpi.h>

int main(int argc, char **argv)
{
    static char data[4096];
    int n = 5;

    MPI_Init(&argc, &argv);
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
#pragma omp critical(name)
        n = n / 2 + i % 7;
    MPI_Bcast(data, n > 0 ? 10 : 20, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
