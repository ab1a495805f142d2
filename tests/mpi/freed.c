/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that are freed while their collectives run: all that works on one of these, and all
 * that is recorded of it, ends before its ranks are forgotten.
 *
 *   mpiexec --progress threads --trace t.xyt freed
 */
#include "check.h"

enum { ROUNDS = 60, TOGETHER = 8 };

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[TOGETHER];
        int values[TOGETHER];

        for (int i = 0; i < TOGETHER; i++) {
            MPI_Comm half;

            /* the last rank first, so that the ranks are not those of the world */
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
            values[i] = rank < 2 ? 0 : -1;
            if (size - rank <= 2)
                values[i] = round * TOGETHER + i;
            MPI_Ibcast(&values[i], 1, MPI_INT, 0, half, &requests[i]);
            MPI_Comm_free(&half);
        }
        MPI_Waitall(TOGETHER, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < TOGETHER; i++)
            CHECK_EQUAL(values[i], round * TOGETHER + i);
    }
    MPI_Finalize();
    return 0;
}
