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
 * says: error: rank 2: MPI_Put at @put and MPI_Accumulate*at @add use
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

/* A read ends with its request.
 * options: --check=windows
 * code: 121
 * says: error: rank 1: MPI_Put at @put and MPI_Rget at @get use the same memory of rank 0 in one
 * epoch (byte 0 of its window); put a flush or the end of the epoch between them, or use
 * MPI_Accumulate [rma-conflict]
 */
BUG(check_rget_put)
{
    MPI_Win win = window();
    MPI_Request request;

    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Rget(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request); // @get
        if (!wrong)
            MPI_Wait(&request, ignore);
        MPI_Put(numbers + 1, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @put
        if (wrong)
            MPI_Wait(&request, ignore);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* Reads of other requests go on, and the epoch may end before the request.
 * options: --check=windows
 * code: 121
 * says: error: rank 1: MPI_Put at @put and MPI_Rget at @get use the same memory of rank 0 in one
 * epoch (byte 0 of its window); * [rma-conflict]
 */
BUG(check_rget_other)
{
    MPI_Win win = window();
    MPI_Request requests[2];

    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Rget(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &requests[0]); // @get
        MPI_Rget(numbers + 1, 1, MPI_INT, 0, 1, 1, MPI_INT, win, &requests[1]);
        MPI_Wait(&requests[wrong], ignore);
        MPI_Put(numbers + 2, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @put
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (rank == 1)
        MPI_Wait(&requests[!wrong], ignore);
}

/* Rank 0 exposes its memory to all others. */
static void expose(MPI_Win win)
{
    MPI_Group all, origins;
    int zero = 0;

    MPI_Comm_group(world, &all);
    MPI_Group_excl(all, 1, &zero, &origins);
    MPI_Win_post(origins, 0, win);
    MPI_Group_free(&origins);
    MPI_Group_free(&all);
}

static void reach(MPI_Win win)
{
    MPI_Group all, target;
    int zero = 0;

    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &zero, &target);
    MPI_Win_start(target, 0, win);
    MPI_Group_free(&target);
    MPI_Group_free(&all);
}

/* ranks: 3
 * options: --check=windows
 * code: 121
 * says: error: rank *: MPI_Put at @here and MPI_Put of rank * at @here use the same memory of rank
 * 0 in one epoch (byte 4 of its window); * [rma-conflict]
 */
BUG(check_group_put_put)
{
    MPI_Win win = window();

    if (rank == 0) {
        expose(win);
        MPI_Win_wait(win);
    } else {
        reach(win);
        MPI_Put(numbers, 1, MPI_INT, 0, wrong ? 1 : rank, 1, MPI_INT, win); // @here
        MPI_Win_complete(win);
    }
    MPI_Win_free(&win);
}

/* A put is not over at its target before MPI_Win_wait, whatever the origins tell each other.
 * ranks: 3
 * options: --check=windows
 * code: 121
 * says: error: rank 2: MPI_Get at @get and MPI_Put of rank 1 at @put use the same memory of rank 0
 * in one epoch (byte 0 of its window); * [rma-conflict]
 */
BUG(check_group_put_get)
{
    MPI_Win win = window();

    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0) {
            expose(win);
            MPI_Win_wait(win);
            continue;
        }
        reach(win);
        if (rank == 1 && turn == 0)
            MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @put
        if (rank == 2 && turn == 0)
            MPI_Recv(others + 100, 1, MPI_INT, 1, 0, world, ignore);
        if (rank == 2 && turn == (wrong ? 0 : 1))
            MPI_Get(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @get
        MPI_Win_complete(win);
        if (rank == 1 && turn == 0)
            MPI_Send(numbers, 1, MPI_INT, 2, 0, world);
    }
    MPI_Win_free(&win);
}

/* options: --check=windows
 * code: 121
 * says: error: rank 0: its own code has changed memory of its window that MPI_Put of rank 1 at @put
 * wrote to, before MPI_Win_wait at @wait [rma-conflict]
 */
BUG(check_group_put_store)
{
    MPI_Win win = window();

    if (rank == 0) {
        expose(win);
        MPI_Recv(others + 100, 1, MPI_INT, 1, 0, world, ignore);
        others[wrong ? 0 : 1] = 7;
        MPI_Win_wait(win); // @wait
        others[0] = 7;
    } else {
        reach(win);
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @put
        MPI_Win_complete(win);
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    }
    MPI_Win_free(&win);
}

/* Shared locks do not keep others away. The right one unlocks first.
 * ranks: 3
 * options: --check=windows
 * code: 121
 * says: error: rank 2: MPI_Put at @second and MPI_Put of rank 1 at @first use the same memory of
 * rank 0 in one epoch (byte 8 of its window); lock it exclusively, or use MPI_Accumulate
 * [rma-conflict]
 */
BUG(check_lock_put_put)
{
    MPI_Win win = window();

    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 2, 1, MPI_INT, win); // @first
        if (!wrong)
            MPI_Win_unlock(0, win);
        MPI_Send(numbers, 1, MPI_INT, 2, 0, world);
        MPI_Recv(numbers, 1, MPI_INT, 2, 0, world, ignore);
        if (wrong)
            MPI_Win_unlock(0, win);
    } else if (rank == 2) {
        MPI_Recv(numbers, 1, MPI_INT, 1, 0, world, ignore);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 2, 1, MPI_INT, win); // @second
        MPI_Win_unlock(0, win);
        MPI_Send(numbers, 1, MPI_INT, 1, 0, world);
    }
    MPI_Win_free(&win);
}

