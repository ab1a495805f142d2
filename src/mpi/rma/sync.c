/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active targets: fences, which are barriers, and epochs between groups, in which a target and its
 * origins exchange messages without data:
 *
 *   target:  MPI_Win_post -> one to each origin           MPI_Win_wait: one from each origin
 *   origin:  MPI_Win_start: one from each target          MPI_Win_complete -> one to each target
 */
#include "mpi/rma/sync.h"

#include "mpi/rma/calls.h"
#include "mpi/rma/far.h"

static char no_data[1];

static mpi_transfer_t note(mpi_win_t *win, int peer, int tag)
{
    return (mpi_transfer_t){.comm = win->comm,
                            .buffer = no_data,
                            .type = mpi_type_of(MPI_BYTE),
                            .peer = peer,
                            .tag = tag,
                            .mode = XMPI_MODE_STANDARD};
}

static int note_error(mpi_win_t *win, const mpi_request_t *request)
{
    int error = request->completion.error;

    return error == MPI_SUCCESS ? error : mpi_survive_raise(win->comm, error);
}

int rma_send_note(mpi_rank_t *self, mpi_win_t *win, int to, int tag)
{
    mpi_transfer_t t = note(win, to, tag);
    mpi_request_t request;

    mpi_request_init(&request, self, XMPI_KIND_SEND);
    if (mpi_send_start(self, &t, &request, false))
        return MPI_SUCCESS;
    mpi_request_wait(self, &request);
    return note_error(win, &request);
}

int rma_receive_note(mpi_rank_t *self, mpi_win_t *win, int from, int tag)
{
    mpi_transfer_t t = note(win, from, tag);
    mpi_request_t request;

    mpi_request_init(&request, self, XMPI_KIND_RECV);
    mpi_recv_start(self, &t, &request, false);
    mpi_request_wait(self, &request);
    return note_error(win, &request);
}

/* ---- Fence ---- */

/* Check the assertions of a fence and that no other epoch is open; returns an MPI error code. */
static int check_fence(mpi_win_t *win, int assert)
{
    const int known = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

    if ((assert & ~known) != 0)
        return mpi_error(win->comm, MPI_ERR_ASSERT,
                         "the assertion is %d; a fence knows MPI_MODE_NOSTORE, MPI_MODE_NOPUT, "
                         "MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED",
                         mpi_number_passed(assert));
    if (win->access > RMA_ACCESS_FENCE_USED)
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC, "%s is open", rma_access_name(win));
    if (win->posted != NULL)
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                         "an exposure epoch of MPI_Win_post is open; MPI_Win_wait ends it");
    if ((assert &MPI_MODE_NOPRECEDE) != 0 && win->access == RMA_ACCESS_FENCE_USED)
        return mpi_error(win->comm, MPI_ERR_ASSERT,
                         "MPI_MODE_NOPRECEDE says that this rank has done nothing since the last "
                         "fence, but it has");
    return MPI_SUCCESS;
}

/* Also with MPI_MODE_NOPRECEDE: an operation that follows must not come before the target's fence.
 */
int impl_win_fence(mpi_rank_t *self, int assert, mpi_win_t *win)
{
    coll_call_t call = {.kind = &coll_window_fence}; /* a barrier */
    int error;

    error = check_fence(win, assert);
    if (error != MPI_SUCCESS)
        return error;
    rma_note(win, MPI_UNDEFINED);
    rma_settle(win, RMA_EVERYWHERE, false);
    if (win->shared->far != NULL)
        rma_far_flush(self, win, RMA_EVERYWHERE);
    call.comm = win->comm;
    rma_note_meeting(win->comm);
    error = coll_run(self, &call);
    win->far.has_lost = false; /* as the fence has raised */
    win->access = (assert &MPI_MODE_NOSUCCEED) != 0 ? RMA_ACCESS_NONE : RMA_ACCESS_FENCE;
    return error;
}

/* ---- Groups ---- */

