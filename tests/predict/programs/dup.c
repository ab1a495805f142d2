/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a duplicate do not meet those of the original. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    int a = 0, b = 0;
    MPI_Comm copy;
    MPI_Request requests[2];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (rank == 0 && size > 1) {
        MPI_Isend(&a, 1, MPI_INT, 1, 0, copy, &requests[0]);
        MPI_Isend(&b, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(&b, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&a, 1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(copy);
    MPI_Finalize();
    return 0;
}
