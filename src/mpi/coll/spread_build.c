/* SPDX-License-Identifier: BSD-3-Clause */
/* The scripts of collectives between processes, one function for each. */
#include "mpi/coll/spread.h"

#include "mpi/runtime/runtime.h"

/* Larger broadcasts go down the tree in pieces, so that all levels of it work at the same time. */
enum { SEGMENT = 256 << 10 };

static const mpi_type_t *bytes_type(void)
{
    return mpi_type_of(MPI_BYTE);
}

static const void *contribution(const coll_call_t *call)
{
    return call->is_in_place ? call->receive : call->send;
}

/* ---- Barrier ---- */

static void build_barrier(script_t *s, const coll_call_t *call)
{
    const mpi_type_t *none = bytes_type();
    spread_tree_t tree;

    spread_tree(call->comm->coll, call->rank, 0, &tree);
    for (int i = 0; i < tree.children; i++)
        script_receive(s, tree.child[i], NULL, 0, none);
    script_wait(s);
    if (tree.parent >= 0) {
        script_send(s, tree.parent, NULL, 0, none);
        script_receive(s, tree.parent, NULL, 0, none);
        script_wait(s);
    }
    for (int i = 0; i < tree.children; i++)
        script_send(s, tree.child[i], NULL, 0, none);
}

/* ---- From one to all ---- */

/* `bytes` at `data` go down the tree; what is below waits for each piece. */
static void spread_bytes(script_t *s, const spread_tree_t *tree, char *data, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += SEGMENT) {
        int64_t n = (int64_t)(bytes - at < SEGMENT ? bytes - at : SEGMENT);

        if (tree->parent >= 0) {
            script_receive(s, tree->parent, data + at, n, bytes_type());
            script_wait(s);
        }
        for (int i = 0; i < tree->children; i++)
            script_send(s, tree->child[i], data + at, n, bytes_type());
    }
}

/* The receive buffer of `call`, from the root of the tree to all; other types than that of the root
 * may describe it. */
static void spread_vector(script_t *s, const spread_tree_t *tree, const coll_call_t *call)
{
    const mpi_type_t *type = call->receive_type;
    uint64_t bytes = (uint64_t)call->receive_count * type->size;
    bool is_root = tree->parent < 0;
    char *data = call->receive;

    if (bytes <= SEGMENT) {
        if (!is_root) {
            script_receive(s, tree->parent, data, call->receive_count, type);
            script_wait(s);
        }
        for (int i = 0; i < tree->children; i++)
            script_send(s, tree->child[i], data, call->receive_count, type);
        return;
    }
    if (mpi_type_is_contiguous(type)) {
        spread_bytes(s, tree, data, bytes);
        return;
    }
    data = script_memory(s, bytes);
    if (is_root)
        script_copy(s, data, (int64_t)bytes, bytes_type(), call->receive, call->receive_count,
                    type);
    spread_bytes(s, tree, data, bytes);
    if (!is_root)
        script_copy(s, call->receive, call->receive_count, type, data, (int64_t)bytes,
                    bytes_type());
}

static void build_bcast(script_t *s, const coll_call_t *call)
{
    spread_tree_t tree;

    spread_tree(call->comm->coll, call->rank, call->root, &tree);
    spread_vector(s, &tree, call);
}

/* ---- Blocks: gather, scatter, alltoall ---- */

static void send_block(script_t *s, int peer, coll_block_t b)
{
    script_send(s, peer, b.at, b.count, b.type);
}

static void receive_block(script_t *s, int peer, coll_block_t b)
{
    script_receive(s, peer, b.at, b.count, b.type);
}

static void copy_block(script_t *s, coll_block_t to, coll_block_t from)
{
    script_copy(s, to.at, to.count, to.type, from.at, from.count, from.type);
}

static void build_gather(script_t *s, const coll_call_t *call)
{
    coll_side_t send = coll_side_of(call, true), receive = coll_side_of(call, false);

    if (call->rank != call->root) {
        send_block(s, call->root, coll_block_at(&send, 0));
        return;
    }
    for (int r = 0; r < call->comm->size; r++)
        if (r != call->rank)
            receive_block(s, r, coll_block_at(&receive, r));
    if (!call->is_in_place)
        copy_block(s, coll_block_at(&receive, call->rank), coll_block_at(&send, 0));
}

