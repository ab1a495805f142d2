/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions between two groups; what one gets of the other decides what is sent. */
#include <mpi.h>
static double a[256], b[256];
int main(int argc, char **argv)
{
    int rank, size, side, own, own_rank, remote, one = 1, n = 0, all[64], sum = 0, counts[64];
    MPI_Comm half, inter;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        MPI_Finalize();
        return 0;
    }
    side = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &inter);
    MPI_Comm_rank(inter, &own_rank);
    MPI_Comm_size(inter, &own);
    MPI_Comm_remote_size(inter, &remote);
    one = 1 + own_rank;
    MPI_Allreduce(&one, &n, 1, MPI_INT, MPI_SUM, inter);
    MPI_Allgather(&n, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int i = 0; i < remote; i++)
        sum += all[i];
    MPI_Send(a, sum + n, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Recv(b, 256, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++) {
        MPI_Reduce(a, b, 40, MPI_DOUBLE, MPI_MAX,
                   side ? own_rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0, inter);
        MPI_Iallreduce(a, b, 50, MPI_DOUBLE, MPI_SUM, inter, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Reduce_scatter_block(a, b, 2 * remote, MPI_DOUBLE, MPI_SUM, inter);
    for (int i = 0; i < own; i++)
        counts[i] = i == 0 ? remote * own - own + 1 : 1;
    MPI_Reduce_scatter(a, b, counts, MPI_DOUBLE, MPI_SUM, inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
