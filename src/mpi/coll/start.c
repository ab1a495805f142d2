/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start of nonblocking and persistent collectives: it numbers the call, picks the engine and
 * takes care of what the engines have in common: deferred starts, the yield to ranks of the same
 * core, the time that a rank computes between start and Wait. Blocking ones, which are always
 * direct, start in coll_direct.c.
 */
#include "mpi/coll/coll.h"
#include "mpi/coll/interprocess.h"
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

/* ---- What a call that is started refers to ---- */

/* Does this member give, or get, several blocks? Where it does not, the program may pass anything
 * as vectors; calls on intercommunicators have only those that mean something. */
static bool has_blocks(const coll_call_t *call, bool is_send)
{
    return call->kind->is_inter || coll_side_blocks(call, is_send) > 0;
}

/* Elements of each vector: one for each peer, or for each who gets a share of a reduction. */
static size_t vector_length(const coll_call_t *call)
{
    int peers = coll_peers(call);

    return (size_t)(call->kind->is_inter && call->op != NULL ? call->comm->size - peers : peers);
}

static size_t vector_bytes(coll_vector_t v, size_t n)
{
    return n * (v.is_wide ? sizeof(int64_t) : sizeof(int));
}

/* Copy a vector to *at_p and advance *at_p by a number of words. */
static void copy_vector(coll_vector_t *v, size_t n, int64_t **at_p)
{
    if (v->data == NULL)
        return;
    v->data = memcpy(*at_p, v->data, vector_bytes(*v, n));
    *at_p += n;
}

/* The datatypes of both sides to *at_p, each held. */
static void copy_types(coll_call_t *call, size_t n, int64_t **at_p)
{
    MPI_Datatype *types = (MPI_Datatype *)(void *)*at_p;

    for (size_t i = 0; i < n; i++) {
        types[i] = call->is_in_place ? call->receive_types[i] : call->send_types[i];
        types[n + i] = call->receive_types[i];
        mpi_type_hold(mpi_type_held(types[i]));
        mpi_type_hold(mpi_type_held(types[n + i]));
    }
    call->send_types = types;
    call->receive_types = types + n;
    *at_p += 2 * n;
}

_Static_assert(sizeof(MPI_Datatype) <= sizeof(int64_t), "an array of words holds datatypes");

/* A program may free its arrays, and the datatypes that they name, when a call has been started:
 * the call has copies. */
static xy_status_t hold_arrays(coll_call_t *call)
{
    size_t n = vector_length(call);
    int64_t *at = xy_malloc(6 * n * sizeof(*at)); /* four vectors, and datatypes of two sides */

    if (at == NULL)
        return XY_ENOMEM;
    call->arrays = at;
    if (call->receive_types != NULL)
        copy_types(call, n, &at);
    if (has_blocks(call, true)) {
        copy_vector(&call->send_counts, n, &at);
        copy_vector(&call->send_displacements, n, &at);
    }
    if (has_blocks(call, false)) {
        copy_vector(&call->receive_counts, n, &at);
        copy_vector(&call->receive_displacements, n, &at);
    }
    return XY_OK;
}

static void release_arrays(coll_call_t *call)
{
    if (call->comm->shares == call->receive_counts.data)
        call->comm->shares = NULL;
    for (size_t i = 0; call->receive_types != NULL && i < 2 * vector_length(call); i++)
        mpi_type_release(mpi_type_held(call->send_types[i]));
    xy_free(call->arrays);
}

static inline bool has_arrays(const coll_call_t *call)
{
    return call->send_counts.data != NULL || call->receive_counts.data != NULL;
}

static inline xy_status_t hold_arguments(coll_call_t *call)
{
    if (__builtin_expect(has_arrays(call), 0) && hold_arrays(call) != XY_OK)
        return XY_ENOMEM;
    mpi_comm_hold(call->comm);
    if (call->send_type != NULL)
        mpi_type_hold(call->send_type);
    if (call->receive_type != NULL)
        mpi_type_hold(call->receive_type);
    if (call->op != NULL)
        mpi_op_hold(call->op);
    return XY_OK;
}

/* A member gives its reference to the shared part of a persistent collective back. */
static void leave_part(const mpi_comm_t *comm)
{
    mpi_coll_t *coll = comm->coll;

    atomic_store_explicit(&coll->comms[comm->rank], NULL, memory_order_relaxed);
    coll_local_release(coll->local[coll->local_of[comm->rank]]);
}

