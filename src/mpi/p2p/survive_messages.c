/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a job that survives: how they are sent and received, and what ends a request. */
#include "mpi/object/object.h"
#include "mpi/p2p/p2p_engine.h"
#include "mpi/p2p/polling.h"
#include "mpi/p2p/remote.h"
#include "mpi/p2p/survive.h"

/* ---- Ending requests ---- */

/* Has a process ended? Letters in the mailbox still name requests. */
bool mpi_survive_is_over(const mpi_worker_t *worker, int world)
{
    int end = mpi_survive_end_of(world);

    return end > 0 && end <= worker->ends;
}

bool mpi_survive_is_gone(const mpi_worker_t *worker, int world)
{
    return mpi_survive_is_failed(world) &&
           (!mpi_survive_is_dead(mpi_job->process_of[world]) || mpi_survive_is_over(worker, world));
}

bool mpi_survive_is_kept(const mpi_request_t *request)
{
    const mpi_request_t *r = request->owner->worker->all_requests;

    while (r != NULL && r != request)
        r = r->next_made;
    return r != NULL;
}

/* The rank that a message goes to or comes from; MPI_ANY_SOURCE: any. */
static int peer_of(const mpi_request_t *request)
{
    if (request->peer == MPI_ANY_SOURCE && !request->is_posted)
        return request->completion.source;
    return request->peer;
}

/* End a request that waits in vain. One to a live process ends when that has answered, at the
 * latest when it fails itself. */
static void end_request(mpi_request_t *request, int error)
{
    int peer = peer_of(request);
    int world = peer >= 0 ? mpi_comm_world_rank(request->comm, peer) : -1;

    if (request->kind == XMPI_KIND_RECV && request->is_posted) {
        xy_match_unpost(&request->owner->match, &request->entry);
        request->is_posted = false;
        request->completion.error = error;
        mpi_request_complete(request);
    } else if (world >= 0 && mpi_survive_is_over(request->owner->worker, world)) {
        mpi_remote_forget(request);
        request->completion.error = error;
        mpi_request_complete(request);
    } else if (request->kind == XMPI_KIND_SEND && request->completion.error == MPI_SUCCESS) {
        request->completion.error = error;
        mpi_plain_cancel(request->owner, request);
    }
}

/* Look whether a request is to end. */
static void look_at(mpi_request_t *request)
{
    int error;

    if (request == mpi_request_of(MPI_REQUEST_NULL) || !request->is_active || request->is_done ||
        (request->kind != XMPI_KIND_SEND && request->kind != XMPI_KIND_RECV) ||
        request->comm == NULL || request->peer == MPI_PROC_NULL)
        return;
    error = mpi_survive_error(request->comm, peer_of(request));
    if (error != MPI_SUCCESS)
        end_request(request, error);
}

static void look_at_waiter(const mpi_waiter_t *waiter)
{
    for (int i = 0; waiter->count > 0 && i < mpi_waiter_requests(waiter); i++)
        look_at(waiter->waits[i]);
}

/* Will the sender of a message give no more of it? A rank of a live process that has ended does. */
static bool is_gone(const mpi_rank_t *rank, int world)
{
    return mpi_survive_is_over(rank->worker, world) ||
           (mpi_survive_is_failed(world) && mpi_rank_is_here(mpi_job, world));
}

typedef struct {
    remote_errand_t errand; /* must be first */
    mpi_worker_t *worker;
    int ends; /* processes whose letters come before this in the mailbox */
} look_t;

/* On a worker, or at its gate: end what waits in vain there. */
static void look_on(remote_errand_t *errand)
{
    const look_t *look = (const look_t *)(const void *)errand;
    mpi_worker_t *worker = look->worker;
    mpi_request_t *next;

    if (worker->ends < look->ends)
        worker->ends = look->ends;
    for (mpi_request_t *r = worker->all_requests; r != NULL; r = next) {
        next = r->next_made;
        look_at(r);
    }
    for (int i = 0; i < mpi_job->size; i++) {
        mpi_rank_t *rank = &mpi_job->ranks[i];

        if (rank->worker != worker)
            continue;
        mpi_remote_drop_dead(rank, is_gone);
        look_at_waiter(&rank->own);
        for (const mpi_thread_t *t = rank->threads; t != NULL; t = t->next)
            look_at_waiter(&t->waiter);
        mpi_probers_ready(rank);
    }
    if (mpi_dispatch.far.failed != NULL)
        mpi_dispatch.far.failed(worker);
    xy_free(errand);
}

void mpi_survive_look(void)
{
    for (int w = 0; mpi_job != NULL && mpi_job->net != NULL && w < mpi_job->workers; w++) {
        look_t *look = xy_malloc(sizeof(*look));

        if (look == NULL) {
            xy_fail_memory("noting a failure");
            mpi_job->abort(1);
            return;
        }
        *look = (look_t){
            .errand.run = look_on, .worker = &mpi_job->worker[w], .ends = mpi_survive_ends()};
        mpi_network_post(look->worker, &look->errand);
    }
}

