/* Loop counters and private variables declared in front keep their values. threads: 2 */
#include <mpi.h>

int main(int argc, char **argv)
{
    static char data[4096];
    int rank, i = 21, found = 3, last = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel for lastprivate(last)
    for (int k = 0; k < 40; k++)
        last = k * 2;
#pragma omp parallel for private(i)
    for (int k = 0; k < 100; k++)
        for (i = 0; i < 10; i++)
            data[k * 10 + i] = (char)i;
    MPI_Bcast(data, i, MPI_CHAR, 0, MPI_COMM_WORLD);
#pragma omp parallel for firstprivate(found)
    for (int k = 0; k < 100; k++)
        data[k + found] = (char)k;
    MPI_Bcast(data, last + found, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
