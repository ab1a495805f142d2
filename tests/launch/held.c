/* SPDX-License-Identifier: BSD-3-Clause */
/* held: rank 0 puts and adds small values into the window of rank 1, with a flush now and then, and
 * rank 1 sees all of them. */
#include <mpi.h>
#include <stdio.h>

enum { COUNT = 1000, EVERY = 250 };

int main(int argc, char **argv)
{
    long *memory, value, one = 1;
    int rank, wrong = 0;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate((COUNT + 1) * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &win);
    for (int i = 0; i <= COUNT; i++)
        memory[i] = 0;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < COUNT; i++) {
        value = i + 7;
        MPI_Put(&value, 1, MPI_LONG, 1, i, 1, MPI_LONG, win);
        value = -1; /* the call has taken the value */
        MPI_Accumulate(&one, 1, MPI_LONG, 1, COUNT, 1, MPI_LONG, MPI_SUM, win);
        if (i % EVERY == EVERY - 1) {
            MPI_Win_flush(1, win);
            MPI_Fetch_and_op(NULL, &value, MPI_LONG, 1, COUNT, MPI_NO_OP, win);
            MPI_Win_flush(1, win);
            wrong += value != i + 1;
        }
    }
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    for (int i = 0; rank == 1 && i < COUNT; i++)
        wrong += memory[i] != i + 7;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (rank == 0)
        printf("%d wrong\n", wrong);
    MPI_Finalize();
    return 0;
}
