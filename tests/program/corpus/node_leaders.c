/* SPDX-License-Identifier: BSD-3-Clause */
/* Two levels: inside the node, then among the leaders of the nodes. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, node_rank, node_size, leaders_size = 0;
    MPI_Comm node, leaders;
    double *x = calloc(256, sizeof(double));

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &node_size);
    MPI_Comm_split(MPI_COMM_WORLD, node_rank == 0 ? 0 : MPI_UNDEFINED, rank, &leaders);
    MPI_Reduce(node_rank ? x : MPI_IN_PLACE, node_rank ? NULL : x, 256, MPI_DOUBLE, MPI_SUM, 0,
               node);
    if (leaders != MPI_COMM_NULL) {
        MPI_Comm_size(leaders, &leaders_size);
        MPI_Allreduce(MPI_IN_PLACE, x, 256, MPI_DOUBLE, MPI_SUM, leaders);
        MPI_Comm_free(&leaders);
    }
    MPI_Bcast(&leaders_size, 1, MPI_INT, 0, node);
    MPI_Bcast(x, 256 / leaders_size, MPI_DOUBLE, 0, node);
    if (node_rank)
        MPI_Send(x, node_size, MPI_DOUBLE, 0, 0, node);
    else
        for (int i = 1; i < node_size; i++)
            MPI_Recv(x, 256, MPI_DOUBLE, i, 0, node, MPI_STATUS_IGNORE);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
