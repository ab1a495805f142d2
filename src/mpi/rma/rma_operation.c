/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/rma/rma_operation.h"

#include "mpi/rma/far.h"
#include "mpi/virtual/virtual.h"

int rma_side_refuse(mpi_win_t *win, const char *name, const void *address, int64_t count,
                    MPI_Datatype datatype)
{
    const mpi_type_t *type = mpi_type_of(datatype);

    if (count < 0)
        return mpi_error(win->comm, MPI_ERR_COUNT, "the %s count is %lld; it must not be negative",
                         name, (long long)count);
    if (type == NULL)
        return mpi_error(win->comm, MPI_ERR_TYPE, "the %s datatype is not a valid handle", name);
    if (!type->is_committed)
        return mpi_error(win->comm, MPI_ERR_TYPE,
                         "the %s datatype was not committed; call MPI_Type_commit first", name);
    if (address == NULL && count > 0 && type->is_predefined)
        return mpi_error(win->comm, MPI_ERR_BUFFER, "the %s buffer is NULL and its count is %lld",
                         name, (long long)count);
    if (rma_watch != NULL)
        rma_watch->side(win->comm->owner, name, address, count, type);
    return MPI_SUCCESS;
}

int rma_refuse_size(mpi_win_t *win, const char *name, size_t bytes, const char *room_name,
                    size_t room)
{
    return mpi_error(win->comm, MPI_ERR_TRUNCATE,
                     "%zu bytes of the %s do not fit into %zu of the %s", bytes, name, room,
                     room_name);
}

void rma_operation_sync(mpi_rank_t *self)
{
    if (__builtin_expect(mpi_job->clock != NULL, 0))
        mpi_virtual_sync(self);
}

static void note_moved(mpi_rank_t *self, const mpi_win_t *win, int from, int to, size_t bytes)
{
    mpi_trace_put_moved(self->trace,
                        &(mpi_trace_message_t){
                            .from = from, .to = to, .context = win->comm->context, .bytes = bytes});
}

void rma_operation_count(mpi_rank_t *self, rma_operation_t *o, size_t there, bool is_answered,
                         size_t back)
{
    const mpi_win_t *win = o->win;
    int target = mpi_comm_world_rank(win->comm, o->rank);

    if (rma_watch != NULL)
        rma_watch->operation(self, o->win, o->rank, o->target.address,
                             o->target.bytes > 0 ? o->target.count : 0, o->target.type, o->op);
    if (mpi_is_watched(self)) {
        /* A message of the program, although the window's communicator is hidden from it. */
        mpi_monitor_message(self, target, win->comm->context & ~XMPI_CONTEXT_SHADOW, there + back);
        mpi_account_bytes(self, there + back);
        mpi_live_sent(self, 1, there + back);
        if (self->trace != NULL && there > 0)
            note_moved(self, win, self->world, target, there);
        if (self->trace != NULL && back > 0)
            note_moved(self, win, target, self->world, back);
    }
    if (mpi_job->clock == NULL)
        return;
    o->end = mpi_virtual_access(
        self, &(mpi_virtual_access_t){
                  .target = target, .there = there, .is_answered = is_answered, .back = back});
    rma_charge(o->win, o->rank, o->end);
}

int rma_operation_request(mpi_rank_t *self, const rma_operation_t *o, int error,
                          MPI_Request *handle)
{
    mpi_request_t *request;

    if (error != MPI_SUCCESS)
        return error;
    request = mpi_request_new(self, XMPI_KIND_REMOTE);
    if (request == NULL)
        return mpi_error(o->win != NULL ? o->win->comm : NULL, MPI_ERR_NO_MEM,
                         "no memory for a request");
    request->call = self->call;
    if (mpi_survives && o->win != NULL) { /* for an error */
        request->comm = o->win->comm;
        mpi_comm_hold(request->comm);
    }
    if (rma_watch != NULL && o->win != NULL)
        rma_watch->request(o->win, o->rank, request);
    request->is_done = o->end == 0 && o->pending == NULL;
    if (request->is_done && o->win != NULL)
        rma_look(o->win); /* MPI_Wait returns at once */
    if (o->pending != NULL)
        o->pending->request = request;
    else if (!request->is_done)
        mpi_virtual_request(self, request, o->end);
    *handle = mpi_request_handle(request);
    return MPI_SUCCESS;
}
