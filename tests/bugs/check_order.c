/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided: epochs one after the other that nothing orders. */
#include "bugs.h"

static MPI_Win window(void)
{
    MPI_Win win;

    MPI_Win_create(others, 256, sizeof(int), MPI_INFO_NULL, world, &win);
    return win;
}

/* Shared locks in any order: the right one has a message between them.
 * ranks: 3
 * options: --check=windows --workers 1
 * code: 121
 * says: error: rank 2: MPI_Put at @here and MPI_Put of rank 1 at @here use the same memory of rank
 * 0 in epochs without an order (byte 8 of its window); send a message between them, lock it
 * exclusively, or use MPI_Accumulate [rma-conflict]
 */
BUG(check_order_put_put)
{
    MPI_Win win = window();

    MPI_Barrier(world);
    if (rank == 2 && !wrong)
        MPI_Recv(numbers, 1, MPI_INT, 1, 0, world, ignore);
    if (rank > 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 2, 1, MPI_INT, win); // @here
        MPI_Win_unlock(0, win);
    }
    if (rank == 1)
        MPI_Send(numbers, 1, MPI_INT, 2, 0, world);
    if (rank == 2 && wrong)
        MPI_Recv(numbers, 1, MPI_INT, 1, 0, world, ignore);
    MPI_Barrier(world);
    MPI_Win_free(&win);
}

/* The right one has an exclusive lock.
 * ranks: 3
 * options: --check=windows --workers 1
 * code: 121
 * says: error: rank 2: MPI_Get at @get and MPI_Put of rank 1 at @put use the same memory of rank 0
 * in epochs without an order (byte 0 of its window); * [rma-conflict]
 */
BUG(check_order_put_get)
{
    MPI_Win win = window();

    MPI_Barrier(world);
    if (rank > 0)
        MPI_Win_lock(wrong ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
    if (rank == 1)
        MPI_Put(numbers, 2, MPI_INT, 0, 0, 2, MPI_INT, win); // @put
    if (rank == 2)
        MPI_Get(numbers, 2, MPI_INT, 0, 0, 2, MPI_INT, win); // @get
    if (rank > 0)
        MPI_Win_unlock(0, win);
    MPI_Barrier(world);
    MPI_Win_free(&win);
}

/* A flush ends an access, but does not tell anyone. The right one has a barrier behind it.
 * ranks: 3
 * options: --check=windows --workers 1
 * code: 121
 * says: error: rank 2: MPI_Put at @second and MPI_Put of rank 1 at @first use the same memory of
 * rank 0 in epochs without an order (byte 0 of its window); * [rma-conflict]
 */
BUG(check_order_flush)
{
    MPI_Win win = window();

    MPI_Win_lock_all(0, win);
    MPI_Barrier(world);
    if (rank == 1) {
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @first
        MPI_Win_flush(0, win);
    }
    if (!wrong)
        MPI_Barrier(world);
    if (rank == 2) {
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @second
        MPI_Win_flush(0, win);
    }
    MPI_Barrier(world);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* A message sent before the access orders nothing. The right one sends it after.
 * ranks: 3
 * options: --check=windows --workers 1
 * code: 121
 * says: error: rank 2: MPI_Put at @second and MPI_Put of rank 1 at @first use the same memory of
 * rank 0 in epochs without an order (byte 0 of its window); * [rma-conflict]
 */
BUG(check_order_early_message)
{
    MPI_Win win = window();
    MPI_Request request = MPI_REQUEST_NULL;

    if (rank == 1) {
        if (wrong)
            MPI_Isend(numbers + 8, 1, MPI_INT, 2, 0, world, &request);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @first
        MPI_Win_unlock(0, win);
        if (!wrong)
            MPI_Isend(numbers + 8, 1, MPI_INT, 2, 0, world, &request);
        MPI_Wait(&request, ignore);
    }
    if (rank == 2) {
        MPI_Recv(numbers + 8, 1, MPI_INT, 1, 0, world, ignore);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @second
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(world);
    MPI_Win_free(&win);
}

/* Rank 3 tells rank 2 before the access; the right one tells it afterwards.
 * ranks: 4
 * options: --check=windows --workers 1
 * code: 121
 * says: error: rank 2: MPI_Accumulate at @add and MPI_Put of rank 1 at @put use the same memory of
 * rank 0 in epochs without an order (byte 4 of its window); * [rma-conflict]
 */
BUG(check_order_chain)
{
    static char room[64 + MPI_BSEND_OVERHEAD];
    MPI_Win win = window();

    MPI_Buffer_attach(room, sizeof(room));
    if (rank == 3 && wrong)
        MPI_Bsend(numbers, 1, MPI_INT, 2, 0, world);
    MPI_Barrier(world);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 1, 1, MPI_INT, win); // @put
        MPI_Win_unlock(0, win);
        MPI_Send(numbers, 1, MPI_INT, 3, 0, world);
    }
    if (rank == 3)
        MPI_Recv(numbers, 1, MPI_INT, 1, 0, world, ignore);
    if (rank == 3 && !wrong)
        MPI_Send(numbers, 1, MPI_INT, 2, 0, world);
    if (rank == 2) {
        MPI_Recv(numbers, 1, MPI_INT, 3, 0, world, ignore);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Accumulate(numbers, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win); // @add
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(world);
    MPI_Buffer_detach(&(void *){NULL}, &(int){0});
    MPI_Win_free(&win);
}

/* The window is new: its creation orders nothing that follows. The right one has a barrier.
 * ranks: 3
 * options: --check=windows --workers 1
 * code: 121
 * says: error: rank 2: MPI_Put at @second and MPI_Put of rank 1 at @first use the same memory of
 * rank 0 in epochs without an order (byte 0 of its window); * [rma-conflict]
 */
BUG(check_order_created)
{
    MPI_Win win = window();

    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @first
        MPI_Win_unlock(0, win);
    }
    if (!wrong)
        MPI_Barrier(world);
    if (rank == 2) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @second
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
}

/* A fence in front of both epochs; the right one has it between them.
 * ranks: 3
 * options: --check=windows --workers 1
 * code: 121
 * says: error: rank 2: MPI_Get at @get and MPI_Put of rank 1 at @put use the same memory of rank 0
 * in epochs without an order (byte 12 of its window); * [rma-conflict]
 */
BUG(check_order_fence)
{
    MPI_Win win = window();

    if (wrong)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 3, 1, MPI_INT, win); // @put
        MPI_Win_unlock(0, win);
    }
    if (!wrong)
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (rank == 2) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Get(numbers, 1, MPI_INT, 0, 3, 1, MPI_INT, win); // @get
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
}

