/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the mistake with windows that its argument names; window_mistakes.sh looks at what is said
 * about it. Four ranks. */
#include <mpi.h>
#include <string.h>

static int rank;
static MPI_Win win;
static MPI_Group all;

/* Rank 1 has rank 0 and waits for a message, which never comes. */
static void rank_1_locks(int type)
{
    if (rank == 1)
        MPI_Win_lock(type, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(NULL, 0, MPI_INT, 2, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void lock_held(void)
{
    rank_1_locks(MPI_LOCK_EXCLUSIVE);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
}

static void lock_shared_held(void)
{
    rank_1_locks(MPI_LOCK_SHARED);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
}

static void lock_all_held(void)
{
    rank_1_locks(MPI_LOCK_EXCLUSIVE);
    MPI_Win_lock_all(0, win);
}

/* Each has one and wants the next. */
static void lock_circle(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % 4, 0, win);
}

/* The same in a window that numbers its ranks the other way round. */
static void lock_reversed(void)
{
    MPI_Comm reversed;
    MPI_Win other;
    int *base;

    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, reversed, &base, &other);
    MPI_Win_set_name(other, "stack");
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3 - rank, 0, other);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (4 - rank) % 4, 0, other);
}

static void start_without_post(void)
{
    MPI_Win_start(all, 0, win);
}

static void wait_without_complete(void)
{
    if (rank == 0) {
        MPI_Win_post(all, 0, win);
        MPI_Win_wait(win);
    }
}

static void fence_without_0(void)
{
    if (rank != 0)
        MPI_Win_fence(0, win);
}

static void fence_and_free(void)
{
    if (rank == 2)
        MPI_Win_free(&win);
    else
        MPI_Win_fence(0, win);
}

static void unlock_without_lock(void)
{
    MPI_Win_unlock(3, win);
}

static void lock_twice(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
}

static void fence_in_lock(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
    MPI_Win_fence(0, win);
}

static void free_in_lock_all(void)
{
    MPI_Win_lock_all(0, win);
    MPI_Win_free(&win);
}

static void complete_without_start(void)
{
    MPI_Win_complete(win);
}

static void freed(void)
{
    MPI_Win_free(&win);
    MPI_Win_fence(0, win);
}

/* No epoch, and then a place that is not in the window. */
static void put_outside(void)
{
    MPI_Put(&rank, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
}

static void put_too_far(void)
{
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, 2, 16, 1, MPI_INT, win);
}

static void none(void) {}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*make)(void);
    } mistakes[] = {{"none", none},
                    {"lock_held", lock_held},
                    {"lock_shared_held", lock_shared_held},
                    {"lock_all_held", lock_all_held},
                    {"lock_circle", lock_circle},
                    {"lock_reversed", lock_reversed},
                    {"start_without_post", start_without_post},
                    {"wait_without_complete", wait_without_complete},
                    {"fence_without_0", fence_without_0},
                    {"fence_and_free", fence_and_free},
                    {"unlock_without_lock", unlock_without_lock},
                    {"lock_twice", lock_twice},
                    {"fence_in_lock", fence_in_lock},
                    {"free_in_lock_all", free_in_lock_all},
                    {"complete_without_start", complete_without_start},
                    {"put_outside", put_outside},
                    {"put_too_far", put_too_far},
                    {"freed", freed}};
    int *base;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_name(win, "table");
    MPI_Win_get_group(win, &all);
    for (size_t i = 0; argc > 1 && i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
        if (strcmp(mistakes[i].name, argv[1]) == 0)
            mistakes[i].make();
    MPI_Group_free(&all);
    if (win != MPI_WIN_NULL)
        MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
