/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends. The attached buffer is an account, not a store: messages that do not leave at
 * once are copied into memory of the library, and their sizes plus an overhead may not exceed the
 * size of the buffer that the program attached to the communicator, its session, or else to the
 * rank. The automatic buffer has no end.
 */
#include "mpi/p2p/bsend.h"
#include "mpi/p2p/p2p_engine.h"

#include <limits.h>

#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/p2p/remote.h"
#include "mpi/runtime/runtime.h"

/*
 * The overhead of a message. MPI_BSEND_OVERHEAD, its upper bound, is 512 in the standard's ABI;
 * MPICH's bound of 96 is the smallest in use, and programs with fixed sizes rely on it.
 */
enum { OVERHEAD = 96 };

_Static_assert((int)OVERHEAD <= MPI_BSEND_OVERHEAD, "the constant of the ABI is the upper bound");

/* Messages between two flushes, that have not left. */
typedef struct epoch {
    struct mpi_bsend *account;
    long pending;
    mpi_request_t
        *flush; /* over when these messages and all before have left; NULL: the last one */
    struct epoch *next;
} epoch_t;

/* An attached buffer. */
struct mpi_bsend {
    void *buffer; /* the program's; given back by detach */
    uint64_t size;
    uint64_t used;
    epoch_t *first, *last; /* of those that a flush waits for, and the one that is open */
};

static void epochs_free(mpi_bsend_t *b)
{
    while (b->first != NULL) {
        epoch_t *epoch = b->first;

        b->first = epoch->next;
        xy_free(epoch);
    }
}

/* Open an epoch of an account, to which later messages belong; false without memory. */
static bool epoch_open(mpi_bsend_t *b)
{
    epoch_t *epoch = xy_calloc(1, sizeof(*epoch));

    if (epoch == NULL)
        return false;
    epoch->account = b;
    if (b->last != NULL)
        b->last->next = epoch;
    else
        b->first = epoch;
    b->last = epoch;
    return true;
}

/* Flushes are complete in their order. */
static void settle(mpi_bsend_t *b)
{
    while (b->first->flush != NULL && b->first->pending == 0) {
        epoch_t *epoch = b->first;

        b->first = epoch->next;
        mpi_request_complete(epoch->flush);
        xy_free(epoch);
    }
}

static void release(mpi_request_t *request)
{
    epoch_t *epoch = request->extra;
    mpi_bsend_t *b = epoch->account;

    b->used -= request->bytes + OVERHEAD;
    mpi_buffer_give(request->owner->worker, request->buffer);
    epoch->pending--;
    settle(b);
}

/* The type of the copy: elements, where all are of one kind, so that the receiver's type can be
 * compared. */
static mpi_type_t *packed_type(const mpi_type_t *type)
{
    mpi_type_t *element =
        type->signature < XMPI_TYPE_TABLE ? &mpi_type_table[type->signature] : NULL;

    if (element != NULL && element->is_predefined && mpi_type_is_contiguous(element))
        return element;
    return mpi_type_of(MPI_BYTE);
}

/* Send a packed copy of a message and charge it to the account; the copy is freed when it has left.
 */
