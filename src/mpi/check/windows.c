/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wait of a rank in a call of a window, and the rank that it waits for. As in deadlock.c every
 * record is copied before it is looked at: the window may be freed meanwhile.
 */
#include "mpi/check/windows.h"

#include <stdio.h>
#include <string.h>

#include "mpi/check/copy_memory.h"
#include "mpi/check/deadlock.h"
#include "mpi/rma/rma.h"

typedef struct {
    char text[MPI_MAX_OBJECT_NAME + 64];
} name_t;

/* "rank 3", or "rank 3 (1 in table)" where the window numbers its ranks in another way. */
static name_t name_of(const mpi_call_t *call, int rank)
{
    int world = call->comm != NULL ? check_world_rank(call->comm, rank) : -1;
    char window[MPI_MAX_OBJECT_NAME];
    name_t name;

    if (world < 0 || !check_copy_string(window, call->comm->name, sizeof(window)))
        snprintf(name.text, sizeof(name.text), "rank %d", rank);
    else
        snprintf(name.text, sizeof(name.text), "rank %d (%d in %s)", world, rank, window);
    return name;
}

/* Copy the part of the window that all members share. */
static bool copy_shared(const mpi_call_t *call, rma_shared_t *shared)
{
    mpi_comm_t comm;
    mpi_win_t win;

    return call->comm != NULL && check_copy_memory(&comm, call->comm, sizeof(comm)) &&
           comm.window != NULL && check_copy_memory(&win, comm.window, sizeof(win)) &&
           check_copy_memory(shared, win.shared, sizeof(*shared));
}

static bool copy_here(const rma_shared_t *shared, int target, rma_target_t *t)
{
    return target >= 0 && target < shared->size &&
           check_copy_memory(t, &shared->targets[target], sizeof(*t));
}

/* ---- Targets of other processes ---- */

/* One asks for the window of the target, an address there, in one word. With ANY_TARGET in it: for
 * any target of that process that is locked exclusively. */
enum { ANY_TARGET = 1 };

/* The answer. */
typedef union {
    struct {
        uint32_t owner_1; /* rank with the exclusive lock, plus 1; 0: none */
        union {
            struct {
                uint16_t sharers, all; /* how many share it, and have locked all */
            };
            uint32_t target; /* ANY_TARGET: which one */
        };
    };
    uint64_t word;
} locks_t;

static uint64_t tell_target(const rma_shared_t *shared, int rank)
{
    locks_t locks = {.word = 0};
    rma_target_t t;

    if (!copy_here(shared, rank, &t))
        return 0;
    locks.owner_1 = (uint32_t)(t.owner + 1);
    locks.sharers = (uint16_t)t.sharers;
    locks.all = (uint16_t)shared->all;
    return locks.word;
}

static uint64_t tell_any(const rma_shared_t *shared)
{
    locks_t locks = {.word = 0};
    rma_target_t t;

    for (int r = 0; locks.owner_1 == 0 && copy_here(shared, r, &t); r++) {
        locks.owner_1 = (uint32_t)(t.owner + 1);
        locks.target = (uint32_t)r;
    }
    return locks.word;
}

uint64_t check_tell_locks(uint64_t question)
{
    rma_shared_t shared;
    mpi_win_t win;

    if (!check_copy_memory(&win, (const void *)(uintptr_t)(question & ~(uint64_t)ANY_TARGET),
                           sizeof(win)) ||
        win.life.mark != XMPI_LIFE_LIVE + XMPI_LIFE_WINDOW ||
        !check_copy_memory(&shared, win.shared, sizeof(shared)))
        return 0;
    return question & ANY_TARGET ? tell_any(&shared) : tell_target(&shared, win.rank);
}

