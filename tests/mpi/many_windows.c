/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Twenty windows of each rank at a time, made, used and freed several times: the memory of the
 * process does not grow after the first time. Any number of ranks.
 */
#include <sys/resource.h>

#include "check.h"

/* The memory of all ranks settles in the first rounds: less is new in each. */
enum { WINDOWS = 20, WARM = 5, ROUNDS = 8 };

static int rank, size;

/* The most memory that the process has had, kB. */
static long memory(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static MPI_Win make(int kind)
{
    MPI_Win win;
    char *base;

    if (kind == 0)
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    else if (kind == 1)
        MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    else
        MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    return win;
}

/* Ranks lock, start and post, which takes memory of its own. */
static void use(MPI_Win win)
{
    int next = (rank + 1) % size;
    MPI_Group all, one, other;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    MPI_Win_unlock(next, win);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &next, &one);
    MPI_Group_incl(all, 1, (int[]){(rank + size - 1) % size}, &other);
    MPI_Win_post(other, 0, win);
    MPI_Win_start(one, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&all);
    MPI_Group_free(&one);
    MPI_Group_free(&other);
}

int main(int argc, char **argv)
{
    MPI_Win wins[WINDOWS];
    long first = 0, last = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < WINDOWS; i++)
            wins[i] = make(i % 3);
        for (int i = 0; i < 2; i++)
            use(wins[i]);
        last = memory();
        first = round == WARM - 1 ? last : first;
        for (int i = 0; i < WINDOWS; i++)
            MPI_Win_free(&wins[i]);
    }
    /* A window that leaked would be at least 256 bytes of each rank in each round. */
    if (!XYLEM_SANITIZED && rank == 0)
        CHECK(last - first < 2048 + (long)size * (ROUNDS - WARM) * WINDOWS / 8);
    MPI_Finalize();
    return 0;
}
