/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of a node share a field; a neighbour's part is read without a message. */
#include <mpi.h>

#define N 1000

int main(int argc, char **argv)
{
    double *field, *left = NULL, sum = 0;
    int rank, size, unit, all;
    MPI_Comm node;
    MPI_Aint bytes;
    MPI_Win window;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    MPI_Win_allocate_shared(N * sizeof(double), sizeof(double), MPI_INFO_NULL, node, &field,
                            &window);
    MPI_Win_shared_query(window, (rank + size - 1) % size, &bytes, &unit, &left);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < N; i++)
        field[i] = rank;
    MPI_Win_sync(window);
    MPI_Barrier(node);
    for (int i = 0; i < N; i++)
        sum += left[i];
    MPI_Win_unlock_all(window);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(field, (int)(bytes / unit), MPI_DOUBLE, 0, node);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
