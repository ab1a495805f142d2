/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages round a ring and a sum; with an argument, a datatype is left at the end. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, got = -1, sum = 0;
    MPI_Datatype left;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &got, 1, MPI_INT,
                 (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 1)
        MPI_Type_contiguous(3, MPI_INT, &left); /* line 18 */
    printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