/* The right one flushes before it tells the other.
 * ranks: 3
 * options: --check=windows
 * code: 121
 * says: error: rank 2: MPI_Get at @get and MPI_Put of rank 1 at @put use the same memory of rank 0
 * in one epoch (byte 0 of its window); * [rma-conflict]
 */
BUG(check_lock_all_put_get)
{
    MPI_Win win = window();

    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @put
        if (!wrong)
            MPI_Win_flush(0, win);
        MPI_Send(numbers, 1, MPI_INT, 2, 0, world);
    } else if (rank == 2) {
        MPI_Recv(numbers, 1, MPI_INT, 1, 0, world, ignore);
        MPI_Get(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @get
    }
    MPI_Barrier(world);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* options: --check=windows
 * code: 121
 * says: error: rank 0: its own code has changed memory of its window that MPI_Put of rank 1 at @put
 * wrote to, before MPI_Win_unlock_all of rank 1 at @unlock [rma-conflict]
 */
BUG(check_lock_all_put_store)
{
    MPI_Win win = window();

    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @put
        if (!wrong)
            MPI_Win_flush(0, win);
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    } else {
        MPI_Recv(numbers, 1, MPI_INT, 1, 0, world, ignore);
        MPI_Win_sync(win);
        others[0] = 7;
    }
    MPI_Barrier(world);
    MPI_Win_unlock_all(win); // @unlock
    MPI_Win_free(&win);
}

/* Those of one origin are done in their order.
 * ranks: 3
 * options: --check=windows
 * code: 121
 * says: error: rank 2: MPI_Accumulate at @max and MPI_Accumulate of rank 1 at @sum use the same
 * memory of rank 0 in one epoch (byte 0 of its window); accumulates that meet must have the same
 * operation and type [rma-conflict]
 */
