/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The matrix of direct collectives: their pieces read the memory of other processes and send
 * nothing, so what is counted is what the monitor of a real run counts, where each process has a
 * core: the data of each to those that read it. Reductions of small vectors go to all at once;
 * larger ones in slices, to those that reduce each slice and from there to those that want it. On
 * two levels the pieces inside nodes count likewise.
 */
#include "sim/job_internal.h"

typedef struct {
    xy_vjob_t *job;
    const xy_vcoll_t *coll;
    int32_t ranks, root;
    uint64_t block; /* bytes of one, where all are equal */
} direct_t;

static void count(const direct_t *d, int32_t from, int32_t to, uint64_t bytes)
{
    if (from != to && bytes > 0)
        job_count_pair(d->job, d->coll->comm->procs[from], d->coll->comm->procs[to], bytes);
}

/* Block i of those that differ. */
static uint64_t bytes_at(const direct_t *d, size_t i)
{
    return d->coll->shape->counts[i] * d->coll->call.element;
}

static void count_root(const direct_t *d, bool to_all, bool has_counts)
{
    for (int32_t r = 0; r < d->ranks; r++)
        count(d, to_all ? d->root : r, to_all ? r : d->root,
              has_counts ? bytes_at(d, (size_t)r) : d->block);
}

typedef enum { EQUAL, OF_SENDER, OF_RECEIVER, OF_PAIR } whose_t;

static void count_all(const direct_t *d, whose_t whose, uint64_t bytes)
{
    for (int32_t from = 0; from < d->ranks; from++)
        for (int32_t to = 0; to < d->ranks; to++) {
            size_t i = whose == OF_SENDER     ? (size_t)from
                       : whose == OF_RECEIVER ? (size_t)to
                                              : (size_t)from * (size_t)d->ranks + (size_t)to;

            count(d, from, to, whose == EQUAL ? bytes : bytes_at(d, i));
        }
}

static void count_reduction(const direct_t *d, bool is_for_all)
{
    uint64_t slice = d->block / (uint64_t)d->ranks;
    bool is_small = xy_direct_is_small(d->block);

    if (!is_small)
        count_all(d, EQUAL, slice);
    if (is_for_all)
        count_all(d, EQUAL, is_small ? d->block : slice);
    for (int32_t r = 0; !is_for_all && r < d->ranks; r++)
        count(d, r, d->root, is_small ? d->block : slice);
}

void job_count_pieces(xy_vjob_t *job, const xy_vcoll_t *coll)
{
    const direct_t d = {.job = job, .coll = coll};
    const xy_graph_t *graph = coll->shape->graph;

    for (int32_t id = 0; id < xy_graph_ops(graph); id++) {
        const xy_op_t *op = xy_graph_op(graph, id);

        if (!op->is_direct)
            continue;
        count(&d, op->from.rank, op->actor, op->bytes);
        if (op->kind == XY_OP_COMBINE)
            count(&d, op->other.rank, op->actor, op->bytes);
        count(&d, op->actor, op->to.rank, op->bytes);
    }
}

void job_count_direct(xy_vjob_t *job, const xy_vcoll_t *coll)
{
    const direct_t d = {.job = job,
                        .coll = coll,
                        .ranks = coll->comm->count,
                        .root = coll->call.root,
                        .block = coll->call.count * coll->call.element};

    switch (coll->call.collective) {
    case XY_COLL_BCAST:
    case XY_COLL_SCATTER:
        count_root(&d, true, false);
        break;
    case XY_COLL_SCATTERV:
        count_root(&d, true, true);
        break;
    case XY_COLL_GATHER:
        count_root(&d, false, false);
        break;
    case XY_COLL_GATHERV:
        count_root(&d, false, true);
        break;
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLTOALL:
    case XY_COLL_REDUCE_SCATTER_BLOCK:
        count_all(&d, EQUAL, d.block);
        break;
    case XY_COLL_ALLGATHERV:
        count_all(&d, OF_SENDER, 0);
        break;
    case XY_COLL_REDUCE_SCATTER:
        count_all(&d, OF_RECEIVER, 0);
        break;
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
        count_all(&d, OF_PAIR, 0);
        break;
    case XY_COLL_REDUCE:
    case XY_COLL_ALLREDUCE:
        count_reduction(&d, coll->call.collective == XY_COLL_ALLREDUCE);
        break;
    case XY_COLL_SCAN:
    case XY_COLL_EXSCAN:
        for (int32_t r = 0; r + 1 < d.ranks; r++)
            count(&d, r, r + 1, d.block);
        break;
    default:
        break;
    }
}
