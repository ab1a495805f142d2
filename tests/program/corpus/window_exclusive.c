/* SPDX-License-Identifier: BSD-3-Clause */
/* Exclusive and shared locks of one target, which wait for each other. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, list[64] = {0}, next, length;
    MPI_Win window;
    char data[4096];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(list, sizeof(list), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    /* Append to the list on the last rank. */
    for (int i = 0; i < 4; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, window);
        MPI_Get(&next, 1, MPI_INT, size - 1, 0, 1, MPI_INT, window);
        MPI_Win_flush(size - 1, window);
        next++;
        length = 100 * rank + 10 * i + next;
        MPI_Put(&length, 1, MPI_INT, size - 1, next, 1, MPI_INT, window);
        MPI_Put(&next, 1, MPI_INT, size - 1, 0, 1, MPI_INT, window);
        MPI_Win_unlock(size - 1, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, size - 1, 0, window);
    MPI_Get(list, 64, MPI_INT, size - 1, 0, 64, MPI_INT, window);
    MPI_Win_unlock(size - 1, window);
    for (int i = 1; i <= list[0]; i++)
        MPI_Bcast(data, list[i] + i, MPI_CHAR, i % size, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
