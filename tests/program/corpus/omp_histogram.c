/* A histogram whose counts are lengths of messages, by a reduction and by a critical section.
 * threads: 2 */
#include <mpi.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { BINS = 8, N = 200 };

int main(int argc, char **argv)
{
    static int values[N];
    int rank, size, even = 0, counts[BINS] = {0}, all[BINS];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        values[i] = (i * 7 + rank * 13) % 61;
#pragma omp parallel for reduction(+ : even)
    for (int i = 0; i < N; i++)
        if (values[i] % 2 == 0)
            even++;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 16)
        for (int i = 0; i < N; i++)
#pragma omp critical
            counts[values[i] % BINS]++;
#pragma omp master
        MPI_Allreduce(counts, all, BINS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#pragma omp barrier
    }
    char *buffer = malloc(4 * N * size);
    if (rank > 0)
        MPI_Send(buffer, even, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    else
        for (int i = 1; i < size; i++)
            MPI_Recv(buffer, N, MPI_CHAR, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int b = 0; b < BINS; b++)
        MPI_Bcast(buffer, all[b], MPI_CHAR, b % size, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
