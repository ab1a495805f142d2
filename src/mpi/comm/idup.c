/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking duplication. Attributes and hints are copied when it is started; the leader's plan
 * arrives like the result of any nonblocking collective; the new communicator is made from both
 * when the program completes the request.
 */
#include "mpi/comm/calls.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/make.h"
#include "mpi/object/object.h"
#include "mpi/p2p/p2p.h"
#include "mpi/runtime/runtime.h"

typedef struct {
    mpi_comm_t *parent;     /* held; its address is what the leader gets */
    void *newcomm;          /* the place of the new communicator */
    mpi_comm_give_fn *give; /* how it gets there */
    mpi_plan_t plan;
    bool is_spread; /* over processes: what arrives is the context */
    uint32_t context;
    mpi_attributes_t *attributes;
    mpi_info_t *info;
    /* The request's own, put back before its release function runs. */
    void *extra;
    void (*release)(mpi_request_t *request);
} idup_t;

/* To another job, of a communicator between processes. */
static int link_of(const mpi_comm_t *comm)
{
    return mpi_link_of((comm->remote ? comm->merged : comm)->group);
}

static void give_handle(void *place, MPI_Comm handle)
{
    *(MPI_Comm *)place = handle;
}

/* The request is complete and goes: everything is there. */
static void finish(mpi_request_t *request)
{
    idup_t *idup = request->extra;
    mpi_comm_t *made = NULL;

    request->extra = idup->extra;
    idup->release(request);
    if (idup->is_spread)
        idup->plan = mpi_plan_spread_duplicate(
            idup->parent, request->completion.error != MPI_SUCCESS
                              ? XMPI_CONTEXT_NONE
                              : mpi_link_context(link_of(idup->parent), idup->context));
    if (mpi_comm_from_plan(idup->parent, &idup->plan, &made) == MPI_SUCCESS) {
        made->attributes = idup->attributes;
        mpi_layers_comm_duplicate(idup->parent, made);
        made->info = idup->info ? (MPI_Info)(void *)idup->info : MPI_INFO_NULL;
        mpi_settings_apply(made, idup->info);
        idup->give(idup->newcomm, mpi_comm_handle(made));
        if (mpi_made_is_noted)
            mpi_made_note(made, "communicator", request->call.name, request->call.caller);
    } else {
        mpi_attributes_drop(idup->attributes);
        mpi_info_destroy(idup->info);
        idup->give(idup->newcomm, MPI_COMM_NULL);
    }
    mpi_comm_release(idup->parent);
    xy_free(idup);
}

static void forget(idup_t *idup)
{
    mpi_attributes_delete(XMPI_ATTR_COMM, mpi_comm_handle(idup->parent), &idup->attributes);
    mpi_info_destroy(idup->info);
    xy_free(idup);
}

/* Start a duplication; NULL: raised, *code_p is the error. */
static idup_t *prepare(mpi_comm_t *comm, const mpi_info_t *info, MPI_Comm *newcomm, int *code_p)
{
    idup_t *idup = xy_calloc(1, sizeof *idup);

    if (!idup) {
        *code_p = mpi_error_memory(comm, "a duplication");
        return NULL;
    }
    idup->parent = comm;
    idup->newcomm = newcomm;
    idup->give = give_handle;
    *code_p = mpi_attributes_copy(XMPI_ATTR_COMM, mpi_comm_handle(comm), comm->attributes,
                                  &idup->attributes);
    if (*code_p != MPI_SUCCESS) {
        *code_p = mpi_error_raise(comm, *code_p, "the copy function of an attribute failed");
        xy_free(idup);
        return NULL;
    }
    idup->info = info ? mpi_info_copy(info) : NULL;
    if (info && !idup->info) {
        *code_p = mpi_error_memory(comm, "the hints of a communicator");
        forget(idup);
        return NULL;
    }
    return idup;
}

/* Between processes, the first member takes the contexts and tells the others. */
static coll_call_t context_call(const mpi_comm_t *comm, uint32_t *context)
{
    coll_call_t call;

    if (comm->rank == 0)
        *context = mpi_link_context_new(mpi_link_of(comm->group), 2);
    call = mpi_spread_bcast_call(0, context, sizeof *context);
    call.kind = &coll_making_bcast;
    return call;
}

/* Start a nonblocking duplication, with or without hints; returns an MPI error code. */
int part_comm_idup(mpi_rank_t *self, MPI_Comm handle, bool has_info, MPI_Info info,
                   MPI_Comm *newcomm, MPI_Request *request_p)
{
    mpi_comm_t *comm = mpi_comm_of(handle);
    coll_call_t call = {
        .kind = &coll_agree, .agreed = coll_agree_name(self), .leader = mpi_comm_duplicate_leader};
    mpi_request_t *request;
    idup_t *made;
    int code;

    if (!comm)
        return mpi_comm_refuse(handle);
    code = has_info ? mpi_info_check(comm, info) : MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        return code;
    made = prepare(comm, mpi_info_of(has_info ? info : comm->info), newcomm, &code);
    if (!made)
        return code;
    call.send = &made->parent;
    call.receive = &made->plan;
    made->is_spread = mpi_comm_is_spread(comm);
    if (made->is_spread)
        call = context_call(comm->remote ? comm->merged : comm, &made->context);
    call.comm = comm->remote ? comm->merged : comm;
    code = coll_start(self, &call, request_p);
    if (code != MPI_SUCCESS) {
        forget(made);
        return code;
    }
    mpi_comm_hold(comm);
    request = mpi_request_of(*request_p);
    made->extra = request->extra;
    made->release = request->release;
    request->extra = made;
    request->release = finish;
    return MPI_SUCCESS;
}

void mpi_comm_idup_set_place(MPI_Request handle, void *place, mpi_comm_give_fn *give)
{
    idup_t *idup = mpi_request_of(handle)->extra;

    idup->newcomm = place;
    idup->give = give;
}
