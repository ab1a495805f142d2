/* SPDX-License-Identifier: BSD-3-Clause */
/* A table in the window of rank 0, which the others read under a lock. */
#include <mpi.h>
#include <stdlib.h>

#define ENTRIES 16

struct entry {
    int length, times;
};

int main(int argc, char *argv[])
{
    struct entry table[ENTRIES], mine;
    MPI_Win window;
    char data[1000];
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        for (int i = 0; i < ENTRIES; i++) {
            table[i].length = 7 * i + 5;
            table[i].times = i % 3 + 1;
        }
    MPI_Win_create(rank == 0 ? table : NULL, rank == 0 ? sizeof(table) : 0, sizeof(struct entry),
                   MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Get(&mine, sizeof(mine), MPI_BYTE, 0, rank % ENTRIES, sizeof(mine), MPI_BYTE, window);
    MPI_Win_unlock(0, window);
    for (int i = 0; i < mine.times; i++)
        MPI_Send(data, mine.length, MPI_CHAR, (rank + 1) % size, i, MPI_COMM_WORLD);
    for (int i = 0; i < (rank + size - 1) % size % ENTRIES % 3 + 1; i++)
        MPI_Recv(data, 1000, MPI_CHAR, (rank + size - 1) % size, i, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
