/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared part of a communicator: which member is in which local group. */
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/coll/interprocess.h"
#include "mpi/coll/star.h"
#include "mpi/p2p/p2p.h"

/* NULL: the member lives in another process. */
static mpi_worker_t *worker_of(const mpi_group_t *group, int rank)
{
    int home = mpi_job->home[group->ranks ? group->ranks[rank] : rank];

    return home < mpi_job->workers ? &mpi_job->worker[home] : NULL;
}

static void local_destroy(coll_local_t *local)
{
    if (local == NULL)
        return;
    coll_star_destroy(local);
    xy_free(local->wide);
    free(local->slots[0].calls); /* where its memory begins */
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + XMPI_LINES - 1) & ~(size_t)(XMPI_LINES - 1);
}

/* One piece of memory in cache lines of its own, since its worker writes to it in every collective,
 * and what all workers read must not lie beside: the calls, the members, then the local group,
 * whose data at the end stays untouched until it is needed. */
static xy_status_t local_create(mpi_coll_t *coll, int index, mpi_worker_t *worker, int members,
                                coll_local_t **local_p)
{
    size_t calls_size = (size_t)members * COLL_SLOTS * sizeof(coll_call_t *);
    size_t head = whole_lines(calls_size + (size_t)members * sizeof(int));
    char *memory = aligned_alloc(XMPI_LINES, head + whole_lines(sizeof(coll_local_t)));
    coll_call_t **calls = (coll_call_t **)(void *)memory;
    coll_local_t *local;

    if (memory == NULL)
        return XY_ENOMEM;
    local = (coll_local_t *)(void *)(memory + head);
    memset(memory, 0, head + offsetof(coll_local_t, slots));
    local->coll = coll;
    local->index = index;
    local->worker = worker;
    local->member = (int *)(void *)(memory + calls_size);
    for (int s = 0; s < COLL_SLOTS; s++) {
        memset(&local->slots[s], 0, sizeof(local->slots[s]));
        local->slots[s].data = local->data[s];
        local->slots[s].seq = (uint64_t)s;
        local->slots[s].calls = calls + (size_t)s * (size_t)members;
    }
    *local_p = local;
    return XY_OK;
}

/* Local groups in the order of their first members; members of a local group in increasing order.
 */
static xy_status_t create_locals(mpi_coll_t *coll, int *members_of_worker, int *local_of_worker)
{
    for (int r = 0; r < coll->size; r++)
        if (worker_of(coll->group, r) != NULL)
            members_of_worker[worker_of(coll->group, r)->index]++;
    for (int r = 0; r < coll->size; r++) {
        mpi_worker_t *worker = worker_of(coll->group, r);
        coll_local_t *local;

        coll->local_of[r] = -1;
        if (worker == NULL)
            continue;
        coll->here++;
        if (local_of_worker[worker->index] == 0) {
            if (local_create(coll, coll->locals, worker, members_of_worker[worker->index],
                             &coll->local[coll->locals]) != XY_OK)
                return XY_ENOMEM;
            coll->worker_of[coll->locals] = worker->index;
            local_of_worker[worker->index] = ++coll->locals;
        }
        local = coll->local[local_of_worker[worker->index] - 1];
        coll->local_of[r] = local->index;
        coll->place_of[r] = local->members;
        local->member[local->members++] = r;
    }
    return XY_OK;
}

static bool find_order(const mpi_coll_t *coll)
{
    for (int r = 1; r < coll->size; r++)
        if (coll->local_of[r] < coll->local_of[r - 1])
            return false;
    return true;
}

/* Free the shared part of a communicator with its local groups. */
static void destroy(mpi_coll_t *coll)
{
    if (coll->link > 0)
        mpi_link_release(coll->link, coll->interprocess != NULL);
    coll_interprocess_destroy(coll->interprocess);
    coll_persistent_cleanup(coll);
    for (int p = 0; p < coll->locals; p++)
        local_destroy(coll->local[p]);
    xy_free(coll->local);
    xy_free(coll->worker_of);
    xy_free(coll->local_of);
    xy_free(coll->place_of);
    xy_free(coll->comms);
    xy_free(atomic_load_explicit(&coll->meetings, memory_order_relaxed));
    if (coll->scheduled != NULL)
        coll_engine_scheduled()->comm_destroy(coll);
    free(coll);
}

xy_status_t mpi_coll_create(mpi_group_t *group, uint32_t context, mpi_coll_t **coll_p)
{
    int most = mpi_job->workers < group->size ? mpi_job->workers : group->size;
    int *counts = xy_calloc(2 * (size_t)mpi_job->workers, sizeof(*counts));
    mpi_coll_t *coll = aligned_alloc(XMPI_LINES, sizeof(*coll));
    xy_status_t st = XY_ENOMEM;

    if (coll != NULL)
        memset((void *)coll, 0, sizeof(*coll));
    if (coll == NULL || counts == NULL)
        goto fail;
    coll->group = group;
    coll->context = coll->recorded = context;
    coll->size = group->size;
    coll->local = xy_calloc((size_t)most, sizeof(*coll->local));
    coll->worker_of = xy_calloc((size_t)most, sizeof(int));
    coll->local_of = xy_calloc((size_t)group->size, sizeof(int));
    coll->place_of = xy_calloc((size_t)group->size, sizeof(int));
    coll->comms = xy_calloc((size_t)group->size, sizeof(*coll->comms));
    if (coll->local == NULL || coll->worker_of == NULL || coll->local_of == NULL ||
        coll->place_of == NULL || coll->comms == NULL)
        goto fail;
    st = create_locals(coll, counts, counts + mpi_job->workers);
    if (st == XY_OK && mpi_job->reach > 1)
        st = coll_interprocess_create(group, &coll->interprocess);
    if (st == XY_OK && coll_engine_scheduled() != NULL && coll->interprocess == NULL)
        st = coll_engine_scheduled()->comm_create(coll);
    if (st != XY_OK)
        goto fail;
    coll->link = mpi_link_of_context(context);
    if (coll->link > 0)
        mpi_link_hold(coll->link, coll->interprocess != NULL);
    while (1L << coll->rounds < coll->locals)
        coll->rounds++;
    coll->is_ordered = find_order(coll);
    for (int p = 0; p < coll->locals; p++)
        if (coll->local[p]->members > coll->most_members)
            coll->most_members = coll->local[p]->members;
    coll->progress_worker =
        mpi_job->comm_workers > 0
            ? mpi_job->workers - 1 - (int)(context % (uint32_t)mpi_job->comm_workers)
            : -1;
    xy_free(counts);
    *coll_p = coll;
    return XY_OK;

fail:
    xy_free(counts);
    if (coll != NULL)
        destroy(coll);
    return st;
}

uint32_t mpi_context_new(int count)
{
    return atomic_fetch_add_explicit(&mpi_job->next_context, (uint32_t)count, memory_order_relaxed);
}

void mpi_coll_join(mpi_comm_t *comm)
{
    atomic_store_explicit(&comm->coll->comms[comm->rank], comm, memory_order_release);
}

void mpi_coll_hold(mpi_coll_t *coll)
{
    atomic_fetch_add_explicit(&coll->references, 1, memory_order_relaxed);
}

void mpi_coll_release(mpi_coll_t *coll)
{
    /* acq_rel: the other members' last use happens before the memory goes. */
    if (atomic_fetch_sub_explicit(&coll->references, 1, memory_order_acq_rel) == 1)
        destroy(coll);
}