static void build_scatter(script_t *s, const coll_call_t *call)
{
    coll_side_t send = coll_side_of(call, true), receive = coll_side_of(call, false);

    if (call->rank != call->root) {
        receive_block(s, call->root, coll_block_at(&receive, 0));
        return;
    }
    for (int r = 0; r < call->comm->size; r++)
        if (r != call->rank)
            send_block(s, r, coll_block_at(&send, r));
    if (!call->is_in_place)
        copy_block(s, coll_block_at(&receive, 0), coll_block_at(&send, call->rank));
}

/* In place, what is given is first copied away. */
static coll_block_t copied_block(script_t *s, coll_block_t b)
{
    uint64_t bytes = coll_block_bytes(&b);
    coll_block_t copy = {
        .at = script_memory(s, bytes), .count = (int64_t)bytes, .type = bytes_type()};

    copy_block(s, copy, b);
    return copy;
}

static void build_alltoall(script_t *s, const coll_call_t *call)
{
    coll_side_t send = coll_side_of(call, true), receive = coll_side_of(call, false);
    int n = call->comm->size, rank = call->rank;

    if (call->is_in_place) {
        for (int i = 1; i < n; i++)
            send_block(s, (rank + i) % n, copied_block(s, coll_block_at(&receive, (rank + i) % n)));
    }
    for (int i = 1; i < n; i++)
        receive_block(s, (rank - i + n) % n, coll_block_at(&receive, (rank - i + n) % n));
    if (call->is_in_place)
        return;
    for (int i = 1; i < n; i++)
        send_block(s, (rank + i) % n, coll_block_at(&send, (rank + i) % n));
    copy_block(s, coll_block_at(&receive, rank), coll_block_at(&send, rank));
}

/* ---- Allgather ---- */

/* All blocks as bytes, part by part: where each member's are, and where those of a part begin. */
typedef struct {
    char *data;
    uint64_t *at;    /* [size], by rank */
    uint64_t *begin; /* [parts + 1] */
} gathered_t;

static gathered_t gathered_new(script_t *s, const coll_call_t *call, const coll_side_t *receive)
{
    const coll_spread_t *spread = call->comm->coll->spread;
    int n = call->comm->size;
    gathered_t g = {.at = script_memory(s, (size_t)n * sizeof(*g.at)),
                    .begin = script_memory(s, ((size_t)spread->parts + 1) * sizeof(*g.begin))};
    uint64_t total = 0;

    for (int p = 0; p < spread->parts; p++) {
        g.begin[p] = total;
        for (int i = spread->begin[p]; i < spread->begin[p + 1]; i++) {
            coll_block_t b = coll_block_at(receive, spread->member[i]);

            g.at[spread->member[i]] = total;
            total += coll_block_bytes(&b);
        }
    }
    g.begin[spread->parts] = total;
    g.data = script_memory(s, total);
    return g;
}

/* The speaker of a process gets the blocks of the other members there. */
static void gather_part(script_t *s, const coll_call_t *call, const gathered_t *g)
{
    const coll_spread_t *spread = call->comm->coll->spread;
    coll_side_t receive = coll_side_of(call, false);
    int own = spread->own;

    for (int i = spread->begin[own]; i < spread->begin[own + 1]; i++) {
        int r = spread->member[i];
        coll_block_t b = coll_block_at(&receive, r);

        if (r != call->rank)
            script_receive(s, r, g->data + g->at[r], (int64_t)coll_block_bytes(&b), bytes_type());
    }
    script_wait(s);
}

static void exchange_parts(script_t *s, const coll_call_t *call, const gathered_t *g)
{
    const coll_spread_t *spread = call->comm->coll->spread;
    int n = spread->parts, own = spread->own;

    for (int i = 1; i < n; i++) {
        int p = (own - i + n) % n;

        script_receive(s, spread->first[p], g->data + g->begin[p],
                       (int64_t)(g->begin[p + 1] - g->begin[p]), bytes_type());
    }
    for (int i = 1; i < n; i++)
        script_send(s, spread->first[(own + i) % n], g->data + g->begin[own],
                    (int64_t)(g->begin[own + 1] - g->begin[own]), bytes_type());
    script_wait(s);
}

