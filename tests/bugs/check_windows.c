/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided accesses that meet in one epoch: reported with --check. */
#include "bugs.h"

static MPI_Win window(void)
{
    MPI_Win win;

    MPI_Win_create(others, 256, sizeof(int), MPI_INFO_NULL, world, &win);
    return win;
}

/* ranks: 3
 * options: --check=windows
 * code: 121
 * says: error: rank 2: MPI_Put at @here and MPI_Put of rank 1 at @here use the
 * same memory of rank 0 in one epoch (byte 4 of its window); put MPI_Win_fence
 * between them, or use MPI_Accumulate [rma-conflict]
 */
BUG(check_put_put)
{
    MPI_Win win = window();

    MPI_Win_fence(0, win);
    if (rank > 0)
        MPI_Put(numbers, 1, MPI_INT, 0, wrong ? 1 : rank, 1, MPI_INT, win); // @here
    MPI_Win_fence(0, win);
    if (rank > 0 && !wrong)
        MPI_Put(numbers, 1, MPI_INT, 0, 3 - rank, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* ranks: 3
 * options: --check=windows
 * code: 121
 * says: error: rank 2: MPI_Get at @get and MPI_Put of rank 1 at @put use the
 * same memory of rank 0 in one epoch (byte 8 of its window); * [rma-conflict]
 */
BUG(check_put_get)
{
    MPI_Win win = window();

    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Put(numbers, 4, MPI_INT, 0, 2, 4, MPI_INT, win); // @put
    if (!wrong)
        MPI_Win_fence(0, win);
    if (rank == 2)
        MPI_Get(numbers, 4, MPI_INT, 0, 0, 4, MPI_INT, win); // @get
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Accumulates may meet, but no put.
 * ranks: 3
 * options: --check=windows
 * code: 121
 * says: error: rank 2: MPI_Put at @put and MPI_Accumulate of rank 1 at @add use
 * the same memory of rank 0 in one epoch (byte 0 of its window); *
 * [rma-conflict]
 */
BUG(check_put_accumulate)
{
    MPI_Win win = window();

    MPI_Win_fence(0, win);
    if (rank > 0)
        MPI_Accumulate(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win); // @add
    if (rank == 2 && wrong)
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @put
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* One origin is not in order by itself.
 * options: --check=windows
 * code: 121
 * says: error: rank 1: MPI_Put at @second and MPI_Put at @first use the same
 * memory of rank 0 in one epoch (byte 0 of its window); put a flush or the end
 * of the epoch between them, or use MPI_Accumulate [rma-conflict]
 */
BUG(check_put_twice)
{
    MPI_Win win = window();

    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @first
        if (!wrong)
            MPI_Win_flush(0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @second
        MPI_Win_unlock(0, win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
}

/* options: --check=windows
 * code: 121
 * says: error: rank 0: its own code has changed memory of its window that
 * MPI_Put of rank 1 at @put wrote to, before MPI_Win_fence at @fence
 * [rma-conflict]
 */
BUG(check_put_store)
{
    MPI_Win win = window();

    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @put
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    else
        MPI_Recv(numbers, 1, MPI_INT, 1, 0, world, ignore);
    if (rank == 0)
        others[wrong ? 0 : 1] = 7;
    MPI_Win_fence(0, win); // @fence
    MPI_Win_free(&win);
}
