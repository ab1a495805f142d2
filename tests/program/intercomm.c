/* SPDX-License-Identifier: BSD-3-Clause */
/* Two groups: messages between them, collectives that move blocks, groups of groups. */
#include <mpi.h>
static double a[256], b[256];
static void regroup(MPI_Comm inter, int own_rank, int side, int size)
{
    MPI_Comm again, odd, merged;
    MPI_Group other;
    int rank, n;
    MPI_Comm_dup(inter, &again);
    MPI_Comm_split(again, own_rank % 2, -own_rank, &odd);
    if (odd != MPI_COMM_NULL) {
        MPI_Comm_remote_group(odd, &other);
        MPI_Group_size(other, &n);
        MPI_Send(a, 30 * n, MPI_DOUBLE, 0, own_rank, odd);
        MPI_Comm_rank(odd, &rank);
        for (int i = 0; rank == 0 && i < n; i++)
            MPI_Recv(b, 256, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, odd, MPI_STATUS_IGNORE);
        MPI_Group_free(&other);
        MPI_Comm_free(&odd);
    }
    MPI_Intercomm_merge(again, side, &merged);
    MPI_Comm_rank(merged, &rank);
    if (rank == 0)
        MPI_Send(a, 20, MPI_DOUBLE, size - 1, 0, merged);
    if (rank == size - 1)
        MPI_Recv(b, 20, MPI_DOUBLE, 0, 0, merged, MPI_STATUS_IGNORE);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&again);
}
int main(int argc, char **argv)
{
    int rank, size, side, first, own, own_rank, remote, flag, n = 0, counts[64], at[64];
    MPI_Comm half, inter;
    MPI_Request r;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        MPI_Finalize();
        return 0;
    }
    first = (size + 2) / 3; /* ranks of the first group, which is the smaller one */
    side = rank < first;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Comm_size(half, &own);
    MPI_Intercomm_create(half, own - 1, MPI_COMM_WORLD, side ? size - 1 : first - 1, 7, &inter);
    MPI_Comm_rank(inter, &own_rank);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Comm_test_inter(inter, &flag);
    if (flag)
        MPI_Send(a, 10 + own_rank, MPI_DOUBLE, own_rank % remote, side, inter);
    for (int i = own_rank; i < remote; i++)
        if (i % own == own_rank) {
            MPI_Recv(b, 256, MPI_DOUBLE, i, !side, inter, &status);
            MPI_Send(a, 1 + status.MPI_SOURCE, MPI_DOUBLE, i, 2, inter);
        }
    MPI_Recv(b, 256, MPI_DOUBLE, MPI_ANY_SOURCE, 2, inter, &status);
    /* the root of each: the last of the first group */
    n = side ? 4 : 0;
    MPI_Bcast(&n, 1, MPI_INT,
              !side                 ? first - 1
              : own_rank == own - 1 ? MPI_ROOT
                                    : MPI_PROC_NULL,
              inter);
    for (int i = 0; i < n; i++)
        MPI_Bcast(a, 33, MPI_DOUBLE, side ? 0 : own_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Gather(a, 5, MPI_DOUBLE, b, 5, MPI_DOUBLE,
               side ? own_rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0, inter);
    MPI_Scatter(a, 6, MPI_DOUBLE, b, 6, MPI_DOUBLE,
                side ? own_rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0, inter);
    for (int i = 0; i < remote; i++) {
        counts[i] = 1 + i;
        at[i] = i * (i + 1) / 2;
    }
    MPI_Gatherv(a, 1 + own_rank, MPI_DOUBLE, b, counts, at, MPI_DOUBLE,
                side ? own_rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0, inter);
    MPI_Allgather(a, 8, MPI_DOUBLE, b, 8, MPI_DOUBLE, inter);
    MPI_Alltoall(a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, inter);
    MPI_Iallgatherv(a, 1 + own_rank, MPI_DOUBLE, b, counts, at, MPI_DOUBLE, inter, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Alltoall_init(a, 3, MPI_DOUBLE, b, 3, MPI_DOUBLE, inter, MPI_INFO_NULL, &r);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&r);
    MPI_Barrier(inter);
    regroup(inter, own_rank, side, size);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
