/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication: epochs, places and locks. */
#include "bugs.h"

static MPI_Win win;
static int *base;

static void make_window(void)
{
    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, world, &base, &win);
    MPI_Win_set_name(win, "table");
}

/* code: 50
 * says: MPI_Put: no epoch is open; * (MPI_ERR_RMA_SYNC; at @here) */
BUG(put_without_epoch)
{
    make_window();
    if (!wrong)
        MPI_Win_fence(0, win);
    MPI_Put(numbers, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win); // @here
    if (!wrong)
        MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* code: 50
 * says: rank 0: MPI_Get: no epoch is open; * (MPI_ERR_RMA_SYNC; at @here) */
BUG(get_after_unlock)
{
    make_window();
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        if (wrong)
            MPI_Win_unlock(1, win);
        MPI_Get(others, 1, MPI_INT, 1, 0, 1, MPI_INT, win); // @here
        if (!wrong)
            MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
}

/* ranks: 3
 * code: 50
 * says: rank 0: MPI_Accumulate: *rank 2* (MPI_ERR_RMA_SYNC; at @here) */
BUG(accumulate_to_unlocked)
{
    make_window();
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Accumulate(numbers, 1, MPI_INT, wrong ? 2 : 1, 0, 1, MPI_INT, MPI_SUM, win); // @here
        MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
}

/* code: 48
 * says: MPI_Put: 1 x MPI_INT at displacement 16 * not inside the 64 bytes of rank *
 * (MPI_ERR_RMA_RANGE; at @here)
 */
BUG(put_too_far)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Put(numbers, 1, MPI_INT, 1 - rank, wrong ? 16 : 15, 1, MPI_INT, win); // @here
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* code: 48
 * says: MPI_Get: 2 x MPI_INT at displacement -1 * not inside the 64 bytes of rank *
 * (MPI_ERR_RMA_RANGE; at @here)
 */
BUG(get_before_begin)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Get(others, 2, MPI_INT, 1 - rank, wrong ? -1 : 0, 2, MPI_INT, win); // @here
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* code: 50
 * says: rank 0: MPI_Win_lock: rank 1 is locked by this rank already (MPI_ERR_RMA_SYNC; at @here) */
BUG(locked_twice)
{
    make_window();
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        if (!wrong)
            MPI_Win_unlock(1, win);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win); // @here
        MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
}

/* code: 50
 * says: rank 1: MPI_Win_unlock: rank 0 is not locked by this rank; * (MPI_ERR_RMA_SYNC; at @here)
 */
BUG(unlocked_another)
{
    make_window();
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, wrong, 0, win);
        MPI_Win_unlock(0, win); // @here
    }
    MPI_Win_free(&win);
}

/* code: 50
 * says: MPI_Win_fence: an access epoch of MPI_Win_lock* is open (MPI_ERR_RMA_SYNC; at @here) */
BUG(fence_while_locked)
{
    make_window();
    MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win);
    if (!wrong)
        MPI_Win_unlock(1 - rank, win);
    MPI_Win_fence(0, win); // @here
    MPI_Win_free(&win);
}

/* code: 50
 * says: MPI_Win_free: an access epoch of MPI_Win_lock_all is open (MPI_ERR_RMA_SYNC; at @here) */
BUG(freed_while_locked)
{
    make_window();
    MPI_Win_lock_all(0, win);
    if (!wrong)
        MPI_Win_unlock_all(win);
    MPI_Win_free(&win); // @here
}

/* code: 50
 * says: MPI_Win_flush: * (MPI_ERR_RMA_SYNC; at @here) */
BUG(flush_without_lock)
{
    make_window();
    if (wrong)
        MPI_Win_fence(0, win);
    else
        MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win);
    MPI_Win_flush(1 - rank, win); // @here
    if (!wrong)
        MPI_Win_unlock(1 - rank, win);
    MPI_Win_free(&win);
}

/* code: 50
 * says: MPI_Win_complete: no access epoch of MPI_Win_start is open; * (MPI_ERR_RMA_SYNC; at @here)
 */
