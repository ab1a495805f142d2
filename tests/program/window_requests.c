/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations with requests and flushes in one epoch of MPI_Win_lock_all. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, n = argc > 1 ? atoi(argv[1]) : 6, got[32], sum = 0;
    MPI_Request requests[32];
    MPI_Win window;
    int *cells;
    char data[2048];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Alloc_mem(32 * sizeof(int), MPI_INFO_NULL, &cells);
    MPI_Win_create(cells, 32 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    for (int i = 0; i < n; i++) {
        got[i] = rank + i;
        MPI_Rput(&got[i], 1, MPI_INT, (rank + 1) % size, i, 1, MPI_INT, window, &requests[i]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    MPI_Win_flush((rank + 1) % size, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    for (int i = 0; i < n; i++)
        MPI_Rget(&got[i], 1, MPI_INT, (rank + 2) % size, i, 1, MPI_INT, window, &requests[i]);
    for (int i = 0; i < n; i++) {
        int which;

        MPI_Waitany(n, requests, &which, MPI_STATUS_IGNORE);
        sum += got[which];
    }
    MPI_Win_flush_local_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Raccumulate(&sum, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, MPI_REPLACE, window,
                    &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Win_flush_all(window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(data, sum, MPI_CHAR, (rank + 1) % size, 0, data + 1024, cells[0], MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_free(&window);
    MPI_Free_mem(cells);
    MPI_Finalize();
    return 0;
}
