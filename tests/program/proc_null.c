/* SPDX-License-Identifier: BSD-3-Clause */
/* A line with MPI_PROC_NULL at its ends. */
#include <mpi.h>
static float a[20], b[20];
int main(int argc, char **argv)
{
    int rank, size, left, right;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = rank - 1;
    right = rank + 1;
    if (left < 0)
        left = MPI_PROC_NULL;
    if (right >= size)
        right = MPI_PROC_NULL;
    for (int i = 0; i < 4; i++) {
        MPI_Sendrecv(a, 20, MPI_FLOAT, left, 0, b, 20, MPI_FLOAT, right, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (right != MPI_PROC_NULL)
            MPI_Send(a, 5, MPI_FLOAT, right, 1, MPI_COMM_WORLD);
        if (left != MPI_PROC_NULL)
            MPI_Recv(b, 5, MPI_FLOAT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
