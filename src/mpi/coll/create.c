/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared part of a communicator: which member is in which part. */
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/coll.h"
#include "mpi/nbc/nbc.h"

static mpi_worker_t *worker_of(const mpi_group_t *group, int rank)
{
    return &mpi_job->worker[mpi_job->home[group->ranks ? group->ranks[rank] : rank]];
}

static void part_destroy(coll_part_t *part)
{
    if (part == NULL)
        return;
    xy_free(part->member);
    xy_free(part->slots[0].calls);
    free(part);
}

static xy_status_t part_create(mpi_coll_t *coll, int index, mpi_worker_t *worker, int members,
                               coll_part_t **part_p)
{
    /* The slots' data is aligned to cache lines, which malloc does not promise. */
    coll_part_t *part = aligned_alloc(64, (sizeof(*part) + 63) & ~(size_t)63);
    coll_call_t **calls = xy_calloc((size_t)members * COLL_SLOTS, sizeof(*calls));
    int *member = xy_calloc((size_t)members, sizeof(*member));

    if (part == NULL || calls == NULL || member == NULL) {
        free(part);
        xy_free(calls);
        xy_free(member);
        return XY_ENOMEM;
    }
    memset(part, 0, offsetof(coll_part_t, slots));
    part->coll = coll;
    part->index = index;
    part->worker = worker;
    part->member = member;
    for (int s = 0; s < COLL_SLOTS; s++) {
        memset(&part->slots[s], 0, sizeof(part->slots[s]));
        part->slots[s].data = part->data[s];
        part->slots[s].seq = (uint64_t)s;
        part->slots[s].calls = calls + (size_t)s * (size_t)members;
    }
    *part_p = part;
    return XY_OK;
}

/* Parts in the order of their first members; members of a part in increasing order. */
static xy_status_t create_parts(mpi_coll_t *coll, int *members_of_worker, int *part_of_worker)
{
    for (int r = 0; r < coll->size; r++)
        members_of_worker[worker_of(coll->group, r)->index]++;
    for (int r = 0; r < coll->size; r++) {
        mpi_worker_t *worker = worker_of(coll->group, r);
        coll_part_t *part;

        if (part_of_worker[worker->index] == 0) {
            if (part_create(coll, coll->parts, worker, members_of_worker[worker->index],
                            &coll->part[coll->parts]) != XY_OK)
                return XY_ENOMEM;
            coll->worker_of[coll->parts] = worker->index;
            part_of_worker[worker->index] = ++coll->parts;
        }
        part = coll->part[part_of_worker[worker->index] - 1];
        coll->part_of[r] = part->index;
        coll->place_of[r] = part->members;
        part->member[part->members++] = r;
    }
    return XY_OK;
}

static bool find_order(const mpi_coll_t *coll)
{
    for (int r = 1; r < coll->size; r++)
        if (coll->part_of[r] < coll->part_of[r - 1])
            return false;
    return true;
}

static void destroy(mpi_coll_t *coll)
{
    for (int p = 0; p < coll->parts; p++)
        part_destroy(coll->part[p]);
    xy_free(coll->part);
    xy_free(coll->worker_of);
    xy_free(coll->part_of);
    xy_free(coll->place_of);
    mpi_flows_destroy(coll);
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
    coll->context = context;
    coll->size = group->size;
    coll->part = xy_calloc((size_t)most, sizeof(*coll->part));
    coll->worker_of = xy_calloc((size_t)most, sizeof(int));
    coll->part_of = xy_calloc((size_t)group->size, sizeof(int));
    coll->place_of = xy_calloc((size_t)group->size, sizeof(int));
    if (coll->part == NULL || coll->worker_of == NULL || coll->part_of == NULL ||
        coll->place_of == NULL)
        goto fail;
    st = create_parts(coll, counts, counts + mpi_job->workers);
    if (st == XY_OK)
        st = mpi_flows_create(coll);
    if (st != XY_OK)
        goto fail;
    while (1L << coll->rounds < coll->parts)
        coll->rounds++;
    coll->is_ordered = find_order(coll);
    for (int p = 0; p < coll->parts; p++)
        if (coll->part[p]->members > coll->most_members)
            coll->most_members = coll->part[p]->members;
    coll->steward = mpi_job->comm_workers > 0
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