/* Ask the process of target `rank`. False: it is here. */
static bool ask_about(const rma_shared_t *shared, int rank, uint64_t flag, locks_t *locks)
{
    rma_far_place_t far;

    locks->word = 0;
    if (shared->far == NULL || !check_copy_memory(&far, &shared->far[rank], sizeof(far)) ||
        far.window == 0)
        return false;
    mpi_network_ask(far.process, far.window | flag, &locks->word);
    return true;
}

/* The locks of target `rank`, wherever it is. */
static bool copy_target(rma_shared_t *shared, int rank, rma_target_t *t)
{
    locks_t locks;

    if (!copy_here(shared, rank, t))
        return false;
    if (ask_about(shared, rank, 0, &locks)) {
        t->owner = (int)locks.owner_1 - 1;
        t->sharers = locks.sharers;
        shared->all = locks.all;
    }
    return true;
}

/* ---- Texts ---- */

static void describe_owner(const mpi_call_t *call, int target, int owner, char *text, size_t size)
{
    snprintf(text, size, ", for %s, which %s has locked exclusively", name_of(call, target).text,
             name_of(call, owner).text);
}

/* Describe the lock that a rank waits for and who holds it. */
static void describe_lock(const mpi_call_t *call, char *text, size_t size)
{
    rma_shared_t shared;
    rma_target_t t;
    name_t target = name_of(call, call->peer);

    snprintf(text, size, ", for %s", target.text);
    if (!copy_shared(call, &shared) || !copy_target(&shared, call->peer, &t))
        return;
    if (t.owner >= 0)
        describe_owner(call, call->peer, t.owner, text, size);
    else if (t.sharers > 0)
        snprintf(text, size, ", for %s, which has %d shared lock%s", target.text, t.sharers,
                 t.sharers > 1 ? "s" : "");
    else if (shared.all > 0)
        snprintf(text, size, ", for %s, which %d rank%s locked by MPI_Win_lock_all", target.text,
                 shared.all, shared.all > 1 ? "s have" : " has");
}

/* The owner of any target that is locked exclusively. */
static int find_owner(const rma_shared_t *shared, int *target_p)
{
    rma_target_t t;
    locks_t locks;
    int door;

    for (int r = 0; copy_here(shared, r, &t); r++)
        if (t.owner >= 0) {
            *target_p = r;
            return t.owner;
        }
    for (int i = 0; i < shared->door_count; i++)
        if (check_copy_memory(&door, &shared->doors[i], sizeof(door)) &&
            ask_about(shared, door, ANY_TARGET, &locks) && locks.owner_1 > 0) {
            *target_p = (int)locks.target;
            return (int)locks.owner_1 - 1;
        }
    return MPI_UNDEFINED;
}

int check_lock_owner(const mpi_call_t *call, int *target_p)
{
    rma_shared_t shared;
    rma_target_t t;

    if (!copy_shared(call, &shared))
        return MPI_UNDEFINED;
    if (call->peer < 0)
        return find_owner(&shared, target_p);
    if (!copy_target(&shared, call->peer, &t) || t.owner < 0)
        return MPI_UNDEFINED;
    *target_p = call->peer;
    return t.owner;
}

static void describe_lock_all(const mpi_call_t *call, char *text, size_t size)
{
    int target, owner = check_lock_owner(call, &target);

    if (owner != MPI_UNDEFINED)
        describe_owner(call, target, owner, text, size);
}

void check_describe_window(const char *name, const mpi_call_t *call, char *text, size_t size)
{
    text[0] = '\0';
    if (strcmp(name, "MPI_Win_lock") == 0)
        describe_lock(call, text, size);
    else if (strcmp(name, "MPI_Win_lock_all") == 0)
        describe_lock_all(call, text, size);
    else if (strcmp(name, "MPI_Win_start") == 0)
        snprintf(text, size, ", for MPI_Win_post of %s", name_of(call, call->peer).text);
    else if (strcmp(name, "MPI_Win_wait") == 0)
        snprintf(text, size, ", for MPI_Win_complete of %s", name_of(call, call->peer).text);
}