BUG(complete_without_start)
{
    MPI_Group all;

    make_window();
    MPI_Win_get_group(win, &all);
    MPI_Win_post(all, 0, win);
    if (!wrong)
        MPI_Win_start(all, 0, win);
    MPI_Win_complete(win); // @here
    MPI_Win_wait(win);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
}

/* code: 50
 * says: MPI_Win_wait: no exposure epoch * (MPI_ERR_RMA_SYNC; at @here) */
BUG(wait_without_post)
{
    MPI_Group all;

    make_window();
    MPI_Win_get_group(win, &all);
    if (!wrong) {
        MPI_Win_post(all, 0, win);
        MPI_Win_start(all, 0, win);
        MPI_Win_complete(win);
    }
    MPI_Win_wait(win); // @here
    MPI_Group_free(&all);
    MPI_Win_free(&win);
}

/* ranks: 3
 * code: 50
 * says: rank 0: MPI_Put: *rank 2* (MPI_ERR_RMA_SYNC; at @here) */
BUG(put_outside_group)
{
    MPI_Group all, one;

    make_window();
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, (const int[]){rank == 0}, &one);
    if (rank == 1) {
        MPI_Win_post(one, 0, win);
        MPI_Win_wait(win);
    }
    if (rank == 0) {
        MPI_Win_start(one, 0, win);
        MPI_Put(numbers, 1, MPI_INT, wrong ? 2 : 1, 0, 1, MPI_INT, win); // @here
        MPI_Win_complete(win);
    }
    MPI_Group_free(&one);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
}

/* says: rank 0: in MPI_Win_start on table, at @here, for MPI_Win_post of rank 1
 * says:   cause: rank 0 waits in MPI_Win_start on table for rank 1, * */
BUG(start_without_post)
{
    MPI_Group all, other;

    make_window();
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, (const int[]){1 - rank}, &other);
    if (rank == 1 && !wrong)
        MPI_Win_post(other, 0, win);
    if (rank == 0) {
        MPI_Win_start(other, 0, win); // @here
        MPI_Win_complete(win);
    }
    if (rank == 1 && !wrong)
        MPI_Win_wait(win);
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Barrier(world);
    MPI_Win_free(&win);
}

/* says: rank 1: in MPI_Win_wait on table, at @here, for MPI_Win_complete of rank 0 */
BUG(wait_without_complete)
{
    MPI_Group all, other;

    make_window();
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, (const int[]){1 - rank}, &other);
    if (rank == 0 && !wrong) {
        MPI_Win_start(other, 0, win);
        MPI_Win_complete(win);
    }
    if (rank == 1) {
        MPI_Win_post(other, 0, win);
        MPI_Win_wait(win); // @here
    }
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Barrier(world);
    MPI_Win_free(&win);
}

/* Each has one and wants that of the next.
 * ranks: 3
 * says: rank 0: in MPI_Win_lock on table, at @here, for rank 1, which rank 1 has locked exclusively
 * says:   cause: rank 0 waits in MPI_Win_lock on table for rank 1, which rank 1 has locked, rank 1
 * waits in MPI_Win_lock on table for rank 2, which rank 2 has locked, rank 2 waits in MPI_Win_lock
 * on table for rank 0, which rank 0 has locked
 */
BUG(locks_in_a_circle)
{
    int next = (rank + 1) % size;

    make_window();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    MPI_Barrier(world);
    if (!wrong)
        MPI_Win_unlock(rank, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win); // @here
    MPI_Win_unlock(next, win);
    if (wrong)
        MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

/* Not unlocked before the barrier.
 * says: rank 0: in MPI_Win_lock on table, at @here, for rank 1, which rank 1 has locked exclusively
 * says: rank 1: in MPI_Barrier on MPI_COMM_WORLD, at @barrier */
BUG(never_unlocked)
{
    make_window();
    if (rank == 1)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Barrier(world);
    if (rank == 1 && !wrong)
        MPI_Win_unlock(1, win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win); // @here
        MPI_Win_unlock(1, win);
    }
    MPI_Barrier(world); // @barrier
    if (rank == 1 && wrong)
        MPI_Win_unlock(1, win);
    MPI_Win_free(&win);
}

