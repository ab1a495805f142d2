/* SPDX-License-Identifier: BSD-3-Clause */
/* Lengths that neighbours put into each other's windows; the messages behind them are that long. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, *lengths, mine;
    MPI_Win window;
    char data[4096] = {0}, room[4096];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    lengths = calloc(size, sizeof(int));
    MPI_Win_create(lengths, size * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    for (int to = 0; to < size; to++) {
        mine = 10 * rank + to + 1;
        MPI_Put(&mine, 1, MPI_INT, to, rank, 1, MPI_INT, window);
    }
    MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, window);
    for (int k = 1; k < size; k++) {
        int to = (rank + k) % size, from = (rank + size - k) % size;

        MPI_Sendrecv(data, 10 * rank + to + 1, MPI_CHAR, to, 0, room, lengths[from], MPI_CHAR, from,
                     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, lengths[from] * 2, MPI_CHAR, from, 1, MPI_COMM_WORLD);
        MPI_Recv(room, 4096, MPI_CHAR, to, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Win_free(&window);
    free(lengths);
    MPI_Finalize();
    return 0;
}
