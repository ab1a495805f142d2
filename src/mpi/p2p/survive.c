/* SPDX-License-Identifier: BSD-3-Clause */
/* The failed ranks and the revoked communicators. */
#include "mpi/p2p/survive.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "mpi/object/object.h"
#include "mpi/p2p/remote.h"
#include "net/net.h"

bool mpi_survives;

/* Some processes are lost, and their requests are not ended: what has come from there has not been
 * handed out before one more poll is complete. */
enum { SETTLED, LOST, POLLED };

/* Revoked contexts have one bit each, in pages that are made when they are needed. A bit is never
 * cleared: contexts are used once. */
enum { WORD_BITS = 64, PAGE_BITS = 1 << 15, PAGES = XMPI_CONTEXT_END / PAGE_BITS };
typedef struct {
    _Atomic uint64_t words[PAGE_BITS / WORD_BITS];
} page_t;

static struct {
    const mpi_survive_ops_t *ops;
    const int *process_of;
    int ranks, processes;
    int started, room;    /* ranks that were not spawned, and those that each process may spawn */
    pthread_mutex_t lock; /* of what is written below */
    int *failed;          /* [ranks]: world ranks, in the order in which they failed, */
    _Atomic int count;    /* how many of them there are: release, and acquire by readers */
    _Atomic bool *is_failed; /* [ranks] */
    _Atomic bool *is_dead;   /* [processes]: mpiexec says so */
    bool *is_lost;           /* [processes]: the connection is closed, */
    _Atomic int *end_of;     /* [processes]: and all that came over it is in the mailboxes: */
    _Atomic int ends;        /* its number among the ends, 0: none yet; and their count */
    _Atomic int unsettled;   /* see above */
    _Atomic bool has_revoked;
    _Atomic(page_t *) revoked[PAGES]; /* or NULL; release, and acquire by readers */
} survive = {.lock = PTHREAD_MUTEX_INITIALIZER};

xy_status_t mpi_survive_setup(const mpi_survive_ops_t *ops, const int *process_of, int started,
                              int room, int processes)
{
    int ranks = started + room * processes;

    survive.ops = ops;
    survive.started = started;
    survive.room = room;
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

static int process_of(int world)
{
    return world < survive.started ? survive.process_of[world]
                                   : (world - survive.started) / survive.room;
}

bool mpi_survive_is_dead(int process)
{
    return mpi_survives && atomic_load_explicit(&survive.is_dead[process], memory_order_relaxed);
}

int mpi_survive_count(void)
{
    return atomic_load_explicit(&survive.count, memory_order_acquire);
}

int mpi_survive_rank(int i)
{
    return survive.failed[i];
}

bool mpi_survive_is_failed(int world)
{
    return mpi_survives && world < survive.ranks &&
           atomic_load_explicit(&survive.is_failed[world], memory_order_relaxed);
}

int mpi_survive_end_of(int world)
{
    return world < survive.ranks
               ? atomic_load_explicit(&survive.end_of[process_of(world)], memory_order_acquire)
               : 0;
}

int mpi_survive_ends(void)
{
    return atomic_load_explicit(&survive.ends, memory_order_acquire);
}

bool mpi_survive_has_notices(void)
{
    return mpi_survive_count() > 0 ||
           atomic_load_explicit(&survive.has_revoked, memory_order_relaxed);
}

bool mpi_survive_is_revoked(const mpi_comm_t *comm)
{
    uint32_t context = comm->context & ~XMPI_CONTEXT_BITS, bit = context % PAGE_BITS;
    page_t *page;

    if (!atomic_load_explicit(&survive.has_revoked, memory_order_relaxed))
        return false;
    page = atomic_load_explicit(&survive.revoked[context / PAGE_BITS], memory_order_acquire);
    return page != NULL &&
           (atomic_load_explicit(&page->words[bit / WORD_BITS], memory_order_relaxed) >>
                (bit % WORD_BITS) &
            1) != 0;
}

/* A rank that nobody has spawned, yet, is in no group. */
static bool is_member(const mpi_comm_t *comm, int world)
{
    if (world >= survive.started && world >= mpi_job_known(mpi_job))
        return false;
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
    return mpi_survive_is_failed(mpi_comm_world_rank(comm, peer)) ? MPIX_ERR_PROC_FAILED
                                                                  : MPI_SUCCESS;
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
    mpi_survive_look();
}

void mpi_survive_fail_process(int process)
{
    bool is_lost;

    if (!mpi_survives || process < 0 || process >= survive.processes)
        return;
    pthread_mutex_lock(&survive.lock);
    atomic_store(&survive.is_dead[process], true);
    for (int r = 0; r < survive.ranks; r++)
        if (process_of(r) == process)
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
        mpi_survive_look();
}

/* Set the bit of a context; false: memory ran out. */
static bool set_revoked(uint32_t context)
{
    uint32_t bit = context % PAGE_BITS;
    page_t *page;

    pthread_mutex_lock(&survive.lock);
    page = atomic_load_explicit(&survive.revoked[context / PAGE_BITS], memory_order_relaxed);
    if (page == NULL)
        page = xy_calloc(1, sizeof(*page));
    if (page != NULL) {
        atomic_fetch_or_explicit(&page->words[bit / WORD_BITS], UINT64_C(1) << (bit % WORD_BITS),
                                 memory_order_relaxed);
        atomic_store_explicit(&survive.revoked[context / PAGE_BITS], page, memory_order_release);
        atomic_store_explicit(&survive.has_revoked, true, memory_order_relaxed);
    }
    pthread_mutex_unlock(&survive.lock);
    return page != NULL;
}

void mpi_survive_revoke(uint32_t context)
{
    if (!mpi_survives)
        return;
    if (!set_revoked(context & ~XMPI_CONTEXT_BITS)) {
        xy_fail_memory("revoking a communicator");
        mpi_job->abort(1);
    }
    mpi_survive_look();
}

void mpi_survive_leave(mpi_rank_t *self)
{
    survive.ops->failed(self->world);
}

const mpi_survive_ops_t *mpi_survive_ops(void)
{
    return survive.ops;
}
