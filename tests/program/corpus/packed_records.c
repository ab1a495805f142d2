/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of different lengths packed one after the other; receivers unpack as many as the head
 * says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *words[] = {"alpha", "be", "gamma ray", "d"};

int main(int argc, char **argv)
{
    int rank, size, at = 0, room = 400, n;
    char buffer[400], word[64];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        n = sizeof(words) / sizeof(words[0]);
        MPI_Pack(&n, 1, MPI_INT, buffer, room, &at, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) {
            int len = (int)strlen(words[i]);
            MPI_Pack(&len, 1, MPI_INT, buffer, room, &at, MPI_COMM_WORLD);
            MPI_Pack(words[i], len, MPI_CHAR, buffer, room, &at, MPI_COMM_WORLD);
        }
        for (int r = 1; r < size; r++)
            MPI_Send(buffer, at, MPI_PACKED, r, 0, MPI_COMM_WORLD);
    } else {
        MPI_Status st;
        int total;

        MPI_Recv(buffer, room, MPI_PACKED, 0, 0, MPI_COMM_WORLD, &st);
        MPI_Get_count(&st, MPI_PACKED, &total);
        MPI_Unpack(buffer, total, &at, &n, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < n; i++) {
            int len;
            MPI_Unpack(buffer, total, &at, &len, 1, MPI_INT, MPI_COMM_WORLD);
            MPI_Unpack(buffer, total, &at, word, len, MPI_CHAR, MPI_COMM_WORLD);
            word[len] = 0;
            MPI_Send(word, len, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    }
    if (rank == 0)
        for (int i = 0; i < 4 * (size - 1); i++)
            MPI_Recv(word, 64, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
