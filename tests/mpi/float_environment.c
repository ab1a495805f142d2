/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank has a floating-point environment of its own, as a process has: it starts with no flag
 * raised, keeps the flags and the rounding mode that it set over calls in which other ranks run,
 * and no call of the library raises a flag that tells of an error.
 */
#include "check.h"

#include <fenv.h>
#include <stdlib.h>

enum { ROUNDS = 20, ERRORS = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW };

static int raise_flags(int which)
{
    static const int flags[] = {0, FE_INVALID, FE_DIVBYZERO, FE_OVERFLOW};

    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(flags[which % 4]);
    return flags[which % 4];
}

/* Results of calls are exact in every rounding mode. */
static void call_everything(int rank, int size)
{
    double mine[4] = {rank, 1, 2, 3}, sum[4], *all = malloc((size_t)size * sizeof(double));
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request request;
    MPI_Win window;
    MPI_Comm comm;

    CHECK(all != NULL);
    MPI_Sendrecv(mine, 4, MPI_DOUBLE, to, 1, sum, 4, MPI_DOUBLE, from, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(sum[0] == from);
    MPI_Allreduce(mine, sum, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum[0] == size * (size - 1) / 2);
    MPI_Iallgather(mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(all[size - 1] == size - 1);
    MPI_Bcast(sum, 4, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Win_create(sum, sizeof(sum), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(mine, 1, MPI_DOUBLE, to, 0, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    CHECK(MPI_Wtime() > 0);
    free(all);
}

int main(int argc, char **argv)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    int rank, size, mine;

    CHECK_EQUAL(fetestexcept(ERRORS), 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_EQUAL(fetestexcept(ERRORS), 0);
    CHECK_EQUAL(fegetround(), FE_TONEAREST);
    call_everything(rank, size);
    CHECK_EQUAL(fetestexcept(ERRORS), 0);
    fesetround(modes[rank % 4]);
    for (int i = 0; i < ROUNDS; i++) {
        mine = raise_flags(rank + i);
        call_everything(rank, size);
        CHECK_EQUAL(fetestexcept(ERRORS), mine);
        CHECK_EQUAL(fegetround(), modes[rank % 4]);
    }
    fesetround(FE_TONEAREST);
    MPI_Finalize();
    CHECK_EQUAL(fetestexcept(ERRORS), mine);
    return 0;
}
