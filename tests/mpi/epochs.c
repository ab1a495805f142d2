/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronisation of windows: what one rank wrote before is seen by others after, locks exclude
 * each other, and calls in the wrong epoch are refused. Loads and stores go to the memory of other
 * ranks directly, where they are in the same process; between them a rank gives way, so that also
 * ranks of one core meet. Any number of ranks.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "check.h"

enum { ROUNDS = 20 };

static int rank, size;

static int *memory_of(MPI_Win win, int target)
{
    MPI_Aint bytes;
    int unit, *base;

    MPI_Win_shared_query(win, target, &bytes, &unit, &base);
    return base;
}

/* A store into the memory of `target`, and a load from there; MPI_Put and MPI_Get where it is in
 * another process. Inside MPI_Win_lock they are over at once. */
static void store(MPI_Win win, int target, int index, int value, int is_locked)
{
    int *there = memory_of(win, target);
    static int values[1024]; /* they live until the epoch ends */
    static int next;

    if (there != NULL) {
        there[index] = value;
        return;
    }
    next = (next + 1) % 1024;
    values[next] = value;
    MPI_Put(&values[next], 1, MPI_INT, target, index, 1, MPI_INT, win);
    if (is_locked)
        MPI_Win_flush(target, win);
}

static int load(MPI_Win win, int target, int index)
{
    int *there = memory_of(win, target), value = -1;

    if (there != NULL)
        return there[index];
    MPI_Get(&value, 1, MPI_INT, target, index, 1, MPI_INT, win);
    MPI_Win_flush(target, win);
    return value;
}

static MPI_Win allocated(int numbers)
{
    MPI_Win win;
    int *base;

    MPI_Win_allocate((MPI_Aint)(numbers * sizeof(int)), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &base, &win);
    for (int i = 0; i < numbers; i++)
        base[i] = 0;
    MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, win);
    return win;
}

/* Other ranks of the core run. */
static void give_way(void)
{
    int flag;

    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

/* ---- Fence ---- */

static void check_fence(void)
{
    MPI_Win win = allocated(size);
    int *own = memory_of(win, rank);

    MPI_Win_fence(0, win);
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < (rank + round) % 3; i++)
            give_way(); /* some come late */
        for (int r = 0; r < size; r++)
            store(win, r, rank, round * 1000 + rank, 0);
        MPI_Win_fence(0, win);
        for (int r = 0; r < size; r++)
            CHECK_EQUAL(own[r], round * 1000 + r);
        MPI_Win_fence(0, win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
}

/* ---- Groups ---- */

/* The ranks at `distance` above (or, negative, below). */
static MPI_Group neighbour(MPI_Win win, int distance)
{
    int one = ((rank + distance) % size + size) % size;
    MPI_Group all, group;

    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &one, &group);
    MPI_Group_free(&all);
    return group;
}

static void end_exposure(MPI_Win win, int tests)
{
    int flag = 0;

    if (!tests) {
        MPI_Win_wait(win);
        return;
    }
    while (!flag)
        MPI_Win_test(win, &flag);
}

/* Each rank writes to one and is written to by another, at all distances in turn. */
static void check_groups(void)
{
    MPI_Win win = allocated(1);
    int *own = memory_of(win, rank);

    for (int round = 0; round < ROUNDS; round++) {
        int distance = round % size, goal = (rank + distance) % size;
        MPI_Group to = neighbour(win, distance), from = neighbour(win, -distance);

        MPI_Win_post(from, 0, win);
        MPI_Win_start(to, 0, win);
        store(win, goal, 0, round * 1000 + rank, 0);
        MPI_Win_complete(win);
        end_exposure(win, round % 2);
        CHECK_EQUAL(*own, round * 1000 + (rank - distance + size) % size);
        MPI_Group_free(&to);
        MPI_Group_free(&from);
    }
    MPI_Win_free(&win);
}

/* All write to rank 0, which does not take part as an origin; nothing is done with no group. */
static void check_one_target(void)
{
    MPI_Win win = allocated(size);
    MPI_Group all, zero, others;

    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, (int[]){0}, &zero);
    MPI_Group_excl(all, 1, (int[]){0}, &others);
    for (int round = 1; round <= ROUNDS; round++) {
        if (rank == 0) {
            MPI_Win_post(others, 0, win);
            MPI_Win_wait(win);
            for (int r = 1; r < size; r++)
                CHECK_EQUAL(memory_of(win, 0)[r], round + r);
        } else {
            MPI_Win_start(zero, 0, win);
            store(win, 0, rank, round + rank, 0);
            MPI_Win_complete(win);
        }
    }
    MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Group_free(&all);
    MPI_Group_free(&zero);
    MPI_Group_free(&others);
    MPI_Win_free(&win);
}

/* ---- Locks ---- */