/* Release the engines' data between the starts of a persistent collective. */
static void forget(coll_call_t *call)
{
    if (scheduled != NULL && scheduled->forget != NULL)
        scheduled->forget(call);
}

/* Release the extra resources of persistent calls and of calls with arrays. */
static void release_more(coll_call_t *call)
{
    if (call->how == COLL_PERSISTENT)
        forget(call);
    if (call->arrays != NULL)
        release_arrays(call);
    if (call->how == COLL_PERSISTENT)
        leave_part(call->comm);
}

/* Nonblocking calls come again and again, and are all of one size: their memory stays with the
 * worker, as that of requests does. AddressSanitizer is to see which are used after their end. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { KEEPS_CALLS = 0 };
#else
enum { KEEPS_CALLS = 1 };
#endif

static inline coll_call_t *new_call(mpi_worker_t *worker, size_t size)
{
    mpi_pooled_t *block = worker->free_calls;

    if (size != sizeof(coll_call_t) || block == NULL)
        return xy_malloc(size);
    worker->free_calls = block->next;
    return (coll_call_t *)(void *)block;
}

static inline void free_call(mpi_worker_t *worker, coll_call_t *call)
{
    mpi_pooled_t *block = (mpi_pooled_t *)(void *)call;

    if (!KEEPS_CALLS || call->how == COLL_PERSISTENT) {
        xy_free(call);
        return;
    }
    block->next = worker->free_calls;
    worker->free_calls = block;
}

/* Release what the call of a completed nonblocking collective holds, and the call itself. */
static void release_call(mpi_request_t *request)
{
    coll_call_t *call = request->extra;

    if (call->left > 0.0)
        measure(call);
    if (__builtin_expect(call->how == COLL_PERSISTENT || call->arrays != NULL, 0))
        release_more(call);
    if (call->send_type != NULL)
        mpi_type_release(call->send_type);
    if (call->receive_type != NULL)
        mpi_type_release(call->receive_type);
    if (call->op != NULL)
        mpi_op_release(call->op);
    free_call(request->owner->worker, call);
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

    if (mpi_job->yield_on_start && (mpi_job->comm_workers > 0 || mpi_job->processes > 1) &&
        coll->local[coll->local_of[call->comm->rank]]->members > 1 &&
        xy_worker_has_ready(self->worker->base))
        xy_fiber_yield();
}

static bool start_interprocess(mpi_rank_t *self, coll_call_t *call)
{
    coll_interprocess_start(self, call);
    return true;
}

static const coll_engine_ops_t interprocess = {.name = "interprocess", .start = start_interprocess};

static const coll_engine_ops_t *engine_of(const coll_call_t *call)
{
    if (__builtin_expect(call->comm->coll->interprocess != NULL, 0))
        return &interprocess;
    if (scheduled != NULL && scheduled->wants(call))
        return scheduled;
    return &coll_direct;
}

