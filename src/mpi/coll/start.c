/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of nonblocking collectives: it numbers the call, picks the engine and takes care of
 * what the engines have in common: deferred starts, the yield to ranks of the same core, the time
 * that a rank computes between start and Wait. Blocking ones, which are always direct, start in
 * direct.c.
 */
#include "mpi/coll/coll.h"
#include "mpi/coll/star.h"
#include "mpi/object/object.h"

/* The engine that is asked first; NULL: all collectives are direct. Written before ranks run. */
static const coll_engine_ops_t *scheduled;

void coll_engine_register(const coll_engine_ops_t *engine)
{
    scheduled = engine;
}

const coll_engine_ops_t *coll_engine_scheduled(void)
{
    return scheduled;
}

/* ---- What a rank does between start and Wait ---- */

/* `split adaptive` and `--comm-cores auto` go by it. */
static bool is_timed(const coll_call_t *call, const coll_engine_ops_t *engine)
{
    if (scheduled == NULL || scheduled->measured == NULL || call->kind->collective == XY_COLL_COUNT)
        return false;
    return mpi_job->measures ||
           (engine == scheduled && mpi_settings_of(call->comm)->split == XMPI_SPLIT_ADAPTIVE);
}

/* The rank has come to Wait, or Test found the call over. */
static void measure(coll_call_t *call)
{
    double seconds = xy_now() - call->left;

    call->left = 0.0;
    call->comm->owner->schedules--;
    scheduled->measured(call, seconds);
}

static void release_call(mpi_request_t *request)
{
    coll_call_t *call = request->extra;

    if (call->left > 0.0)
        measure(call);
    if (call->send_type != NULL)
        mpi_type_release(call->send_type);
    if (call->receive_type != NULL)
        mpi_type_release(call->receive_type);
    if (call->op != NULL)
        mpi_op_release(call->op);
    xy_free(call);
}

coll_call_t *coll_call_of_request(const mpi_request_t *request)
{
    bool is_none = request == mpi_request_of(MPI_REQUEST_NULL);

    return !is_none && request->release == release_call ? request->extra : NULL;
}

void coll_before_wait(mpi_rank_t *self, mpi_request_t *const *requests, int count)
{
    if (self->deferred != NULL)
        coll_flush_deferred(self);
    for (int i = 0; requests != NULL && i < count; i++) {
        coll_call_t *call = coll_call_of_request(requests[i]);

        if (call != NULL && call->left > 0.0)
            measure(call);
    }
}

/* ---- Nonblocking ---- */

/* A rank that computes right after its start keeps the other ranks of its worker from reaching
 * theirs, and the collective from beginning: they get their turn first. */
static void yield_to_peers(const mpi_rank_t *self, const coll_call_t *call)
{
    const mpi_coll_t *coll = call->comm->coll;

    if (mpi_job->yield_on_start && mpi_job->comm_workers > 0 &&
        coll->local[coll->local_of[call->comm->rank]]->members > 1 &&
        xy_worker_has_ready(self->worker->base))
        xy_fiber_yield();
}

static const coll_engine_ops_t *engine_of(const coll_call_t *call)
{
    if (scheduled != NULL && scheduled->wants(call))
        return scheduled;
    return coll_star_wants(call) ? &coll_star : &coll_direct;
}

static void begin(mpi_rank_t *self, coll_call_t *call)
{
    const coll_engine_ops_t *engine = engine_of(call);
    bool timed = is_timed(call, engine);

    coll_number(call);
    if (coll_is_empty(call)) {
        coll_leave_empty(call);
        mpi_request_complete(call->request);
        return;
    }
    if (__builtin_expect(self->trace != NULL, 0))
        coll_trace(self, call);
    if (engine == scheduled) {
        coll_direct_compare(call);
        call->comm->apart++;
    }
    self->schedules += timed;
    if (engine->start(self, call))
        yield_to_peers(self, call);
    /* The call cannot be gone: the program has not got its request yet. */
    if (timed)
        call->left = xy_now();
}

/* Progress none: the call begins when the rank next waits or tests, in the order of the starts. */
static void defer(mpi_rank_t *self, coll_call_t *call)
{
    call->next = NULL;
    if (self->deferred == NULL)
        self->deferred_end = &self->deferred;
    *self->deferred_end = call;
    self->deferred_end = &call->next;
}

void coll_flush_deferred(mpi_rank_t *self)
{
    const void *now = self->call.caller;

    while (self->deferred != NULL) {
        coll_call_t *call = self->deferred;

        self->deferred = call->next;
        self->call.caller = call->request->call.caller; /* reports name where it was started */
        begin(self, call);
        self->call.caller = now;
    }
}

int coll_start(mpi_rank_t *self, coll_call_t *call, MPI_Request *handle)
{
    mpi_request_t *request = mpi_request_new(self, XMPI_KIND_COLL);
    coll_call_t *copy = xy_malloc(sizeof(*copy));

    if (request == NULL || copy == NULL) {
        xy_free(copy);
        if (request != NULL)
            mpi_request_free(request);
        return mpi_error(call->comm, MPI_ERR_NO_MEM, "no memory for a nonblocking collective");
    }
    *copy = *call;
    copy->request = request;
    request->extra = copy;
    request->release = release_call;
    request->comm = call->comm;
    request->call = self->call;
    mpi_comm_hold(call->comm);
    if (call->send_type != NULL)
        mpi_type_hold(call->send_type);
    if (call->receive_type != NULL)
        mpi_type_hold(call->receive_type);
    if (call->op != NULL)
        mpi_op_hold(call->op);
    *handle = mpi_request_handle(request);
    copy->is_nonblocking = true;
    if (mpi_settings_of(call->comm)->progress == XMPI_PROGRESS_NONE && mpi_job->clock == NULL)
        defer(self, copy);
    else
        begin(self, copy);
    return MPI_SUCCESS;
}
