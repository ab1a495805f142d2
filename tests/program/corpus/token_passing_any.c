/* SPDX-License-Identifier: BSD-3-Clause */
/* Who holds the token passes it to whoever asked first, by a queue in the token. */
#include <mpi.h>
#include <string.h>

#define MAXQ 16

struct token {
    int turn, length;
    int queue[MAXQ];
};

int main(int argc, char **argv)
{
    struct token t;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        memset(&t, 0, sizeof(t));
        for (int i = 1; i < size; i++)
            t.queue[t.length++] = (i * 2) % size ? (i * 2) % size : 1;
    } else {
        MPI_Recv(&t, sizeof(t), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    for (;;) {
        int to = -1;

        if (t.length < 0)
            break;
        while (t.length > 0 && to < 0) {
            to = t.queue[0];
            memmove(t.queue, t.queue + 1, --t.length * sizeof(int));
            if (to == rank)
                to = -1;
        }
        t.turn++;
        if (to < 0) {
            t.length = -1;
            for (int i = 0; i < size; i++)
                if (i != rank)
                    MPI_Send(&t, sizeof(t), MPI_BYTE, i, 99, MPI_COMM_WORLD);
            break;
        }
        MPI_Send(&t, sizeof(t.turn) + sizeof(t.length) + (MAXQ) * sizeof(int), MPI_BYTE, to, t.turn,
                 MPI_COMM_WORLD);
        MPI_Recv(&t, sizeof(t), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    char done[64] = {0};
    MPI_Bcast(done, t.turn, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
