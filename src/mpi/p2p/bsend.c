/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends. The attached buffer is an account, not a store: messages that do not leave at
 * once are copied into memory of the library, and their sizes plus MPI_BSEND_OVERHEAD may not
 * exceed what the program attached.
 */
#include "mpi/p2p/bsend.h"
#include "mpi/p2p/engine.h"

#include <limits.h>

#include "mpi/object/object.h"
#include "mpi/p2p/calls.h"
#include "mpi/runtime/runtime.h"

typedef struct mpi_bsend {
    void *buffer; /* the program's; given back by detach */
    uint64_t size;
    uint64_t used;
    mpi_waiter_t *flushers; /* parked until `used` is 0 */
} mpi_bsend_t;

static void release(mpi_request_t *request)
{
    mpi_rank_t *self = request->owner;
    mpi_bsend_t *b = self->bsend;

    b->used -= request->bytes + MPI_BSEND_OVERHEAD;
    mpi_buffer_give(self->worker, request->buffer);
    for (mpi_waiter_t *next; b->used == 0 && b->flushers != NULL; b->flushers = next) {
        next = b->flushers->next;
        xy_fiber_ready(b->flushers->fiber);
    }
}

static int send_copy(mpi_rank_t *self, const mpi_transfer_t *t, uint64_t bytes)
{
    char *copy = mpi_buffer_take(self->worker, bytes);
    mpi_transfer_t packed = {.comm = t->comm,
                             .buffer = copy,
                             .count = (int64_t)bytes,
                             .type = mpi_type_of(MPI_BYTE),
                             .peer = t->peer,
                             .tag = t->tag};
    mpi_request_t *request;
    int error;

    if (copy == NULL)
        return mpi_error(t->comm, MPI_ERR_NO_MEM, "no memory to buffer %llu bytes",
                         (unsigned long long)bytes);
    mpi_type_pack(copy, t->buffer, t->count, t->type, 0, bytes);
    self->bsend->used += bytes + MPI_BSEND_OVERHEAD;
    error = mpi_isend(self, &packed, &request);
    if (error != MPI_SUCCESS)
        return error;
    request->release = release;
    if (request->is_done)
        mpi_request_free(request);
    else
        request->is_freed = true;
    return MPI_SUCCESS;
}

/* The engine keeps the data: it leaves at once as far as the attached buffer is concerned. */
static int send_buffered(mpi_rank_t *self, const mpi_transfer_t *t)
{
    mpi_transfer_t buffered = *t;

    buffered.mode = XMPI_MODE_BUFFERED;
    mpi_send_start(self, &buffered, NULL, false);
    return MPI_SUCCESS;
}

int mpi_bsend(mpi_rank_t *self, const mpi_transfer_t *t)
{
    uint64_t bytes = (uint64_t)t->count * mpi_type_size(t->type);
    mpi_bsend_t *b = self->bsend;

    if (mpi_p2p_engine != NULL && bytes <= mpi_job->eager_limit)
        return send_buffered(self, t);
    if (bytes <= mpi_job->eager_limit) {
        mpi_transfer_t eager = *t;

        eager.mode = XMPI_MODE_STANDARD;
        mpi_send_start(self, &eager, NULL, false);
        mpi_send_throttle(self, &eager);
        return MPI_SUCCESS;
    }
    if (b == NULL || b->size - b->used < bytes + MPI_BSEND_OVERHEAD)
        return mpi_error(t->comm, MPI_ERR_BUFFER,
                         "a message of %llu bytes needs %llu bytes of attached buffer and %llu are "
                         "free; attach a larger one with MPI_Buffer_attach",
                         (unsigned long long)bytes, (unsigned long long)bytes + MPI_BSEND_OVERHEAD,
                         (unsigned long long)(b ? b->size - b->used : 0));
    return mpi_p2p_engine != NULL ? send_buffered(self, t) : send_copy(self, t, bytes);
}

/* Wait until every buffered message of `self` has left. */
static void flush(mpi_rank_t *self)
{
    if (self->bsend != NULL && self->bsend->used > 0)
        mpi_request_before_wait(self, NULL, 0);
    while (self->bsend != NULL && self->bsend->used > 0) {
        self->waiter->next = self->bsend->flushers;
        self->bsend->flushers = self->waiter;
        xy_fiber_park();
    }
}

int impl_buffer_attach(mpi_rank_t *self, void *buffer, int64_t size)
{
    if (size < 0)
        return mpi_error(NULL, MPI_ERR_ARG, "the size is %lld", (long long)size);
    if (self->bsend != NULL)
        return mpi_error(NULL, MPI_ERR_BUFFER, "a buffer is attached already; detach it first");
    self->bsend = xy_calloc(1, sizeof(*self->bsend));
    if (self->bsend == NULL)
        return mpi_error(NULL, MPI_ERR_NO_MEM, "no memory");
    self->bsend->buffer = buffer;
    self->bsend->size = (uint64_t)size;
    return MPI_SUCCESS;
}

int impl_buffer_detach_c(mpi_rank_t *self, void *buffer_p, MPI_Count *size)
{
    *(void **)buffer_p = NULL;
    *size = 0;
    if (self->bsend == NULL)
        return mpi_error(NULL, MPI_ERR_BUFFER, "no buffer is attached");
    flush(self);
    *(void **)buffer_p = self->bsend->buffer;
    *size = (MPI_Count)self->bsend->size;
    xy_free(self->bsend);
    self->bsend = NULL;
    return MPI_SUCCESS;
}

int impl_buffer_detach(mpi_rank_t *self, void *buffer_addr, int *size)
{
    MPI_Count large;
    int error = impl_buffer_detach_c(self, buffer_addr, &large);

    *size = large > INT_MAX ? MPI_UNDEFINED : (int)large;
    return error;
}

int impl_buffer_flush(mpi_rank_t *self)
{
    flush(self);
    return MPI_SUCCESS;
}

static int bsend(mpi_rank_t *self, const void *buffer, int64_t count, MPI_Datatype type, int dest,
                 int tag, MPI_Comm comm, MPI_Request *handle)
{
    mpi_request_t *request = NULL;
    mpi_transfer_t t;
    int error = mpi_transfer_check(self, comm, buffer, count, type, dest, tag, false, &t);

    if (error == MPI_SUCCESS && handle != NULL) {
        request = mpi_request_new(self, XMPI_KIND_SEND);
        if (request == NULL)
            error = mpi_error(t.comm, MPI_ERR_NO_MEM, "no memory for a request");
    }
    if (error == MPI_SUCCESS && dest != MPI_PROC_NULL)
        error = mpi_bsend(self, &t);
    if (error == MPI_SUCCESS && request != NULL) {
        request->is_done = true;
        request->call = self->call;
        *handle = mpi_request_handle(request);
    } else if (request != NULL) {
        mpi_request_free(request);
    }
    return error;
}

int impl_bsend(mpi_rank_t *self, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
               int tag, MPI_Comm comm)
{
    return bsend(self, buf, count, type, dest, tag, comm, NULL);
}

int impl_ibsend(mpi_rank_t *self, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                int tag, MPI_Comm comm, MPI_Request *request)
{
    return bsend(self, buf, count, type, dest, tag, comm, request);
}