/* The ranks of the members of `group` in the window, into ranks[group->size]. */
static int find_ranks(mpi_win_t *win, const mpi_group_t *group, int *ranks)
{
    const mpi_group_t *members = win->comm->group;
    int *index = NULL;

    if (members->ranks != NULL) {
        index = mpi_group_index(members);
        if (index == NULL)
            return mpi_error_memory(win->comm, "the ranks of a group");
    }
    for (int i = 0; i < group->size; i++) {
        int world = mpi_group_world(group, i);

        ranks[i] = index != NULL ? index[world] : world < members->size ? world : MPI_UNDEFINED;
        if (ranks[i] == MPI_UNDEFINED) {
            xy_free(index);
            return mpi_error(win->comm, MPI_ERR_GROUP,
                             "member %d of the group (rank %d of MPI_COMM_WORLD) is not in %s", i,
                             world, win->comm->name);
        }
    }
    xy_free(index);
    return MPI_SUCCESS;
}

static int check_group(mpi_win_t *win, MPI_Group handle, int assert, int known)
{
    if (mpi_group_of(handle) == NULL)
        return mpi_group_refuse(win->comm, handle);
    if ((assert & ~known) != 0)
        return mpi_error(win->comm, MPI_ERR_ASSERT, "the assertion %d is not one of this call",
                         mpi_number_passed(assert));
    return MPI_SUCCESS;
}

/* Where some members have failed, the others hear from this one. */
static void keep_first(int *error, int other)
{
    if (*error == MPI_SUCCESS)
        *error = other;
}

/* ---- The target ---- */

static int check_post(mpi_win_t *win, MPI_Group group, int assert)
{
    int error =
        check_group(win, group, assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);

    if (error == MPI_SUCCESS && win->posted != NULL)
        error = mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                          "an exposure epoch of MPI_Win_post is open; MPI_Win_wait ends it");
    if (error == MPI_SUCCESS && win->access == RMA_ACCESS_FENCE_USED)
        error = mpi_error(win->comm, MPI_ERR_RMA_SYNC, "%s is open", rma_access_name(win));
    return error;
}

static void end_exposure(mpi_win_t *win)
{
    if (__builtin_expect(rma_watch != NULL, 0))
        rma_watch->exposed(win);
    mpi_group_release(win->posted);
    win->posted = NULL;
    xy_free(win->completions);
    win->completions = NULL;
    win->origins = NULL;
}

/* Receives come first, so that the messages of MPI_Win_complete find them. */
static int expect_origins(mpi_rank_t *self, mpi_win_t *win)
{
    int error = MPI_SUCCESS;

    for (int i = 0; i < win->posted->size && error == MPI_SUCCESS; i++) {
        mpi_transfer_t t = note(win, win->origins[i], RMA_TAG_COMPLETE);
        mpi_request_t *request;

        error = mpi_irecv(self, &t, &request);
        if (error == MPI_SUCCESS)
            win->completions[i] = mpi_request_handle(request);
    }
    return error;
}

/* Open an exposure epoch and post the receives of its end; on failure nothing is open. */
static int begin_exposure(mpi_rank_t *self, mpi_win_t *win, mpi_group_t *group)
{
    size_t n = (size_t)group->size;
    int error;

    win->completions = xy_malloc(n * (sizeof(MPI_Request) + sizeof(int)) + 1);
    if (win->completions == NULL)
        return mpi_error_memory(win->comm, "an exposure epoch");
    win->origins = (int *)(void *)(win->completions + n);
    mpi_group_hold(group, 1);
    win->posted = group;
    for (size_t i = 0; i < n; i++)
        win->completions[i] = MPI_REQUEST_NULL;
    error = find_ranks(win, group, win->origins);
    if (error == MPI_SUCCESS)
        error = expect_origins(self, win);
    if (error != MPI_SUCCESS)
        end_exposure(win);
    return error;
}

int impl_win_post(mpi_rank_t *self, MPI_Group group, int assert, mpi_win_t *win)
{
    int error;

    rma_note(win, MPI_UNDEFINED);
    error = check_post(win, group, assert);
    if (error == MPI_SUCCESS)
        error = begin_exposure(self, win, mpi_group_of(group));
    if (error != MPI_SUCCESS || (assert &MPI_MODE_NOCHECK) != 0)
        return error;
    for (int i = 0; i < win->posted->size; i++)
        keep_first(&error, rma_send_note(self, win, win->origins[i], RMA_TAG_POST));
    return error;
}

