/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in an array that grows. */
#include <mpi.h>
static double out[100], in[8][100];
int main(int argc, char **argv)
{
    int rank, size, n = 0;
    MPI_Request requests[16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int d = 1; d <= 3; d++) {
        if (rank - d >= 0)
            MPI_Irecv(in[d], 10 * d, MPI_DOUBLE, rank - d, d, MPI_COMM_WORLD, &requests[n++]);
        if (rank + d < size)
            MPI_Isend(out, 10 * d, MPI_DOUBLE, rank + d, d, MPI_COMM_WORLD, requests + n++);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
