/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/p2p/multi_request.h"

#include "mpi/object/object.h"
#include "mpi/p2p/p2p_engine.h"
#include "mpi/p2p/partitioned.h"

static void messages_release(mpi_multi_messages_t *m)
{
    for (int i = 0; i < m->receives + m->sends; i++)
        mpi_type_release(m->messages[i].type);
    xy_free(m);
}

/* The program is done with the whole; no message is in flight. */
static void release(mpi_request_t *whole)
{
    mpi_multi_request_t *multi = whole->extra;

    if (multi->copy != NULL)
        mpi_buffer_give(whole->owner->worker, multi->copy);
    if (multi->messages != NULL)
        messages_release(multi->messages);
    xy_free(multi);
}

int mpi_multi_request_begin(mpi_rank_t *self, mpi_comm_t *comm, mpi_multi_request_t **multi_p)
{
    mpi_multi_request_t *multi = xy_malloc(sizeof *multi);
    mpi_request_t *whole = multi ? mpi_request_new(self, XMPI_KIND_COLL) : NULL;

    if (whole == NULL) {
        xy_free(multi);
        return mpi_error_memory(comm, "a request");
    }
    multi->whole = whole;
    multi->pending = 1;
    multi->keeps = false;
    multi->comm = comm;
    multi->copy = NULL;
    multi->parts = NULL;
    multi->messages = NULL;
    whole->engine = NULL;
    whole->buffer = NULL;
    whole->comm = comm;
    whole->call = self->call;
    whole->extra = multi;
    whole->release = release;
    mpi_comm_hold(comm);
    *multi_p = multi;
    return MPI_SUCCESS;
}

void mpi_multi_request_hide(mpi_multi_request_t *multi)
{
    /* A copy of its own: requests keep the communicator of their message. Its count of references
     * never falls to 0. */
    multi->hidden = mpi_comm_shadow(multi->comm, XMPI_CONTEXT_NEIGHBORS);
    multi->comm = &multi->hidden;
}

mpi_request_t **mpi_multi_request_parts(const mpi_request_t *whole)
{
    if (mpi_request_is_partitioned(whole))
        return &mpi_partitioned_of(whole)->parts;
    return whole->release == release ? &((mpi_multi_request_t *)whole->extra)->parts : NULL;
}

static void less(mpi_multi_request_t *multi)
{
    if (--multi->pending == 0)
        mpi_request_complete(multi->whole);
}

static void note(mpi_multi_request_t *multi, const mpi_request_t *part)
{
    if (part->completion.error != MPI_SUCCESS || (part->kind == XMPI_KIND_RECV && multi->keeps &&
                                                  multi->whole->completion.error == MPI_SUCCESS))
        multi->whole->completion = part->completion;
}

/* A message is complete, and its request goes. It may be the last, and then `multi` goes, too. */
static void part_over(mpi_request_t *part)
{
    mpi_multi_request_t *multi = part->extra;

    mpi_comm_release(part->comm);
    part->comm = NULL;
    note(multi, part);
    less(multi);
}

/* Note a part that was started: count it as complete, or wait for its end. */
static int started(mpi_multi_request_t *multi, mpi_request_t *part)
{
    if (part->is_done) {
        note(multi, part);
        mpi_request_free(part);
        return MPI_SUCCESS;
    }
    multi->pending++;
    part->extra = multi;
    part->release = part_over;
    part->is_freed = true;
    part->next_part = multi->parts;
    multi->parts = part;
    return MPI_SUCCESS;
}

/* The message, with the buffer that it is to use. The program sees those of all messages, but for
 * the copy. */
static mpi_transfer_t show(const mpi_multi_request_t *multi, mpi_transfer_t *t, bool is_receive)
{
    mpi_transfer_t shown;

    t->comm = multi->comm;
    shown = *t;
    if (mpi_p2p_engine != NULL && mpi_p2p_engine->part != NULL && t->peer != MPI_PROC_NULL &&
        (multi->copy == NULL || t->buffer != multi->copy))
        shown.buffer = mpi_p2p_engine->part(multi->whole, t, is_receive);
    return shown;
}

int mpi_multi_request_receive(mpi_multi_request_t *multi, mpi_transfer_t *t)
{
    mpi_transfer_t shown = show(multi, t, true);
    mpi_request_t *part;
    int error = mpi_irecv(multi->whole->owner, &shown, &part);

    return error != MPI_SUCCESS ? error : started(multi, part);
}

int mpi_multi_request_send(mpi_multi_request_t *multi, mpi_transfer_t *t)
{
    mpi_transfer_t shown = show(multi, t, false);
    mpi_request_t *part;
    int error = mpi_isend(multi->whole->owner, &shown, &part);

    return error != MPI_SUCCESS ? error : started(multi, part);
}

int mpi_multi_request_end(mpi_multi_request_t *multi, int error, MPI_Request *request,
                          MPI_Status *status)
{
    mpi_request_t *whole = multi->whole;
    MPI_Request handle = mpi_request_handle(whole);

    if (error != MPI_SUCCESS) {
        mpi_engine_finish(whole);
        whole->is_freed = true;
        less(multi);
        return error;
    }
    less(multi);
    if (request != NULL) {
        *request = handle;
        return MPI_SUCCESS;
    }
    mpi_request_wait(whole->owner, whole);
    return mpi_request_finish(&handle, status, true);
}

/* ---- Persistent ---- */

mpi_multi_messages_t *mpi_multi_messages_new(int receives, int sends)
{
    size_t n = (size_t)receives + (size_t)sends;
    mpi_multi_messages_t *m = xy_calloc(1, sizeof(*m) + n * sizeof(m->messages[0]));

    if (m == NULL)
        return NULL;
    m->receives = receives;
    m->sends = sends;
    return m;
}

/* MPI_Start. What goes wrong is found by Wait. */
static void start_again(mpi_request_t *whole)
{
    mpi_multi_request_t *multi = whole->extra;
    mpi_multi_messages_t *m = multi->messages;
    int error = MPI_SUCCESS;

    multi->pending = 1;
    multi->parts = NULL;
    for (int i = 0; i < m->receives + m->sends && error == MPI_SUCCESS; i++)
        error = i < m->receives ? mpi_multi_request_receive(multi, &m->messages[i])
                                : mpi_multi_request_send(multi, &m->messages[i]);
    if (error != MPI_SUCCESS)
        whole->completion.error = error;
    less(multi);
}

void mpi_multi_request_persist(mpi_multi_request_t *multi, mpi_multi_messages_t *messages,
                               MPI_Request *request)
{
    mpi_request_t *whole = multi->whole;

    for (int i = 0; i < messages->receives + messages->sends; i++)
        mpi_type_hold(messages->messages[i].type);
    multi->messages = messages;
    whole->is_persistent = true;
    whole->is_active = false;
    whole->start = start_again;
    *request = mpi_request_handle(whole);
}
