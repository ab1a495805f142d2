/* SPDX-License-Identifier: BSD-3-Clause */
/* Large MPI_Isendrecv while ranks compute: with communication cores, those copy the messages, which
 * are parts of a larger request. */
#include "check.h"

#include <stdlib.h>

enum { LONGS = 40000, TURNS = 200, WORK = 2000 };

int main(int argc, char **argv)
{
    int rank, size;
    long *out = malloc(LONGS * sizeof(long)), *in = malloc(LONGS * sizeof(long));
    volatile double work = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int turn = 0; turn < TURNS; turn++) {
        int right = (rank + 1 + turn) % size, left = (rank + 2 * size - 1 - turn % size) % size;
        MPI_Request request;
        MPI_Status status;

        for (int i = 0; i < LONGS; i += 97)
            out[i] = rank * 1000003L + turn * 31 + i;
        MPI_Isendrecv(out, LONGS, MPI_LONG, right, turn, in, LONGS, MPI_LONG, left, turn,
                      MPI_COMM_WORLD, &request);
        for (int i = 0; i < WORK * (rank % 3); i++)
            work = work * 1.0000001;
        MPI_Wait(&request, &status);
        CHECK_EQUAL(status.MPI_SOURCE, left);
        for (int i = 0; i < LONGS; i += 97)
            CHECK(in[i] == left * 1000003L + turn * 31 + i);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
