/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks have failed and which communicators are revoked, and what ends because of it. */
#include "mpi/p2p/survive.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/object/object.h"
#include "mpi/p2p/engine.h"
#include "mpi/p2p/polling.h"
#include "mpi/p2p/remote.h"
#include "net/net.h"

bool mpi_survives;

/* Some processes are lost, and their requests are not ended: what has come from there has not been
 * handed out before one more poll is complete. */
enum { SETTLED, LOST, POLLED };

static struct {
    const mpi_survive_ops_t *ops;
    const int *process_of;
    int ranks, processes;
    pthread_mutex_t lock;    /* of what is written below */
    int *failed;             /* [ranks]: world ranks, in the order in which they failed, */
    _Atomic int count;       /* how many of them there are: release, and acquire by readers */
    _Atomic bool *is_failed; /* [ranks] */
    _Atomic bool *is_dead;   /* [processes]: mpiexec says so */
    bool *is_lost;           /* [processes]: the connection is closed, */
    _Atomic int *end_of;     /* [processes]: and all that came over it is in the mailboxes: */
    _Atomic int ends;        /* its number among the ends, 0: none yet; and their count */
    _Atomic int unsettled;   /* see above */
    _Atomic(uint32_t) revoked[1024];
    _Atomic unsigned revoked_count;
} survive = {.lock = PTHREAD_MUTEX_INITIALIZER};

xy_status_t mpi_survive_setup(const mpi_survive_ops_t *ops, const int *process_of, int ranks,
                              int processes)
{
    survive.ops = ops;
    survive.process_of = process_of;
    survive.ranks = ranks;
    survive.processes = processes;
    survive.failed = xy_calloc((size_t)ranks, sizeof(*survive.failed));
    survive.is_failed = xy_calloc((size_t)ranks, sizeof(*survive.is_failed));
    survive.is_dead = xy_calloc((size_t)processes, sizeof(*survive.is_dead));
    survive.is_lost = xy_calloc((size_t)processes, sizeof(*survive.is_lost));
    survive.end_of = xy_calloc((size_t)processes, sizeof(*survive.end_of));
    if (survive.failed == NULL || survive.is_failed == NULL || survive.is_dead == NULL ||
        survive.is_lost == NULL || survive.end_of == NULL)
        return xy_fail_memory("noting failures");
    mpi_survives = true;
    return XY_OK;
}

/* ---- What is known ---- */

int mpi_survive_count(void)
{
    return atomic_load_explicit(&survive.count, memory_order_acquire);
}

int mpi_survive_rank(int i)
{
    return survive.failed[i];
}

static bool is_failed(int world)
{
    return mpi_survives && world < survive.ranks &&
           atomic_load_explicit(&survive.is_failed[world], memory_order_relaxed);
}

/* Is its process dead, and all handled that `worker` has got from it? What lies in its mailbox
 * still names requests. */
static bool is_over(const mpi_worker_t *worker, int world)
{
    int end =
        world < survive.ranks
            ? atomic_load_explicit(&survive.end_of[survive.process_of[world]], memory_order_acquire)
            : 0;

    return end > 0 && end <= worker->ends;
}

bool mpi_survive_is_revoked(const mpi_comm_t *comm)
{
    unsigned n = atomic_load_explicit(&survive.revoked_count, memory_order_acquire);
    uint32_t context = comm->context & ~XMPI_CONTEXT_BITS;

    for (unsigned i = 0; i < n; i++)
        if (atomic_load_explicit(&survive.revoked[i], memory_order_relaxed) == context)
            return true;
    return false;
}

static bool is_member(const mpi_comm_t *comm, int world)
{
    return mpi_group_rank(comm->group, world) != MPI_UNDEFINED ||
           (comm->remote != NULL && mpi_group_rank(comm->remote, world) != MPI_UNDEFINED);
}

int mpi_survive_members(const mpi_comm_t *comm, int from, int to)
{
    int members = 0;

    for (int i = from; i < to; i++)
        members += is_member(comm, survive.failed[i]);
    return members;
}

int mpi_survive_error(const mpi_comm_t *comm, int peer)
{
    if (!mpi_survives)
        return MPI_SUCCESS;
    if (mpi_survive_is_revoked(comm))
        return MPIX_ERR_REVOKED;
    if (mpi_survive_count() == 0)
        return MPI_SUCCESS;
    if (peer == MPI_UNDEFINED || (comm->context & XMPI_CONTEXT_NEIGHBORS) != 0)
        return mpi_survive_members(comm, 0, mpi_survive_count()) > 0 ? MPIX_ERR_PROC_FAILED
                                                                     : MPI_SUCCESS;
    if (peer == MPI_ANY_SOURCE)
        return mpi_survive_members(comm, comm->acked, mpi_survive_count()) > 0
                   ? MPIX_ERR_PROC_FAILED_PENDING
                   : MPI_SUCCESS;
    return is_failed(mpi_comm_world_rank(comm, peer)) ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS;
}

int mpi_survive_raise(mpi_comm_t *comm, int error)
{
    int n = mpi_survive_count();

    if (error == MPIX_ERR_REVOKED)
        return mpi_error(comm, error, "%s was revoked", mpi_comm_name(comm));
    for (int i = 0; i < n; i++)
        if (is_member(comm, survive.failed[i]))
            return mpi_error(comm, error, "rank %d%s failed", survive.failed[i],
                             mpi_survive_members(comm, 0, n) > 1 ? " and others have" : " has");
    return mpi_error(comm, error, "a rank has failed");
}