/* ---- Messages of a job that survives ---- */

static bool send(mpi_rank_t *self, const mpi_transfer_t *t, uint64_t bytes, mpi_request_t *request)
{
    int error = mpi_survive_error(t->comm, t->peer);

    if (__builtin_expect(error == MPI_SUCCESS, 1))
        return mpi_plain_send(self, t, bytes, request);
    if (request == NULL) /* of a buffer: nobody gets it */
        return true;
    mpi_request_describe(request, t);
    request->completion.error = error;
    request->is_done = true;
    return false;
}

/* Receive arrived messages, unless the communicator was revoked. */
static void receive(mpi_rank_t *self, mpi_request_t *request)
{
    int error = mpi_survive_error(request->comm, request->peer);

    if (__builtin_expect(error == MPI_SUCCESS, 1) ||
        (error != MPIX_ERR_REVOKED &&
         xy_match_find(&self->match, &request->entry.envelope) != NULL)) {
        mpi_plain_receive(self, request);
        return;
    }
    request->completion.error = error;
    request->is_done = true;
}

bool mpi_survive_again(mpi_request_t *request)
{
    request->completion = (mpi_completion_t){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    request->is_done = false;
    receive(request->owner, request);
    return request->is_done && request->completion.error == MPI_SUCCESS;
}

/* The pending request that was started first. */
static mpi_request_t *next_pending(const mpi_rank_t *self, const mpi_comm_t *comm)
{
    mpi_request_t *found = NULL;

    for (mpi_request_t *r = self->worker->all_requests; r != NULL; r = r->next_made)
        if (r->is_active && r->is_done && r->owner == self && r->comm == comm &&
            r->kind == XMPI_KIND_RECV && r->completion.error == MPIX_ERR_PROC_FAILED_PENDING &&
            (found == NULL || r->entry.order < found->entry.order))
            found = r;
    return found;
}

void mpi_survive_acknowledge(mpi_rank_t *self, const mpi_comm_t *comm)
{
    mpi_request_t *request;

    while (mpi_survive_error(comm, MPI_ANY_SOURCE) != MPIX_ERR_PROC_FAILED_PENDING &&
           (request = next_pending(self, comm)) != NULL)
        mpi_survive_again(request);
}

static void receive_message(mpi_rank_t *self, mpi_request_t *request, mpi_message_t *message)
{
    mpi_plain_receive_message(self, request, message);
}

/* A request that nobody has waited for was not looked at when its peer failed. */
static void wait(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any)
{
    mpi_waiter_t *waiter = self->waiter;

    (void)any;
    for (int i = 0; i < count && mpi_survive_has_notices(); i++) {
        mpi_request_t *request = requests[i];

        if (request == mpi_request_of(MPI_REQUEST_NULL) || request->waiter != waiter)
            continue;
        request->waiter = NULL;
        look_at(request);
        if (request->is_done)
            waiter->count--;
        else
            request->waiter = waiter;
    }
    if (waiter->count > 0)
        xy_fiber_park();
}

static void test(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any)
{
    mpi_polling_begin(self, requests, count, any);
    xy_fiber_yield();
    mpi_polling_end(self);
}

/* NULL although it waits: the message cannot come, as mpi_survive_error says. */
static mpi_message_t *probe(mpi_rank_t *self, const xy_envelope_t *envelope, mpi_comm_t *comm,
                            bool waits, bool takes)
{
    mpi_message_t *m = (mpi_message_t *)xy_match_find(&self->match, envelope);

    if (m == NULL) {
        mpi_request_before_wait(self, NULL, 0);
        if (!waits)
            test(self, NULL, 0, false);
        m = (mpi_message_t *)xy_match_find(&self->match, envelope);
    }
    while (m == NULL && waits && mpi_survive_error(comm, envelope->source) == MPI_SUCCESS) {
        self->waiter->waits_count = 0;
        self->waiter->next = self->probers;
        self->probers = self->waiter;
        xy_fiber_park();
        m = (mpi_message_t *)xy_match_find(&self->match, envelope);
    }
    if (m != NULL && takes)
        xy_match_drop(&self->match, &m->entry);
    return m;
}

static void free_request(mpi_request_t *request)
{
    (void)request; /* it ends by itself */
}

static const mpi_p2p_engine_t engine = {.send = send,
                                        .receive = receive,
                                        .receive_message = receive_message,
                                        .wait = wait,
                                        .test = test,
                                        .probe = probe,
                                        .cancel = mpi_plain_cancel,
                                        .free = free_request};

void mpi_survive_begin(mpi_job_t *job)
{
    (void)job;
    if (mpi_survives)
        mpi_p2p_engine = &engine;
}

void mpi_survive_end(void)
{
    if (mpi_p2p_engine == &engine)
        mpi_p2p_engine = NULL;
}