/* says: ranks disagree about collective *
 * says: rank 0 calls MPI_Win_fence at @fence
 * says: rank 1 calls MPI_Win_free at @free */
BUG(fence_without_1)
{
    make_window();
    if (!wrong || rank == 0)
        MPI_Win_fence(0, win); // @fence
    MPI_Win_free(&win);        // @free
}

/* code: 6
 * says: MPI_Put: the target is rank 2; the window has ranks 0 to 1 (MPI_ERR_RANK; at @here) */
BUG(target_too_large)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Put(numbers, 1, MPI_INT, wrong ? 2 : 1 - rank, 0, 1, MPI_INT, win); // @here
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* code: 10
 * says: MPI_Accumulate: * (MPI_ERR_OP; at @here) */
BUG(accumulate_operation)
{
    static double value;

    make_window();
    MPI_Win_fence(0, win);
    MPI_Accumulate(&value, 1, MPI_DOUBLE, 1 - rank, 0, 1, MPI_DOUBLE, // @here
                   wrong ? MPI_BXOR : MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* code: 3
 * says: MPI_Accumulate: * elements of MPI_INT, the target of MPI_FLOAT (MPI_ERR_TYPE; at @here) */
BUG(accumulate_types)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Accumulate(numbers, 1, MPI_INT, 1 - rank, 0, 1, wrong ? MPI_FLOAT : MPI_INT, // @here
                   MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* code: 15
 * says: MPI_Put: * (MPI_ERR_TRUNCATE; at @here) */
BUG(put_longer_than_target)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Put(numbers, wrong ? 3 : 2, MPI_INT, 1 - rank, 0, 2, MPI_INT, win); // @here
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* code: 1
 * says: MPI_Put: the origin buffer is NULL and its count is 1 (MPI_ERR_BUFFER; at @here) */
BUG(put_null)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Put(wrong ? NULL : numbers, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win); // @here
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* code: 26
 * says: MPI_Win_create: the displacement unit is 0; it must be at least 1 (MPI_ERR_DISP; at @here)
 */
BUG(window_unit)
{
    MPI_Win_create(numbers, 64, wrong ? 0 : 4, MPI_INFO_NULL, world, &win); // @here
    MPI_Win_free(&win);
}

/* code: 37
 * says: rank 0: MPI_Win_lock: * (MPI_ERR_LOCKTYPE; at @here) */
BUG(lock_type)
{
    make_window();
    if (rank == 0) {
        MPI_Win_lock(wrong ? 12345 : MPI_LOCK_SHARED, 1, 0, win); // @here
        MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
}

/* code: 46
 * says: rank 0: MPI_Win_detach: no memory was attached at * (MPI_ERR_RMA_ATTACH; at @here) */
BUG(never_attached)
{
    MPI_Win_create_dynamic(MPI_INFO_NULL, world, &win);
    if (rank == 0) {
        if (!wrong)
            MPI_Win_attach(win, numbers, 64);
        MPI_Win_detach(win, numbers); // @here
    }
    MPI_Win_free(&win);
}

/* alone: yes
 * code: 57
 * says: MPI_Win_shared_query: * (MPI_ERR_RMA_FLAVOR; at @here) */
BUG(not_shared)
{
    MPI_Aint bytes;
    int unit;

    if (wrong)
        MPI_Win_create_dynamic(MPI_INFO_NULL, world, &win);
    else
        MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, world, &base, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &base); // @here
    MPI_Win_free(&win);
}

/* code: 3
 * says: MPI_Fetch_and_op: * (MPI_ERR_TYPE; at @here) */
BUG(fetch_of_pair)
{
    MPI_Datatype pair;

    make_window();
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Win_fence(0, win);
    MPI_Fetch_and_op(numbers, others, wrong ? pair : MPI_INT, 1 - rank, 0, MPI_SUM, win); // @here
    MPI_Win_fence(0, win);
    MPI_Type_free(&pair);
    MPI_Win_free(&win);
}
