/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives on a ring. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm ring;
    int periods = 1;
    double mine[3] = {0}, theirs[6], out[4] = {0}, in[4];

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &ring);
    MPI_Neighbor_allgather(mine, 3, MPI_DOUBLE, theirs, 3, MPI_DOUBLE, ring);
    MPI_Neighbor_alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, ring);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