/* Begin a nonblocking collective: number it, choose its engine and start it there. */
static void begin(mpi_rank_t *self, coll_call_t *call)
{
    const coll_engine_ops_t *engine = engine_of(call);
    bool timed = is_timed(call, engine);

    coll_number(call, call->request->call.caller);
    if (call->kind == &coll_reduce_scatter)
        coll_show_shares(call);
    if (coll_is_empty(call)) {
        coll_leave_empty(call);
        mpi_request_complete(call->request);
        return;
    }
    if (__builtin_expect(mpi_is_observed(self), 0))
        call->request->buffer = coll_observe(self, call);
    if (engine == scheduled) {
        coll_direct_compare(call);
        call->comm->apart++;
    }
    self->schedules += timed;
    if (engine->start(self, call))
        yield_to_peers(self, call);
    /* The call is not gone: no request is freed before its start returns. */
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

/* Use the current settings of the communicator, whose hints may have changed since the request was
 * made. */
static void take_settings(const coll_call_t *call)
{
    call->comm->settings = call->request->comm->settings;
}

/* The program may have freed the request of a call that has not begun: nothing of it goes before
 * its start has returned. */
static void begin_deferred(mpi_rank_t *self, coll_call_t *call)
{
    mpi_request_t *request = call->request;
    bool was_freed = request->is_freed;

    request->is_freed = false;
    begin(self, call);
    if (!was_freed)
        return;
    request->is_freed = true;
    if (request->is_done)
        mpi_request_free(request);
}

void coll_flush_deferred(mpi_rank_t *self)
{
    while (self->deferred != NULL) {
        coll_call_t *call = self->deferred;

        self->deferred = call->next;
        if (call->how == COLL_PERSISTENT)
            take_settings(call);
        begin_deferred(self, call);
    }
}

static inline void begin_or_defer(mpi_rank_t *self, coll_call_t *call)
{
    if (__builtin_expect(mpi_dispatch.check.collective != NULL, 0))
        mpi_dispatch.check.collective(call);
    if (mpi_settings_of(call->comm)->progress == XMPI_PROGRESS_NONE && mpi_job->clock == NULL)
        defer(self, call);
    else
        begin(self, call);
}

/* A request and a copy of `call` that belongs to it, at the beginning of `size` bytes; *request_p
 * stays NULL on failure. */
static inline __attribute__((always_inline)) int make_request(mpi_rank_t *self,
                                                              const coll_call_t *call,
                                                              coll_how_t how, size_t size,
                                                              mpi_request_t **request_p)
{
    mpi_request_t *request = mpi_request_new(self, XMPI_KIND_COLL);
    coll_call_t *copy = new_call(self->worker, size);

    if (copy != NULL) {
        *copy = *call;
        copy->rank = call->comm->rank;
    }
    if (request == NULL || copy == NULL || hold_arguments(copy) != XY_OK) {
        xy_free(copy);
        if (request != NULL)
            mpi_request_free(request);
        return mpi_error(call->comm, MPI_ERR_NO_MEM, "no memory for a collective");
    }
    copy->how = how;
    copy->request = request;
    request->extra = copy;
    request->release = release_call;
    request->comm = call->comm;
    request->call = self->call;
    *request_p = request;
    return MPI_SUCCESS;
}

int coll_start(mpi_rank_t *self, coll_call_t *call, MPI_Request *handle)
{
    mpi_request_t *request = NULL;
    int error = make_request(self, call, COLL_NONBLOCKING, sizeof(*call), &request);

    if (request == NULL)
        return error;
    *handle = mpi_request_handle(request);
    if (__builtin_expect(mpi_dispatch.check.vectors != NULL, 0))
        mpi_dispatch.check.vectors(call, request);
    begin_or_defer(self, request->extra);
    return MPI_SUCCESS;
}

/* ---- Persistent ---- */

/* A persistent call, and the communicator object that stands for its own shared part: the numbers
 * of its starts are there. */
typedef struct {
    coll_call_t call; /* must be first */
    mpi_comm_t comm;
} persistent_t;

/* MPI_Start: all that the call needs has been checked and is held. */
static void start_again(mpi_request_t *request)
{
    coll_call_t *call = request->extra;

    if (call->left > 0.0) { /* Test found the last one over, and no Wait ended the measurement */
        call->left = 0.0;
        request->owner->schedules--;
    }
    call->request = request;
    take_settings(call);
    begin_or_defer(request->owner, call);
}

int coll_init(mpi_rank_t *self, coll_call_t *call, MPI_Request *handle)
{
    mpi_comm_t *comm = call->comm;
    mpi_coll_t *coll = coll_persistent_join(comm->coll, ++comm->persistent);
    mpi_request_t *request = NULL;
    persistent_t *made;
    int error;

    if (coll == NULL)
        return mpi_error(comm, MPI_ERR_NO_MEM, "no memory for a persistent collective");
    error = make_request(self, call, COLL_PERSISTENT, sizeof(*made), &request);
    if (request == NULL) {
        mpi_coll_release(coll);
        return error;
    }
    made = request->extra;
    made->comm = mpi_comm_shadow(comm, 0);
    made->comm.coll = coll;
    made->comm.coll_seq = made->comm.apart = made->comm.stars = 0;
    made->call.comm = &made->comm;
    mpi_coll_join(&made->comm);
    request->is_persistent = true;
    request->is_active = false;
    request->start = start_again;
    *handle = mpi_request_handle(request);
    return MPI_SUCCESS;
}
