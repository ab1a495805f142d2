/* SPDX-License-Identifier: BSD-3-Clause */
/* Many operations on one place in one epoch: with --check they are not all compared with each
 * other. */
#include "../check.h"

int main(int argc, char **argv)
{
    enum { COUNT = XYLEM_SANITIZED ? 1000 : 250000 };
    int rank, size, counter = 0, one = 1, found;
    MPI_Win win;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(&counter, rank == 0 ? sizeof counter : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < COUNT; i++)
        MPI_Fetch_and_op(&one, &found, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < COUNT; i++)
        MPI_Get(&found, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK_EQUAL(found, size * COUNT);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
