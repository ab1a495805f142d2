/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that wait for others in loops of one-sided calls: each waits for its left neighbour, the
 * last one begins. On one core, and in virtual time, the loops must let the others run.
 */
#include "../check.h"

static int rank, size, right;

static void start_at_last(void (*wait)(void), void (*tell)(void))
{
    if (rank != size - 1)
        wait();
    tell();
    if (rank == size - 1)
        wait();
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Win win;
static int *flag;
static int turn; /* of this rank, counted from 1 */

static void tell(void)
{
    MPI_Accumulate(&turn, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(right, win);
}

static void wait_by_fetch(void)
{
    int found = 0;

    while (found != turn) {
        MPI_Fetch_and_op(&found, &found, MPI_INT, rank, 0, MPI_NO_OP, win);
        MPI_Win_flush(rank, win);
    }
}

static void wait_by_swap(void)
{
    int found = 0;

    while (found != turn) {
        MPI_Compare_and_swap(&turn, &turn, &found, MPI_INT, rank, 0, win);
        MPI_Win_flush_all(win);
    }
}

static void wait_by_request(void)
{
    MPI_Request request;
    int found = 0;

    while (found != turn) {
        MPI_Rget_accumulate(&found, 1, MPI_INT, &found, 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_NO_OP,
                            win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void wait_by_lock(void)
{
    int found = 0;

    while (found != turn) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
        found = *flag;
        MPI_Win_unlock(rank, win);
    }
}

static void tell_by_lock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    MPI_Put(&turn, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_unlock(right, win);
}

/* The unified model: what others have put is there after MPI_Win_sync. */
static void wait_by_sync(void)
{
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != turn)
        MPI_Win_sync(win);
}

int main(int argc, char **argv)
{
    void (*const ways[])(void) = {wait_by_fetch, wait_by_swap, wait_by_request, wait_by_sync};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &flag, &win);
    *flag = 0;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++) {
        turn = i + 1;
        start_at_last(ways[i], tell);
    }
    MPI_Win_unlock_all(win);
    turn = 5;
    start_at_last(wait_by_lock, tell_by_lock);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
