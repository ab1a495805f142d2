/* SPDX-License-Identifier: BSD-3-Clause */
/* A master hands out work of known sizes to whoever asks; a tag ends it. ranks: 4 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKTAG 1
#define DIETAG  2

static int next_item = 0;
static int get_next_work_item(int *size)
{
    if (next_item >= 9)
        return 0;
    *size = 10;
    next_item++;
    return 1;
}

static void master(int ntasks)
{
    double work[16] = {0}, result;
    MPI_Status status;
    int n;

    for (int rank = 1; rank < ntasks; ++rank) {
        get_next_work_item(&n);
        MPI_Send(work, n, MPI_DOUBLE, rank, WORKTAG, MPI_COMM_WORLD);
    }
    for (int r = 1; get_next_work_item(&n); r = r % (ntasks - 1) + 1) {
        MPI_Recv(&result, 1, MPI_DOUBLE, r, 0, MPI_COMM_WORLD, &status);
        MPI_Send(work, n, MPI_DOUBLE, status.MPI_SOURCE, WORKTAG, MPI_COMM_WORLD);
    }
    for (int rank = 1; rank < ntasks; ++rank)
        MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    for (int rank = 1; rank < ntasks; ++rank)
        MPI_Send(0, 0, MPI_INT, rank, DIETAG, MPI_COMM_WORLD);
}

static void worker(void)
{
    double work[16], result;
    MPI_Status status;

    for (;;) {
        MPI_Recv(work, 16, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == DIETAG)
            return;
        result = work[0] * 2;
        MPI_Send(&result, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int myrank, ntasks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &myrank);
    MPI_Comm_size(MPI_COMM_WORLD, &ntasks);
    if (myrank == 0)
        master(ntasks);
    else
        worker();
    MPI_Finalize();
    return 0;
}
