/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of a node. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm node;
    int n;
    char data[64] = {0};

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Bcast(data, 10 * n, MPI_CHAR, 0, node);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