BUG(check_accumulate_operations)
{
    MPI_Win win = window();

    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Accumulate(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win); // @sum
    if (rank == (wrong ? 2 : 1))
        MPI_Accumulate(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_MAX, win); // @max
    MPI_Win_fence(0, win);
    if (rank == 2 && !wrong)
        MPI_Accumulate(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_MAX, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Locks of algorithms: those that fetch, replace and compare may meet; none may get.
 * ranks: 3
 * options: --check=windows
 * code: 121
 * says: error: rank *: *MPI_Get * use the same memory of rank 0 in *epoch* (byte 0 of its
 * window); * [rma-conflict]
 */
BUG(check_lock_all_fetch_get)
{
    MPI_Win win = window();
    int old, zero = 0;

    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&rank, &old, MPI_INT, 0, 0, MPI_REPLACE, win);
    MPI_Fetch_and_op(&rank, &old, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Compare_and_swap(&rank, &zero, &old, MPI_INT, 0, 0, win);
    MPI_Barrier(world);
    if (wrong && rank == 1)
        MPI_Get(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @get
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* ---- Buffers of the origin ---- */

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the origin buffer of MPI_Put at @here was changed before MPI_Win_fence at
 * @end [buffer-changed]
 */
BUG(check_origin_put)
{
    MPI_Win win = window();

    MPI_Win_fence(0, win);
    if (rank == 1) {
        MPI_Put(numbers, 4, MPI_INT, 0, 0, 4, MPI_INT, win); // @here
        numbers[wrong ? 3 : 4] = 7;
    }
    MPI_Win_fence(0, win); // @end
    numbers[3] = 8;
    MPI_Win_free(&win);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the origin buffer of MPI_Accumulate at @here was changed before
 * MPI_Win_unlock at @end [buffer-changed]
 */
BUG(check_origin_accumulate)
{
    MPI_Win win = window();

    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Accumulate(numbers, 2, MPI_INT, 0, 0, 2, MPI_INT, MPI_SUM, win); // @here
        if (!wrong)
            MPI_Win_flush_local(0, win);
        numbers[0] = 7;
        MPI_Win_unlock(0, win); // @end
    }
    MPI_Win_free(&win);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the origin buffer of MPI_Rput at @here was changed before MPI_Wait at @end
 * [buffer-changed]
 */
BUG(check_origin_rput)
{
    MPI_Win win = window();
    MPI_Request request;

    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Rput(numbers, 4, MPI_INT, 0, 0, 4, MPI_INT, win, &request); // @here
        if (wrong)
            numbers[0]++;
        MPI_Wait(&request, ignore); // @end
        numbers[1]++;
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the origin buffer of MPI_Put at @here was changed before MPI_Win_complete at
 * @end [buffer-changed]
 */
BUG(check_origin_complete)
{
    MPI_Win win = window();

    if (rank == 0) {
        expose(win);
        MPI_Win_wait(win);
    } else {
        reach(win);
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @here
        if (wrong)
            numbers[0] = 9;
        MPI_Win_complete(win); // @end
        numbers[0] = 9;
    }
    MPI_Win_free(&win);
}

/* What a get has read may come at any time until its end.
 * options: --check=buffers
 * code: 121
 * says: error: rank 1: the result buffer of MPI_Get at @here was changed before MPI_Win_fence at
 * @end [buffer-changed]
 */
BUG(check_result_written)
{
    MPI_Win win = window();

    MPI_Win_fence(0, win);
    if (rank == 1) {
        MPI_Get(numbers, 4, MPI_INT, 0, 0, 4, MPI_INT, win); // @here
        numbers[wrong ? 0 : 5] = 7;
    }
    MPI_Win_fence(0, win); // @end
    MPI_Win_free(&win);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: the result buffer of MPI_Get at @here was used at @use, before MPI_Win_fence
 * at @end [buffer-touched]
 */
BUG(check_result_read)
{
    MPI_Win win;
    int sum = 0;

    MPI_Win_create(others, sizeof(others), sizeof(int), MPI_INFO_NULL, world, &win);
    MPI_Win_fence(0, win);
    if (rank == 1)
        MPI_Get(numbers, LARGE, MPI_INT, 0, 0, LARGE, MPI_INT, win); // @here
    if (!wrong)
        MPI_Win_fence(0, win);
    if (rank == 1)
        sum = numbers[LARGE / 2]; // @use
    MPI_Win_fence(0, win);        // @end
    others[0] = sum;
    MPI_Win_free(&win);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Get at @second receives into memory that MPI_Get at @first receives
 * into, which is not complete; they have byte 4 of its buffer in common [buffer-overlap]
 */
BUG(check_result_twice)
{
    MPI_Win win = window();

    MPI_Win_fence(0, win);
    if (rank == 1) {
        MPI_Get(numbers, 2, MPI_INT, 0, 0, 2, MPI_INT, win);                   // @first
        MPI_Get(numbers + (wrong ? 1 : 2), 2, MPI_INT, 0, 2, 2, MPI_INT, win); // @second
    }
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* options: --check=buffers
 * code: 121
 * says: error: rank 1: MPI_Put at @put sends from memory that MPI_Get at @get receives into, which
 * is not complete; they have byte 0 of its buffer in common [buffer-overlap]
 */
BUG(check_result_put)
{
    MPI_Win win = window();

    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        MPI_Get(numbers, 2, MPI_INT, 0, 0, 2, MPI_INT, win); // @get
        if (!wrong)
            MPI_Win_flush(0, win);
        MPI_Put(numbers, 2, MPI_INT, 0, 8, 2, MPI_INT, win); // @put
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* ---- Code of the target ---- */

static MPI_Win large_window(void)
{
    MPI_Win win;

    MPI_Win_create(others, sizeof(others), sizeof(int), MPI_INFO_NULL, world, &win);
    return win;
}

/* The right one reads after the fence.
 * options: --check=windows
 * code: 121
 * says: error: rank 0: its own code has used memory of its window at @load that MPI_Put of rank 1
 * at @put wrote to, before MPI_Win_fence at @end [rma-conflict]
 */
BUG(check_put_load)
{
    MPI_Win win = large_window();
    int sum = 0;

    MPI_Win_fence(0, win);
    if (rank == 1) {
        MPI_Put(numbers, LARGE, MPI_INT, 0, 0, LARGE, MPI_INT, win); // @put
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
    } else {
        MPI_Recv(numbers, 1, MPI_INT, 1, 0, world, ignore);
        if (wrong)
            sum += others[LARGE / 2]; // @load
    }
    MPI_Win_fence(0, win); // @end
    numbers[0] = sum + others[LARGE / 2];
    MPI_Win_free(&win);
}

/* options: --check=windows
 * code: 121
 * says: error: rank 0: its own code has used memory of its window at @load that MPI_Put of rank 1
 * at @put wrote to, before MPI_Win_wait at @wait [rma-conflict]
 */
BUG(check_group_put_load)
{
    MPI_Win win = large_window();

    if (rank == 0) {
        expose(win);
        MPI_Recv(numbers, 1, MPI_INT, 1, 0, world, ignore);
        if (wrong)
            numbers[1] = others[LARGE / 2]; // @load
        MPI_Win_wait(win);                  // @wait
        numbers[1] = others[LARGE / 2];
    } else {
        reach(win);
        MPI_Put(numbers, LARGE, MPI_INT, 0, 0, LARGE, MPI_INT, win); // @put
        MPI_Send(numbers, 1, MPI_INT, 0, 0, world);
        MPI_Win_complete(win);
    }
    MPI_Win_free(&win);
}

/* A store into memory that another rank reads in the same epoch.
 * options: --check=windows
 * code: 121
 * says: error: rank 0: its own code has changed memory of its window that MPI_Get of rank 1 at @get
 * read, before MPI_Win_fence at @end [rma-conflict]
 */
BUG(check_get_store)
{
    MPI_Win win = window();

    MPI_Win_fence(0, win);
    if (rank == 1) {
        MPI_Get(numbers, 4, MPI_INT, 0, 0, 4, MPI_INT, win); // @get
        MPI_Send(numbers + 4, 1, MPI_INT, 0, 0, world);
    } else {
        MPI_Recv(numbers, 1, MPI_INT, 1, 0, world, ignore);
        others[wrong ? 2 : 4]++;
    }
    MPI_Win_fence(0, win); // @end
    MPI_Win_free(&win);
}

/* options: --check=windows
 * code: 121
 * says: error: rank 0: its own code has changed memory of its window that MPI_Get of rank 1 at @get
 * read, before MPI_Win_wait at @wait [rma-conflict]
 */
BUG(check_group_get_store)
{
    MPI_Win win = window();

    if (rank == 0) {
        expose(win);
        MPI_Recv(numbers, 1, MPI_INT, 1, 0, world, ignore);
        others[wrong ? 0 : 9]++;
        MPI_Win_wait(win); // @wait
        others[0]++;
    } else {
        reach(win);
        MPI_Get(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @get
        MPI_Send(numbers + 4, 1, MPI_INT, 0, 0, world);
        MPI_Win_complete(win);
    }
    MPI_Win_free(&win);
}

/* Two windows of the same memory.
 * options: --check=windows
 * code: 121
 * says: error: rank 1: MPI_Get at @get and MPI_Put of rank 0 at @put use the same memory of rank 1
 * through two windows (byte 16 of its window); end the epoch of the first before the second, or use
 * one window [rma-conflict]
 */
BUG(check_two_windows)
{
    int *memory = calloc(16, sizeof(int)), value = rank, got = 0;
    MPI_Win first, second;

    MPI_Win_create(memory, 64, sizeof(int), MPI_INFO_NULL, world, &first);
    MPI_Win_create(memory, 64, sizeof(int), MPI_INFO_NULL, world, &second);
    MPI_Win_fence(0, first);
    MPI_Win_fence(0, second);
    if (rank == 0)
        MPI_Put(&value, 1, MPI_INT, 1, 4, 1, MPI_INT, first); // @put
    if (!wrong)
        MPI_Win_fence(0, first);
    if (rank == 1)
        MPI_Get(&got, 1, MPI_INT, 1, 4, 1, MPI_INT, second); // @get
    MPI_Win_fence(0, second);
    MPI_Win_fence(0, first);
    MPI_Win_free(&second);
    MPI_Win_free(&first);
    free(memory);
}

/* The second window of the memory, while an operation on the first one is under a lock.
 * options: --check=windows
 * ranks: 3
 * code: 121
 * says: error: rank 1: MPI_Put at @second and MPI_Put of rank 0 at @first use the same memory of
 * rank 2 through two windows (byte 16 of its window); end the epoch of the first before the second,
 * or use one window [rma-conflict]
 */
BUG(check_two_windows_locked)
{
    int *memory = calloc(16, sizeof(int)), value = rank;
    MPI_Win first, second;

    MPI_Win_create(memory, 64, sizeof(int), MPI_INFO_NULL, world, &first);
    MPI_Win_create(memory, 64, sizeof(int), MPI_INFO_NULL, world, &second);
    MPI_Win_lock_all(0, first);
    MPI_Win_lock_all(0, second);
    if (rank == 0) {
        MPI_Put(&value, 1, MPI_INT, 2, 4, 1, MPI_INT, first); // @first
        if (!wrong)
            MPI_Win_flush(2, first);
    }
    MPI_Barrier(world);
    if (rank == 1)
        MPI_Put(&value, 1, MPI_INT, 2, 4, 1, MPI_INT, second); // @second
    MPI_Win_unlock_all(second);
    MPI_Win_unlock_all(first);
    MPI_Win_free(&second);
    MPI_Win_free(&first);
    free(memory);
}