static int refuse_wait(mpi_win_t *win)
{
    return mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                     "no exposure epoch is open; MPI_Win_post comes first");
}

int impl_win_wait(mpi_rank_t *self, mpi_win_t *win)
{
    int error = MPI_SUCCESS;

    if (win->posted == NULL)
        return refuse_wait(win);
    for (int i = 0; i < win->posted->size; i++) {
        rma_note(win, win->origins[i]);
        keep_first(&error, impl_wait(self, &win->completions[i], MPI_STATUS_IGNORE));
    }
    end_exposure(win);
    return error;
}

int impl_win_test(mpi_rank_t *self, mpi_win_t *win, int *flag)
{
    int error;

    if (flag == NULL)
        return mpi_error_null(win->comm, "flag");
    if (win->posted == NULL)
        return refuse_wait(win);
    error = impl_testall(self, win->posted->size, win->completions, flag, MPI_STATUSES_IGNORE);
    if (error != MPI_SUCCESS || *flag)
        end_exposure(win);
    return error;
}

/* ---- The origin ---- */

static void end_access(mpi_win_t *win)
{
    for (int i = 0; i < win->started->size; i++)
        rma_unreach(win, win->goals[i]);
    mpi_group_release(win->started);
    win->started = NULL;
    xy_free(win->goals);
    win->goals = NULL;
    win->access = RMA_ACCESS_NONE;
}

/* Open an access epoch to the ranks of a group; returns an MPI error code. */
static int begin_access(mpi_win_t *win, mpi_group_t *group)
{
    int error = MPI_SUCCESS, *goals = xy_malloc((size_t)group->size * sizeof(int) + 1);

    if (goals == NULL)
        return mpi_error_memory(win->comm, "an access epoch");
    error = find_ranks(win, group, goals);
    for (int i = 0; i < group->size && error == MPI_SUCCESS; i++)
        if (rma_reach(win, goals[i]) != XY_OK)
            error = mpi_error_memory(win->comm, "an access epoch");
    if (error != MPI_SUCCESS) {
        xy_free(goals);
        return error;
    }
    mpi_group_hold(group, 1);
    win->started = group;
    win->goals = goals;
    win->access = RMA_ACCESS_START;
    return MPI_SUCCESS;
}

/* Waits for the targets here, so that operations can be done at once. */
int impl_win_start(mpi_rank_t *self, MPI_Group group, int assert, mpi_win_t *win)
{
    int error;

    error = check_group(win, group, assert, MPI_MODE_NOCHECK);
    if (error == MPI_SUCCESS && win->access != RMA_ACCESS_NONE && win->access != RMA_ACCESS_FENCE)
        error = mpi_error(win->comm, MPI_ERR_RMA_SYNC, "%s is open", rma_access_name(win));
    if (error == MPI_SUCCESS)
        error = begin_access(win, mpi_group_of(group));
    if (error != MPI_SUCCESS || (assert &MPI_MODE_NOCHECK) != 0)
        return error;
    for (int i = 0; i < win->started->size; i++) {
        rma_note(win, win->goals[i]);
        keep_first(&error, rma_receive_note(self, win, win->goals[i], RMA_TAG_POST));
    }
    return error;
}

int impl_win_complete(mpi_rank_t *self, mpi_win_t *win)
{
    int error = MPI_SUCCESS;

    if (win->access != RMA_ACCESS_START)
        return mpi_error(win->comm, MPI_ERR_RMA_SYNC,
                         "no access epoch of MPI_Win_start is open; MPI_Win_start comes first");
    rma_settle(win, RMA_EVERYWHERE, false);
    if (win->shared->far != NULL)
        rma_far_settle(self, win);
    for (int i = 0; i < win->started->size; i++) {
        rma_note(win, win->goals[i]);
        if (rma_is_far(win, win->goals[i])) {
            rma_far_follow(win, win->goals[i]);
            rma_far_drain(win, win->goals[i]);
        }
        keep_first(&error, rma_send_note(self, win, win->goals[i], RMA_TAG_COMPLETE));
    }
    end_access(win);
    win->far.has_lost = false;
    return error;
}