/* Another window is made before both epochs, or freed; in the right one it is freed between them.
 * ranks: 3
 * options: --check=windows --workers 1
 * code: 121
 * says: error: rank 2: MPI_Put at @second and MPI_Get of rank 1 at @first use the same memory of
 * rank 0 in epochs without an order (byte 0 of its window); * [rma-conflict]
 */
BUG(check_order_other_window)
{
    MPI_Win win = window(), other;

    MPI_Win_create_dynamic(MPI_INFO_NULL, world, &other);
    if (wrong)
        MPI_Win_free(&other);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Get(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @first
        MPI_Win_unlock(0, win);
    }
    if (!wrong)
        MPI_Win_free(&other);
    if (rank == 2) {
        MPI_Win_lock_all(0, win);
        MPI_Put(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, win); // @second
        MPI_Win_unlock_all(win);
    }
    MPI_Win_free(&win);
}

/* Accumulates of two operations; those of one operation are atomic.
 * ranks: 3
 * options: --check=windows --workers 1
 * code: 121
 * says: error: rank 2: MPI_Accumulate at @here and MPI_Accumulate of rank 1 at @here use the same
 * memory of rank 0 in epochs without an order (byte 0 of its window); * [rma-conflict]
 */
BUG(check_order_operations)
{
    MPI_Op operation = wrong && rank == 2 ? MPI_PROD : MPI_SUM;
    MPI_Win win = window();

    if (rank > 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Accumulate(numbers, 1, MPI_INT, 0, 0, 1, MPI_INT, operation, win); // @here
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
}

/* Columns of one matrix: the wrong ones are the same.
 * ranks: 3
 * options: --check=windows --workers 1
 * code: 121
 * says: error: rank 2: MPI_Put at @here and MPI_Put of rank 1 at @here use the same memory of rank
 * 0 in epochs without an order (byte 4 of its window); * [rma-conflict]
 */
BUG(check_order_columns)
{
    MPI_Win win = window();
    MPI_Datatype column;

    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    if (rank > 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Put(numbers, 4, MPI_INT, 0, wrong ? 1 : rank, 1, column, win); // @here
        MPI_Win_unlock(0, win);
    }
    MPI_Type_free(&column);
    MPI_Win_free(&win);
}
