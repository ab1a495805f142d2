/* SPDX-License-Identifier: BSD-3-Clause */
/* A pointer that walks over an array of partners. */
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size, partners[16] = {0}, count = 0, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int r = 1; r < size && r < 16; r += 2)
        partners[count++] = r;
    for (int *p = partners; p < partners + count; p++) {
        if (rank == 0)
            MPI_Send(&x, 1, MPI_INT, *p, 5, MPI_COMM_WORLD);
        if (rank == *p)
            MPI_Recv(&x, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
