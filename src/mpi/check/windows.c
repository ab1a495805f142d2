/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank in a call of a window waits for, and who has it. As in deadlock.c every record is
 * copied before it is looked at: the window may be freed meanwhile.
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

/* What all members share of the window that the call is about. */
static bool copy_shared(const mpi_call_t *call, rma_shared_t *shared)
{
    mpi_comm_t comm;
    mpi_win_t win;

    return call->comm != NULL && check_copy_memory(&comm, call->comm, sizeof(comm)) &&
           comm.window != NULL && check_copy_memory(&win, comm.window, sizeof(win)) &&
           check_copy_memory(shared, win.shared, sizeof(*shared));
}

static bool copy_target(const rma_shared_t *shared, int target, rma_target_t *t)
{
    return target >= 0 && target < shared->size &&
           check_copy_memory(t, &shared->targets[target], sizeof(*t));
}

static void describe_owner(const mpi_call_t *call, int target, int owner, char *text, size_t size)
{
    snprintf(text, size, ", for %s, which %s has locked exclusively", name_of(call, target).text,
             name_of(call, owner).text);
}

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

int check_lock_owner(const mpi_call_t *call, int *target_p)
{
    bool is_one = call->peer >= 0; /* else any target will do */
    rma_shared_t shared;
    rma_target_t t;

    if (!copy_shared(call, &shared))
        return MPI_UNDEFINED;
    for (int r = is_one ? call->peer : 0; copy_target(&shared, r, &t); r++) {
        if (t.owner >= 0) {
            *target_p = r;
            return t.owner;
        }
        if (is_one)
            break;
    }
    return MPI_UNDEFINED;
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
