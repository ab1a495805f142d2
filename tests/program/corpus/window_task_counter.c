/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks are taken from a counter on rank 0; results are as long as the tasks say. */
#include <mpi.h>

static void take_tasks(MPI_Win counter, int tasks, int rank)
{
    long one = 1, task;
    double result[64] = {0};

    for (;;) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, counter);
        MPI_Fetch_and_op(&one, &task, MPI_LONG, 0, 0, MPI_SUM, counter);
        MPI_Win_unlock(0, counter);
        if (task >= tasks)
            break;
        MPI_Send(result, (int)(task % 7) + 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    (void)rank;
}

int main(int argc, char **argv)
{
    int rank, size, tasks = 25;
    long *value;
    double room[64];
    MPI_Win counter;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(rank == 0 ? sizeof(long) : 0, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &value, &counter);
    if (rank == 0)
        *value = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0)
        take_tasks(counter, tasks, rank);
    else
        for (int i = 0; i < tasks && size > 1; i++)
            MPI_Recv(room, 64, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&counter);
    MPI_Finalize();
    return 0;
}