/* ---- Ending requests ---- */

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
    } else if (world >= 0 && is_over(request->owner->worker, world)) {
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

/* Of a message: will its sender give no more of it? A rank of a live process that has ended does.
 */
static bool is_gone(const mpi_rank_t *rank, int world)
{
    return is_over(rank->worker, world) || (is_failed(world) && mpi_rank_is_here(mpi_job, world));
}

typedef struct {
    remote_errand_t errand; /* must be first */
    mpi_worker_t *worker;
    int ends; /* whose letters are before this in the mailbox */
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
    xy_free(errand);
}

/* Something has changed: all workers look. */
static void look_everywhere(void)
{
    for (int w = 0; mpi_job != NULL && mpi_job->net != NULL && w < mpi_job->workers; w++) {
        look_t *look = xy_malloc(sizeof(*look));

        if (look == NULL) {
            xy_fail_memory("noting a failure");
            mpi_job->abort(1);
            return;
        }
        *look = (look_t){.errand.run = look_on,
                         .worker = &mpi_job->worker[w],
                         .ends = atomic_load_explicit(&survive.ends, memory_order_acquire)};
        mpi_network_post(look->worker, &look->errand);
    }
}

/* ---- Notices ---- */

static void append(int world)
{
    int n = atomic_load_explicit(&survive.count, memory_order_relaxed);

    if (atomic_load_explicit(&survive.is_failed[world], memory_order_relaxed))
        return;
    survive.failed[n] = world;
    atomic_store_explicit(&survive.is_failed[world], true, memory_order_relaxed);
    atomic_store_explicit(&survive.count, n + 1, memory_order_release);
}

void mpi_survive_fail_rank(int rank)
{
    if (!mpi_survives || rank < 0 || rank >= survive.ranks)
        return;
    pthread_mutex_lock(&survive.lock);
    append(rank);
    pthread_mutex_unlock(&survive.lock);
    look_everywhere();
}

void mpi_survive_fail_process(int process)
{
    bool is_lost;

    if (!mpi_survives || process < 0 || process >= survive.processes)
        return;
    pthread_mutex_lock(&survive.lock);
    atomic_store(&survive.is_dead[process], true);
    for (int r = 0; r < survive.ranks; r++)
        if (survive.process_of[r] == process)
            append(r);
    is_lost = survive.is_lost[process];
    if (is_lost)
        atomic_store(&survive.unsettled, LOST);
    pthread_mutex_unlock(&survive.lock);
    if (mpi_job == NULL || mpi_job->net == NULL)
        return;
    if (!is_lost)
        xy_net_cut(mpi_job->net, process);
    xy_net_wake(mpi_job->net);
}

void mpi_survive_lost(int process)
{
    bool is_known;

    pthread_mutex_lock(&survive.lock);
    survive.is_lost[process] = true;
    is_known = atomic_load(&survive.is_dead[process]);
    if (is_known)
        atomic_store(&survive.unsettled, LOST);
    pthread_mutex_unlock(&survive.lock);
    if (!is_known)
        survive.ops->lost(process);
}

void mpi_survive_settle(void)
{
    int step = atomic_load_explicit(&survive.unsettled, memory_order_relaxed);
    bool is_new = false;

    if (__builtin_expect(step == SETTLED, 1) || xy_net_is_polled(mpi_job->net))
        return;
    if (!atomic_compare_exchange_strong(&survive.unsettled, &step, step == LOST ? POLLED : SETTLED))
        return;
    if (step == LOST) {
        xy_net_wake(mpi_job->net);
        return;
    }
    pthread_mutex_lock(&survive.lock);
    if (xy_net_is_polled(mpi_job->net)) { /* and perhaps another one lost: the poller comes here */
        atomic_store(&survive.unsettled, LOST);
        pthread_mutex_unlock(&survive.lock);
        return;
    }
    for (int p = 0; p < survive.processes; p++)
        if (atomic_load(&survive.is_dead[p]) && survive.is_lost[p] && survive.end_of[p] == 0) {
            atomic_store(&survive.end_of[p], atomic_fetch_add(&survive.ends, 1) + 1);
            is_new = true;
        }
    pthread_mutex_unlock(&survive.lock);
    if (is_new)
        look_everywhere();
}

void mpi_survive_revoke(uint32_t context)
{
    unsigned n;

    if (!mpi_survives)
        return;
    context &= ~XMPI_CONTEXT_BITS;
    pthread_mutex_lock(&survive.lock);
    n = atomic_load_explicit(&survive.revoked_count, memory_order_relaxed);
    for (unsigned i = 0; i < n; i++)
        if (atomic_load_explicit(&survive.revoked[i], memory_order_relaxed) == context)
            context = UINT32_MAX;
    if (context != UINT32_MAX && n < sizeof(survive.revoked) / sizeof(survive.revoked[0])) {
        atomic_store_explicit(&survive.revoked[n], context, memory_order_relaxed);
        atomic_store_explicit(&survive.revoked_count, n + 1, memory_order_release);
    }
    pthread_mutex_unlock(&survive.lock);
    look_everywhere();
}

void mpi_survive_leave(mpi_rank_t *self)
{
    survive.ops->failed(self->world);
}

const mpi_survive_ops_t *mpi_survive_ops(void)
{
    return survive.ops;
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

/* What has come is received, unless the communicator was revoked. */
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

/* The one that was started first. */
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

/* A request without a wait was not examined when its peer failed. */
static void wait(mpi_rank_t *self, mpi_request_t *const *requests, int count, bool any)
{
    mpi_waiter_t *waiter = self->waiter;

    (void)any;
    for (int i = 0; i < count && (mpi_survive_count() > 0 || survive.revoked_count > 0); i++) {
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
