/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scripts of single members: reductions that depend on the order of ranks, where members of several
 * processes alternate in it. All others: spread_part.c.
 */
#include "mpi/coll/spread.h"

#include "mpi/runtime/runtime.h"

static const void *contribution(const coll_call_t *call)
{
    return call->is_in_place ? call->receive : call->send;
}

/* ---- Reductions ---- */

const void *spread_reduce_up(script_t *s, const coll_call_t *call, const spread_tree_t *tree,
                             const void *own, int64_t count)
{
    const mpi_type_t *type = call->receive_type;
    void *vector[SPREAD_CHILDREN], *sum;

    if (tree->children == 0)
        return own;
    for (int i = 0; i < tree->children; i++) {
        vector[i] = script_vector(s, count, type);
        script_receive(s, tree->child[i], vector[i], count, type);
    }
    script_wait(s);
    /* The children come in falling order of what they stand for. */
    sum = vector[0];
    for (int i = 1; i < tree->children; i++)
        script_reduce(s, vector[i], sum, count);
    script_reduce(s, own, sum, count);
    return sum;
}

static void build_reduce(script_t *s, const coll_call_t *call)
{
    const mpi_type_t *type = call->receive_type;
    int64_t count = call->receive_count;
    bool is_in_place = call->is_in_place && call->rank == call->root;
    const void *own = is_in_place ? call->receive : call->send, *sum;
    spread_tree_t tree;

    spread_tree_ordered(0, call->comm->size, call->rank, &tree);
    sum = spread_reduce_up(s, call, &tree, own, count);
    if (tree.parent >= 0)
        script_send(s, tree.parent, sum, count, type);
    else if (call->root != 0)
        script_send(s, call->root, sum, count, type);
    else if (sum != call->receive)
        script_copy(s, call->receive, count, type, sum, count, type);
    if (call->rank != call->root || call->root == 0)
        return;
    script_wait(s); /* the own vector may be where the result comes */
    script_receive(s, 0, call->receive, count, type);
}

static void build_allreduce(script_t *s, const coll_call_t *call)
{
    const mpi_type_t *type = call->receive_type;
    int64_t count = call->receive_count;
    spread_tree_t tree;
    const void *sum;

    spread_tree_ordered(0, call->comm->size, call->rank, &tree);
    sum = spread_reduce_up(s, call, &tree, contribution(call), count);
    if (tree.parent >= 0) {
        script_send(s, tree.parent, sum, count, type);
        script_wait(s);
        script_receive(s, tree.parent, call->receive, count, type);
        script_wait(s);
    } else if (sum != call->receive) {
        script_copy(s, call->receive, count, type, sum, count, type);
    }
    for (int i = 0; i < tree.children; i++)
        script_send(s, tree.child[i], call->receive, count, type);
}

/* Elements of the whole vector before the share of `rank`; of all members: before the end. */
static int64_t share_begin(const coll_call_t *call, int rank)
{
    int64_t begin = 0;

    if (call->receive_counts.data == NULL)
        return call->receive_count * rank;
    for (int r = 0; r < rank; r++)
        begin += coll_count_at(call->receive_counts, r);
    return begin;
}

static void build_reduce_scatter(script_t *s, const coll_call_t *call)
{
    const mpi_type_t *type = call->receive_type;
    int n = call->comm->size, rank = call->rank;
    int64_t all = share_begin(call, n), begin = share_begin(call, rank);
    int64_t count = share_begin(call, rank + 1) - begin;
    spread_tree_t tree;
    const void *sum;

    spread_tree_ordered(0, call->comm->size, call->rank, &tree);
    sum = spread_reduce_up(s, call, &tree, contribution(call), all);
    if (tree.parent >= 0) {
        script_send(s, tree.parent, sum, all, type);
        script_wait(s);
        script_receive(s, 0, call->receive, count, type);
        return;
    }
    begin = count; /* its own share is the first */
    for (int r = 1; r < n; r++) {
        int64_t end = share_begin(call, r + 1);

        script_send(s, r, coll_element(sum, begin, type), end - begin, type);
        begin = end;
    }
    if (sum != call->receive)
        script_copy(s, call->receive, count, type, sum, count, type);
}

/* ---- Scans ---- */

/* `sum`, of which the vectors of [first, rank] make up one each, becomes that of all before and
 * with it: each step doubles how many it stands for. */
static void scan_from(script_t *s, const coll_call_t *call, int first, void *sum)
{
    const mpi_type_t *type = call->receive_type;
    int64_t count = call->receive_count;
    void *before = script_vector(s, count, type);

    for (int d = 1; d < call->comm->size - first; d <<= 1) {
        if (call->rank + d < call->comm->size)
            script_send(s, call->rank + d, sum, count, type);
        if (call->rank - d >= first)
            script_receive(s, call->rank - d, before, count, type);
        script_wait(s);
        if (call->rank - d >= first)
            script_reduce(s, before, sum, count);
    }
}

static void build_scan(script_t *s, const coll_call_t *call)
{
    const mpi_type_t *type = call->receive_type;
    int64_t count = call->receive_count;

    if (!call->is_in_place)
        script_copy(s, call->receive, count, type, call->send, count, type);
    scan_from(s, call, 0, call->receive);
}

/* A scan of the vectors of those before: each one's moves up by one rank. */
static void build_exscan(script_t *s, const coll_call_t *call)
{
    const mpi_type_t *type = call->receive_type;
    int64_t count = call->receive_count;
    void *sum = script_vector(s, count, type);

    if (call->rank + 1 < call->comm->size)
        script_send(s, call->rank + 1, contribution(call), count, type);
    if (call->rank > 0)
        script_receive(s, call->rank - 1, sum, count, type);
    script_wait(s);
    if (call->rank == 0)
        return;
    scan_from(s, call, 1, sum);
    script_copy(s, call->receive, count, type, sum, count, type);
}

void spread_build(script_t *s, const coll_call_t *call)
{
    switch (call->kind->collective) {
    case XY_COLL_REDUCE:
        build_reduce(s, call);
        break;
    case XY_COLL_ALLREDUCE:
        build_allreduce(s, call);
        break;
    case XY_COLL_SCAN:
        build_scan(s, call);
        break;
    case XY_COLL_EXSCAN:
        build_exscan(s, call);
        break;
    default:
        build_reduce_scatter(s, call);
    }
}
