/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/multi_request.h"

#include "mpi/comm/make.h"
#include "mpi/object/error.h"

/* The program is through with the whole; no message is under way. */
static void release(mpi_request_t *whole)
{
    mpi_parts_t *parts = whole->extra;

    if (parts->copy != NULL)
        mpi_buffer_give(whole->owner->worker, parts->copy);
    xy_free(parts);
}

int mpi_parts_begin(mpi_rank_t *self, mpi_comm_t *comm, mpi_parts_t **parts_p)
{
    mpi_parts_t *parts = xy_malloc(sizeof *parts);
    mpi_request_t *whole = parts ? mpi_request_new(self, XMPI_KIND_COLL) : NULL;

    if (whole == NULL) {
        xy_free(parts);
        return mpi_error_memory(comm, "a request");
    }
    parts->whole = whole;
    parts->pending = 1;
    parts->keeps = false;
    parts->comm = comm;
    parts->copy = NULL;
    whole->comm = comm;
    whole->call = self->call;
    whole->extra = parts;
    whole->release = release;
    mpi_comm_hold(comm);
    *parts_p = parts;
    return MPI_SUCCESS;
}

void mpi_parts_hide(mpi_parts_t *parts)
{
    /* A copy of its own: requests keep the communicator of their message. Its count of references
     * never falls to 0. */
    parts->hidden = mpi_comm_shadow(parts->comm, XMPI_CONTEXT_NEIGHBORS);
    parts->comm = &parts->hidden;
}

static void less(mpi_parts_t *parts)
{
    if (--parts->pending == 0)
        mpi_request_complete(parts->whole);
}

static void note(mpi_parts_t *parts, const mpi_request_t *part)
{
    if (part->kind == XMPI_KIND_RECV &&
        (part->completion.error != MPI_SUCCESS ||
         (parts->keeps && parts->whole->completion.error == MPI_SUCCESS)))
        parts->whole->completion = part->completion;
}

/* A message is over, and its request goes. It may be the last, and then `parts` goes, too. */
static void part_over(mpi_request_t *part)
{
    mpi_parts_t *parts = part->extra;

    mpi_comm_release(part->comm);
    part->comm = NULL;
    note(parts, part);
    less(parts);
}

static int started(mpi_parts_t *parts, mpi_request_t *part)
{
    if (part->is_done) {
        note(parts, part);
        mpi_request_free(part);
        return MPI_SUCCESS;
    }
    parts->pending++;
    part->extra = parts;
    part->release = part_over;
    part->is_freed = true;
    return MPI_SUCCESS;
}

int mpi_parts_receive(mpi_parts_t *parts, mpi_transfer_t *t)
{
    mpi_request_t *part;
    int error;

    t->comm = parts->comm;
    error = mpi_irecv(parts->whole->owner, t, &part);
    return error != MPI_SUCCESS ? error : started(parts, part);
}

int mpi_parts_send(mpi_parts_t *parts, mpi_transfer_t *t)
{
    mpi_request_t *part;
    int error;

    t->comm = parts->comm;
    error = mpi_isend(parts->whole->owner, t, &part);
    return error != MPI_SUCCESS ? error : started(parts, part);
}

int mpi_parts_end(mpi_parts_t *parts, int error, MPI_Request *request, MPI_Status *status)
{
    mpi_request_t *whole = parts->whole;
    MPI_Request handle = mpi_request_handle(whole);

    if (error != MPI_SUCCESS) {
        whole->is_freed = true;
        less(parts);
        return error;
    }
    less(parts);
    if (request != NULL) {
        *request = handle;
        return MPI_SUCCESS;
    }
    mpi_request_wait(whole->owner, whole);
    return mpi_request_finish(&handle, status, true);
}