static int send_copy(mpi_rank_t *self, mpi_bsend_t *b, const mpi_transfer_t *t, uint64_t bytes)
{
    char *copy = mpi_buffer_take(self->worker, bytes);
    mpi_type_t *type = packed_type(t->type);
    mpi_transfer_t packed = {.comm = t->comm,
                             .buffer = copy,
                             .count = (int64_t)(bytes / type->size),
                             .type = type,
                             .peer = t->peer,
                             .tag = t->tag};
    mpi_request_t *request;
    int error;

    if (copy == NULL)
        return mpi_error(t->comm, MPI_ERR_NO_MEM, "no memory to buffer %llu bytes",
                         (unsigned long long)bytes);
    mpi_type_pack(copy, t->buffer, t->count, t->type, 0, bytes);
    error = mpi_isend(self, &packed, &request);
    if (error != MPI_SUCCESS) {
        mpi_buffer_give(self->worker, copy);
        return error;
    }
    b->used += bytes + OVERHEAD;
    b->last->pending++;
    request->extra = b->last;
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

/* Also where the message will not need it: the program would fail with larger ones. */
static int check_room(const mpi_transfer_t *t, const mpi_bsend_t *b, uint64_t bytes)
{
    if (b == NULL)
        return mpi_error(t->comm, MPI_ERR_BUFFER,
                         "no buffer is attached for a message of %llu bytes; attach one with "
                         "MPI_Buffer_attach",
                         (unsigned long long)bytes);
    if (b->buffer == MPI_BUFFER_AUTOMATIC || b->size - b->used >= bytes + OVERHEAD)
        return MPI_SUCCESS;
    return mpi_error(t->comm, MPI_ERR_BUFFER,
                     "a message of %llu bytes needs %llu bytes of attached buffer and %llu are "
                     "free; attach a larger one with MPI_Buffer_attach",
                     (unsigned long long)bytes, (unsigned long long)bytes + OVERHEAD,
                     (unsigned long long)(b->size - b->used));
}

/* Does it leave without a copy that stays here? */
static bool is_eager(const mpi_transfer_t *t, uint64_t bytes)
{
    if (mpi_rank_is_here(mpi_job, mpi_comm_world_rank(t->comm, t->peer)))
        return mpi_send_is_eager(t, bytes);
    return mpi_remote_is_eager(bytes);
}

/* The account of the communicator, of the session that it comes from, or of the rank. */
static mpi_bsend_t *account_of(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    if (comm->bsend != NULL)
        return comm->bsend;
    return comm->session != NULL && comm->session->bsend != NULL ? comm->session->bsend
                                                                 : self->bsend;
}

/* Show the program's buffer to --check, which sees the copy leave. */
static void show(const mpi_transfer_t *t, mpi_request_t *request)
{
    if (request == NULL)
        mpi_type_note_local(t->buffer, t->count, t->type, false);
    else if (mpi_p2p_engine != NULL && mpi_p2p_engine->part != NULL)
        mpi_p2p_engine->part(request, t, false);
}

int mpi_bsend(mpi_rank_t *self, const mpi_transfer_t *t, mpi_request_t *request)
{
    uint64_t bytes = (uint64_t)t->count * mpi_type_size(t->type);
    mpi_bsend_t *b = account_of(self, t->comm);
    int error = check_room(t, b, bytes);

    if (error != MPI_SUCCESS)
        return error;
    show(t, request);
    if (mpi_job->clock != NULL && bytes <= mpi_job->eager_limit)
        return send_buffered(self, t);
    if (is_eager(t, bytes)) {
        mpi_transfer_t eager = *t;

        eager.mode = XMPI_MODE_STANDARD;
        mpi_send_start(self, &eager, NULL, false);
        mpi_send_throttle(self->worker);
        return MPI_SUCCESS;
    }
    return mpi_job->clock != NULL ? send_buffered(self, t) : send_copy(self, b, t, bytes);
}

/* ---- Buffers of ranks and of communicators ----------------------------------------------- */

int mpi_bsend_attach(mpi_comm_t *comm, mpi_bsend_t **place, void *buffer, int64_t size)
{
    mpi_bsend_t *b;

    if (size < 0)
        return mpi_error(comm, MPI_ERR_ARG, "the size is %lld", (long long)size);
    if (*place != NULL)
        return mpi_error(comm, MPI_ERR_BUFFER, "a buffer is attached already; detach it first");
    b = xy_calloc(1, sizeof(*b));
    if (b == NULL || !epoch_open(b)) {
        xy_free(b);
        return mpi_error_memory(comm, "the account of a buffer");
    }
    if (buffer != MPI_BUFFER_AUTOMATIC)
        mpi_type_note_packed(buffer, (size_t)size, true);
    b->buffer = buffer;
    b->size = buffer == MPI_BUFFER_AUTOMATIC ? 0 : (uint64_t)size;
    *place = b;
    return MPI_SUCCESS;
}

/* A request that is complete when every buffered message so far has left. */
int mpi_bsend_iflush(mpi_rank_t *self, mpi_comm_t *comm, mpi_bsend_t *b, MPI_Request *handle)
{
    mpi_request_t *request = mpi_request_new(self, XMPI_KIND_FLUSH);

    if (request == NULL)
        return mpi_error_memory(comm, "a request");
    request->call = self->call;
    if (b == NULL || b->used == 0) {
        request->is_done = true;
    } else {
        epoch_t *closed = b->last;

        if (!epoch_open(b)) {
            mpi_request_free(request);
            return mpi_error_memory(comm, "a flush");
        }
        closed->flush = request;
        settle(b);
    }
    *handle = mpi_request_handle(request);
    return MPI_SUCCESS;
}

/* Wait until every buffered message has left. */
int mpi_bsend_flush(mpi_rank_t *self, mpi_comm_t *comm, mpi_bsend_t *b)
{
    MPI_Request handle;
    int error;

    if (b == NULL || b->used == 0)
        return MPI_SUCCESS;
    error = mpi_bsend_iflush(self, comm, b, &handle);
    return error != MPI_SUCCESS ? error : impl_wait(self, &handle, MPI_STATUS_IGNORE);
}

void mpi_bsend_destroy(mpi_bsend_t *b)
{
    if (b != NULL)
        epochs_free(b);
    xy_free(b);
}

int mpi_bsend_detach(mpi_rank_t *self, mpi_comm_t *comm, mpi_bsend_t **place, void *buffer_p,
                     MPI_Count *size)
{
    mpi_bsend_t *b = *place;
    int error;

    *size = 0;
    if (buffer_p == NULL)
        return mpi_error_null(comm, "buffer_addr");
    *(void **)buffer_p = NULL;
    if (b == NULL)
        return mpi_error(comm, MPI_ERR_BUFFER, "no buffer is attached");
    do
        error = mpi_bsend_flush(self, comm, b);
    while (error == MPI_SUCCESS && b->used > 0); /* another thread may still send */
    if (error != MPI_SUCCESS)
        return error;
    *(void **)buffer_p = b->buffer;
    *size = (MPI_Count)b->size;
    *place = NULL;
    mpi_bsend_destroy(b);
    return MPI_SUCCESS;
}

static int narrow(MPI_Count size)
{
    return size > INT_MAX ? MPI_UNDEFINED : (int)size;
}

int impl_buffer_attach(mpi_rank_t *self, void *buffer, int64_t size)
{
    return mpi_bsend_attach(NULL, &self->bsend, buffer, size);
}

int impl_buffer_detach_c(mpi_rank_t *self, void *buffer_addr, MPI_Count *size)
{
    return mpi_bsend_detach(self, NULL, &self->bsend, buffer_addr, size);
}

int impl_buffer_detach(mpi_rank_t *self, void *buffer_addr, int *size)
{
    MPI_Count large;
    int error = impl_buffer_detach_c(self, buffer_addr, &large);

    *size = narrow(large);
    return error;
}

int impl_buffer_flush(mpi_rank_t *self)
{
    return mpi_bsend_flush(self, NULL, self->bsend);
}

int impl_buffer_iflush(mpi_rank_t *self, MPI_Request *request)
{
    return mpi_bsend_iflush(self, NULL, self->bsend, request);
}

int impl_comm_attach_buffer(mpi_rank_t *self, MPI_Comm handle, void *buffer, MPI_Count size)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    (void)self;
    return comm ? mpi_bsend_attach(comm, &comm->bsend, buffer, size) : mpi_comm_refuse(handle);
}

