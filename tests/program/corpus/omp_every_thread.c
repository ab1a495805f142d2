/* Each thread of the team adds one. expect: refused threads: 3 */
#include <mpi.h>

int main(int argc, char **argv)
{
    static char data[4096];
    int n = 5;

    MPI_Init(&argc, &argv);
#pragma omp parallel
    {
#pragma omp atomic
        n++;
    }
    MPI_Bcast(data, n, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