/* A counter without atomics: two inside would lose increments, and see each other. */
static void check_exclusive(void)
{
    MPI_Win win = allocated(2);

    for (int round = 0; round < ROUNDS; round++) {
        int target = round % size, before;

        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        CHECK_EQUAL(load(win, target, 1), 0);
        store(win, target, 1, 1, 1);
        before = load(win, target, 0);
        give_way();
        CHECK_EQUAL(load(win, target, 1), 1);
        store(win, target, 0, before + 1, 1);
        store(win, target, 1, 0, 1);
        MPI_Win_unlock(target, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK_EQUAL(*memory_of(win, rank), size * (ROUNDS / size + (rank < ROUNDS % size)));
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

/* Writers lock one rank, readers share it or lock all: a reader never sees half of a change. */
static void check_readers(void)
{
    MPI_Win win = allocated(2);

    for (int round = 0; round < ROUNDS; round++) {
        int kind = (rank + round) % 3;

        if (kind == 0)
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        else if (kind == 1)
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        else
            MPI_Win_lock_all(0, win);
        if (kind == 0)
            store(win, 0, 0, load(win, 0, 0) + 1, 1);
        else
            CHECK_EQUAL(load(win, 0, 0), load(win, 0, 1));
        give_way();
        if (kind == 0)
            store(win, 0, 1, load(win, 0, 1) + 1, 1);
        else
            CHECK_EQUAL(load(win, 0, 0), load(win, 0, 1));
        if (kind < 2)
            MPI_Win_unlock(0, win);
        else
            MPI_Win_unlock_all(win);
    }
    MPI_Win_free(&win);
}

/* Counts one more in the memory of rank 0, or none; returns how many there are. */
static int count_inside(MPI_Win win, int more)
{
    _Atomic int *inside = (_Atomic int *)memory_of(win, 0);
    int before;

    if (inside != NULL)
        return atomic_fetch_add(inside, more) + more;
    MPI_Fetch_and_op(&more, &before, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    return before + more;
}

/* Shared locks let all in at once: each waits inside until all are. */
static void check_shared_together(int all)
{
    MPI_Win win = allocated(1);

    if (all)
        MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    else
        MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win);
    count_inside(win, 1);
    while (count_inside(win, 0) < size)
        give_way();
    if (all)
        MPI_Win_unlock_all(win);
    else
        MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
}

/* Several locks at a time, and MPI_PROC_NULL. */
static void check_many_locks(void)
{
    MPI_Win win = allocated(1);

    for (int r = 0; r < size; r++)
        MPI_Win_lock(MPI_LOCK_SHARED, r, 0, win);
    MPI_Win_flush_all(win);
    MPI_Win_flush_local_all(win);
    MPI_Win_flush(size - 1, win);
    MPI_Win_flush_local(0, win);
    MPI_Win_flush(MPI_PROC_NULL, win);
    MPI_Win_sync(win);
    for (int r = size - 1; r >= 0; r--)
        MPI_Win_unlock(r, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, win);
    MPI_Win_unlock(MPI_PROC_NULL, win);
    MPI_Win_free(&win);
}

/* ---- Wrong epochs ---- */

static void check_outside(MPI_Win win)
{
    int flag;

    CHECK_EQUAL(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_flush_local(0, win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);
}

/* Epochs that may not begin inside another access epoch. */
static void check_inside(MPI_Win win, MPI_Group group)
{
    MPI_Win copy = win;

    CHECK_EQUAL(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_start(group, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_free(&copy), MPI_ERR_RMA_SYNC);
    CHECK(copy == win);
}

static void check_wrong_epochs(void)
{
    MPI_Win win = allocated(1);
    MPI_Group own = neighbour(win, 0);

    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    check_outside(win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    check_inside(win, own);
    CHECK_EQUAL(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    if (size > 1) {
        CHECK_EQUAL(MPI_Win_unlock(1, win), MPI_ERR_RMA_SYNC);
        CHECK_EQUAL(MPI_Win_flush(1, win), MPI_ERR_RMA_SYNC);
    }
    MPI_Win_unlock(0, win);
    MPI_Win_lock_all(0, win);
    check_inside(win, own);
    CHECK_EQUAL(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_unlock_all(win);
    MPI_Win_post(own, 0, win);
    CHECK_EQUAL(MPI_Win_post(own, 0, win), MPI_ERR_RMA_SYNC);
    CHECK_EQUAL(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    MPI_Win_start(own, 0, win);
    check_inside(win, own);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    check_outside(win);
    MPI_Win_fence(0, win); /* an epoch in which nothing is done does not stand in the way */
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Win_unlock(rank, win);
    MPI_Group_free(&own);
    MPI_Win_free(&win);
}

static void check_wrong_arguments(void)
{
    MPI_Win win = allocated(1);

    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_EQUAL(MPI_Win_lock(17, 0, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_EQUAL(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Win_lock(MPI_LOCK_SHARED, -7, 0, win), MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    CHECK_EQUAL(MPI_Win_unlock(size, win), MPI_ERR_RANK);
    CHECK_EQUAL(MPI_Win_fence(MPI_MODE_NOCHECK, win), MPI_ERR_ASSERT);
    CHECK_EQUAL(MPI_Win_start(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
    CHECK_EQUAL(MPI_Win_post(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
    CHECK_EQUAL(MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOSUCCEED, win), MPI_ERR_ASSERT);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of arguments that are NULL */
    CHECK_EQUAL(MPI_Win_test(win, NULL), MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Win_free(&win);
}

/* A window of half of the ranks, whose numbers differ from those of the world. */
static void check_part(void)
{
    MPI_Comm half;
    MPI_Group world, group;
    MPI_Win win;
    int *base, own;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &own);
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, half, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &rank, &group);
    CHECK_EQUAL(MPI_Win_post(world, 0, win), size > 1 ? MPI_ERR_GROUP : MPI_SUCCESS);
    CHECK_EQUAL(MPI_Win_start(world, 0, win), size > 1 ? MPI_ERR_GROUP : MPI_SUCCESS);
    if (size > 1) {
        MPI_Win_post(group, 0, win);
        MPI_Win_start(group, 0, win);
    }
    *base = own;
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    CHECK_EQUAL(*memory_of(win, own), own);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_fence();
    check_groups();
    check_one_target();
    check_exclusive();
    check_readers();
    check_shared_together(0);
    check_shared_together(1);
    check_many_locks();
    check_wrong_epochs();
    check_wrong_arguments();
    check_part();
    MPI_Finalize();
    return 0;
}