int impl_comm_detach_buffer_c(mpi_rank_t *self, MPI_Comm handle, void *buffer_addr, MPI_Count *size)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    return comm ? mpi_bsend_detach(self, comm, &comm->bsend, buffer_addr, size)
                : mpi_comm_refuse(handle);
}

int impl_comm_detach_buffer(mpi_rank_t *self, MPI_Comm handle, void *buffer_addr, int *size)
{
    MPI_Count large = 0;
    int error = impl_comm_detach_buffer_c(self, handle, buffer_addr, &large);

    *size = narrow(large);
    return error;
}

int impl_comm_flush_buffer(mpi_rank_t *self, MPI_Comm handle)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    return comm ? mpi_bsend_flush(self, comm, comm->bsend) : mpi_comm_refuse(handle);
}

int impl_comm_iflush_buffer(mpi_rank_t *self, MPI_Comm handle, MPI_Request *request)
{
    mpi_comm_t *comm = mpi_comm_of(handle);

    return comm ? mpi_bsend_iflush(self, comm, comm->bsend, request) : mpi_comm_refuse(handle);
}

/* ---- Sends ------------------------------------------------------------------------------- */

/* MPI_Bsend, or MPI_Ibsend if `handle` is not NULL; returns an MPI error code. */
int part_bsend(mpi_rank_t *self, const void *buffer, int64_t count, MPI_Datatype type, int dest,
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
    if (request != NULL)
        request->call = self->call;
    if (error == MPI_SUCCESS && dest != MPI_PROC_NULL)
        error = mpi_bsend(self, &t, request);
    if (error == MPI_SUCCESS && request != NULL) {
        request->is_done = true;
        *handle = mpi_request_handle(request);
    } else if (request != NULL) {
        mpi_request_free(request);
    }
    return error;
}