static void build_allgather(script_t *s, const coll_call_t *call)
{
    const coll_spread_t *spread = call->comm->coll->spread;
    coll_side_t send = coll_side_of(call, true), receive = coll_side_of(call, false);
    coll_block_t own =
        call->is_in_place ? coll_block_at(&receive, call->rank) : coll_block_at(&send, 0);
    gathered_t g = gathered_new(s, call, &receive);
    spread_tree_t tree;

    spread_tree_part(call->comm->coll, call->rank, &tree);
    if (tree.parent >= 0) {
        script_send(s, spread->first[spread->own], own.at, own.count, own.type);
    } else {
        script_copy(s, g.data + g.at[call->rank], (int64_t)coll_block_bytes(&own), bytes_type(),
                    own.at, own.count, own.type);
        gather_part(s, call, &g);
        exchange_parts(s, call, &g);
    }
    spread_bytes(s, &tree, g.data, g.begin[spread->parts]);
    for (int r = 0; r < call->comm->size; r++) {
        coll_block_t b = coll_block_at(&receive, r);

        if (r != call->rank || !call->is_in_place)
            script_copy(s, b.at, b.count, b.type, g.data + g.at[r], (int64_t)coll_block_bytes(&b),
                        bytes_type());
    }
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

/* A tree in which vectors are combined in the order of ranks, if the operation needs it. Returns
 * its root. */
static int reduction_tree(const coll_call_t *call, int root, spread_tree_t *tree)
{
    const mpi_coll_t *coll = call->comm->coll;

    if (call->op->is_commutative) {
        spread_tree(coll, call->rank, root, tree);
        return root;
    }
    if (coll->spread->is_ordered)
        spread_tree(coll, call->rank, 0, tree);
    else
        spread_tree_ordered(0, coll->size, call->rank, tree);
    return 0;
}

static void build_reduce(script_t *s, const coll_call_t *call)
{
    const mpi_type_t *type = call->receive_type;
    int64_t count = call->receive_count;
    bool is_in_place = call->is_in_place && call->rank == call->root;
    const void *own = is_in_place ? call->receive : call->send, *sum;
    spread_tree_t tree;
    int top = reduction_tree(call, call->root, &tree);

    sum = spread_reduce_up(s, call, &tree, own, count);
    if (tree.parent >= 0)
        script_send(s, tree.parent, sum, count, type);
    else if (top != call->root)
        script_send(s, call->root, sum, count, type);
    else if (sum != call->receive)
        script_copy(s, call->receive, count, type, sum, count, type);
    if (call->rank != call->root || top == call->root)
        return;
    script_wait(s); /* the own vector may be where the result comes */
    script_receive(s, top, call->receive, count, type);
}

static void build_allreduce(script_t *s, const coll_call_t *call)
{
    const mpi_type_t *type = call->receive_type;
    int64_t count = call->receive_count;
    spread_tree_t tree;
    const void *sum;

    reduction_tree(call, 0, &tree);
    sum = spread_reduce_up(s, call, &tree, contribution(call), count);
    if (tree.parent >= 0) {
        script_send(s, tree.parent, sum, count, type);
        script_wait(s);
    } else if (sum != call->receive) {
        script_copy(s, call->receive, count, type, sum, count, type);
    }
    spread_vector(s, &tree, call);
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

    reduction_tree(call, 0, &tree);
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
    case XY_COLL_BCAST:
        build_bcast(s, call);
        break;
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
        build_gather(s, call);
        break;
    case XY_COLL_SCATTER:
    case XY_COLL_SCATTERV:
        build_scatter(s, call);
        break;
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLGATHERV:
        build_allgather(s, call);
        break;
    case XY_COLL_ALLTOALL:
    case XY_COLL_ALLTOALLV:
    case XY_COLL_ALLTOALLW:
        build_alltoall(s, call);
        break;
    case XY_COLL_REDUCE:
        build_reduce(s, call);
        break;
    case XY_COLL_ALLREDUCE:
        build_allreduce(s, call);
        break;
    case XY_COLL_REDUCE_SCATTER:
    case XY_COLL_REDUCE_SCATTER_BLOCK:
        build_reduce_scatter(s, call);
        break;
    case XY_COLL_SCAN:
        build_scan(s, call);
        break;
    case XY_COLL_EXSCAN:
        build_exscan(s, call);
        break;
    default: /* a barrier, or an agreement about nothing */
        build_barrier(s, call);
    }
}
