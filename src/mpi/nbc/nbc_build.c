/* SPDX-License-Identifier: BSD-3-Clause */
/* From calls to a graph and its executor: which algorithm, which levels, who does what. */
#include <string.h>

#include "mpi/nbc/nbc.h"
#include "mpi/runtime/runtime.h"

/* ---- The shape ---- */

static bool may_be_in_place(xy_collective_t c)
{
    return c == XY_COLL_ALLGATHER || c == XY_COLL_ALLTOALL || c == XY_COLL_ALLREDUCE ||
           c == XY_COLL_SCAN || c == XY_COLL_EXSCAN || c == XY_COLL_REDUCE_SCATTER ||
           c == XY_COLL_REDUCE_SCATTER_BLOCK;
}

/* The algorithm of a tree collective that is a tree. */
static const xy_coll_algorithm_t *tree_algorithm(xy_collective_t c)
{
    return xy_coll_find(c, c == XY_COLL_ALLREDUCE ? "reduce-bcast" : "binomial");
}

/* The algorithm that `mpiexec --adapt` has picked for such calls; NULL: none that can do this one.
 */
static const xy_coll_algorithm_t *picked_for(const coll_call_t *call, const mpi_settings_t *s)
{
    xy_coll_request_t q = {.procs = call->comm->size,
                           .root = call->kind->is_rooted ? call->root : 0,
                           .is_commutative = true};
    const xy_coll_algorithm_t *a;
    nbc_shape_t shape;

    nbc_shape_size(call, &shape);
    q.collective = shape.collective;
    q.count = shape.count;
    q.element = shape.element;
    a = xy_coll_picked(s->picks, q.collective, q.procs, q.count * q.element);
    return a != NULL && xy_coll_is_applicable(a, &q) ? a : NULL;
}

bool nbc_wants(const coll_call_t *call)
{
    const mpi_settings_t *s = mpi_settings_of(call->comm);
    xy_collective_t c;

    if (call->comm->size < 2 || call->kind->is_inter || call->kind->collective == XY_COLL_COUNT ||
        (call->op != NULL && !call->op->is_predefined))
        return false;
    c = call->kind->collective;
    if (s->algorithm[c] != NULL)
        return !s->algorithm[c]->is_direct;
    if (s->picks != NULL && picked_for(call, s) != NULL)
        return true;
    return s->progress == XMPI_PROGRESS_THREADS ||
           (s->split != XMPI_SPLIT_OFF && xy_coll_is_tree(c));
}

void nbc_shape_size(const coll_call_t *call, nbc_shape_t *shape)
{
    shape->collective = call->kind->collective;
    shape->count = call->op != NULL ? (uint64_t)call->receive_count : call->bytes;
    shape->element = call->op != NULL ? (uint64_t)call->receive_type->extent : 1;
}

void nbc_shape_make(const coll_call_t *call, nbc_shape_t *shape)
{
    const mpi_settings_t *s = mpi_settings_of(call->comm);
    xy_collective_t c = call->kind->collective;

    *shape = (nbc_shape_t){0};
    nbc_shape_size(call, shape);
    shape->root = call->kind->is_rooted ? call->root : 0;
    shape->is_threads = s->progress == XMPI_PROGRESS_THREADS;
    shape->is_kept = call->how == COLL_PERSISTENT ||
                     (!nbc_needs_all_counts(call) && c != XY_COLL_REDUCE_SCATTER);
    shape->is_in_place = may_be_in_place(c) && call->is_in_place;
    shape->algorithm = s->algorithm[c];
    if (shape->algorithm == NULL && s->picks != NULL)
        shape->algorithm = picked_for(call, s);
    if (s->split == XMPI_SPLIT_OFF || !xy_coll_is_tree(c))
        return;
    if (shape->algorithm == NULL)
        shape->algorithm = tree_algorithm(c);
    shape->is_split = shape->algorithm->has_levels;
}

/* With a split, or progress threads, the model may be asked. */
void nbc_shape_choose(const coll_call_t *call, nbc_shape_t *shape, nbc_way_t *way)
{
    if (shape->is_split || shape->is_threads)
        nbc_model_choose(call, shape, way);
}

/* ---- The request ---- */

/* Rows of pointers and values that a request needs, in one piece of memory. */
typedef struct {
    xy_coll_request_t q;
    uint64_t *counts;
    const uint64_t **matrix, **send_offsets, **receive_offsets;
    bool *in_place;
    void *memory;
} request_t;

/* Allocate the arrays of a request in one piece of memory, which the caller frees. */
static xy_status_t request_allocate(request_t *r, int procs)
{
    size_t p = (size_t)procs;

    r->memory = xy_calloc(p, sizeof(uint64_t) + 3 * sizeof(uint64_t *) + sizeof(bool));
    if (r->memory == NULL)
        return XY_ENOMEM;
    r->counts = r->memory;
    r->matrix = (const uint64_t **)(r->counts + p);
    r->send_offsets = r->matrix + p;
    r->receive_offsets = r->send_offsets + p;
    r->in_place = (bool *)(r->receive_offsets + p);
    r->q.in_place = r->in_place;
    return XY_OK;
}

/* Block `block` of what `from` gives, from its send buffer or in place, is block `place` of what
 * `to` gets. */
static void check_block(const coll_call_t *from, bool is_sent, int block, const coll_call_t *to,
                        int place)
{
    coll_side_t send = coll_side_of(from, is_sent), receive = coll_side_of(to, false);
    coll_block_t give = coll_block_at(&send, block), get = coll_block_at(&receive, place);

    coll_check_room(from, give.count, give.type, to, get.count, get.type);
}

/* No member gives another more than that has room for. */
static void check_blocks(xy_collective_t c, int procs, int root, coll_call_t *const *calls)
{
    for (int i = 0; i < procs; i++) {
        bool is_in_place = calls[i]->is_in_place;

        if (c == XY_COLL_GATHERV && !(is_in_place && i == root))
            check_block(calls[i], true, 0, calls[root], i);
        else if (c == XY_COLL_SCATTERV && !(calls[root]->is_in_place && i == root))
            check_block(calls[root], true, i, calls[i], 0);
        for (int j = 0; c == XY_COLL_ALLGATHERV && j < procs; j++)
            check_block(calls[i], !is_in_place, is_in_place ? i : 0, calls[j], i);
        for (int j = 0; (c == XY_COLL_ALLTOALLV || c == XY_COLL_ALLTOALLW) && j < procs; j++)
            check_block(calls[i], !is_in_place, j, calls[j], i);
    }
}

/* The v and w variants: all ranks have arrived and stored their blocks. */
static void request_blocks(request_t *r, coll_call_t *const *calls)
{
    xy_collective_t c = r->q.collective;
    const nbc_rank_args_t *root = calls[r->q.root]->rank_args;

    check_blocks(c, r->q.procs, r->q.root, calls);
    r->q.counts = r->counts;
    r->q.matrix = r->matrix;
    r->q.send_offsets = r->send_offsets;
    r->q.receive_offsets = r->receive_offsets;
    for (int i = 0; i < r->q.procs; i++) {
        const nbc_rank_args_t *m = calls[i]->rank_args;

        r->counts[i] = c == XY_COLL_SCATTERV ? root->send.bytes[i] : root->receive.bytes[i];
        r->matrix[i] = calls[i]->is_in_place ? m->receive.bytes : m->send.bytes;
        r->send_offsets[i] = m->send.offsets;
        r->receive_offsets[i] = m->receive.offsets;
        r->in_place[i] = calls[i]->is_in_place && !calls[i]->kind->is_rooted;
    }
}

/* `calls`: of all members, where their counts are needed; else NULL. */
static xy_status_t request_make(coll_call_t *const *calls, const nbc_shape_t *shape,
                                const coll_call_t *call, request_t *r)
{
    int procs = call->comm->coll->size;

    *r = (request_t){.q = {.collective = shape->collective,
                           .procs = procs,
                           .root = shape->root,
                           .count = shape->count,
                           .element = shape->element,
                           .is_commutative = true}};
    if (request_allocate(r, procs) != XY_OK)
        return xy_fail_memory("starting a collective");
    if (nbc_needs_all_counts(call)) {
        request_blocks(r, calls);
        return XY_OK;
    }
    for (int i = 0; i < procs; i++)
        r->in_place[i] = shape->is_in_place;
    if (call->receive_counts.data != NULL) {
        r->q.counts = r->counts;
        for (int i = 0; i < procs; i++)
            r->counts[i] = (uint64_t)coll_count_at(call->receive_counts, i);
    }
    return XY_OK;
}

/* ---- The graph ---- */

/* A named algorithm that cannot do this call is replaced by one that can, with one warning. */
static xy_status_t choose(const xy_coll_request_t *q, const xy_coll_algorithm_t **algorithm_p)
{
    static _Atomic unsigned said;
    const xy_coll_algorithm_t *wanted = *algorithm_p;
    xy_status_t st;

    if (wanted != NULL && xy_coll_is_applicable(wanted, q))
        return XY_OK;
    st = xy_coll_choose(q, &nbc_link, NULL, algorithm_p);
    if (st == XY_OK && wanted != NULL &&
        (atomic_fetch_or(&said, 1u << q->collective) >> q->collective & 1) == 0)
        xy_warn("%s by '%s' needs %s; other calls use '%s'", xy_coll_name(q->collective),
                wanted->name, wanted->needs, (*algorithm_p)->name);
    return st;
}

static bool has_larger(const xy_graph_t *graph, uint64_t piece)
{
    for (xy_op_id_t i = 0; i < xy_graph_ops(graph); i++)
        if (xy_graph_op(graph, i)->bytes > piece)
            return true;
    return false;
}

/* Tasks: large operations in pieces, so that cores share them and chains become pipelines. The
 * operations of a progress thread are whole messages. */
static xy_status_t build(const xy_coll_request_t *q, nbc_shape_t *shape, xy_graph_t **graph_p)
{
    uint64_t piece = XMPI_CHUNK / q->element * q->element;
    xy_graph_t *graph, *cut;
    xy_status_t st = choose(q, &shape->algorithm);

    if (st == XY_OK)
        st = xy_coll_build(q, &nbc_link, shape->algorithm, &graph);
    if (st != XY_OK)
        return st;
    piece = piece > 0 ? piece : q->element;
    if (!shape->is_threads && has_larger(graph, piece)) {
        st = xy_graph_cut(graph, piece, &cut);
        xy_graph_destroy(graph);
        graph = cut;
    }
    if (st == XY_OK)
        *graph_p = graph;
    return st;
}

xy_status_t nbc_graph_make(const coll_call_t *call, const nbc_shape_t *shape, xy_graph_t **graph_p)
{
    nbc_shape_t whole = *shape;
    request_t r;
    xy_status_t st = request_make(NULL, shape, call, &r);

    whole.is_threads = true; /* not cut */
    if (st == XY_OK)
        st = build(&r.q, &whole, graph_p);
    xy_free(r.memory);
    return st;
}

/* ---- The executor ---- */

/* The leaf levels come first in a reduction and a gather, last in the others; copies of a rank's
 * own input come before everything. */
static bool comes_first(const nbc_shape_t *shape, const xy_op_t *op)
{
    return shape->collective == XY_COLL_REDUCE || shape->collective == XY_COLL_GATHER ||
           op->kind >= XY_OP_REDUCE || (op->level == 0 && op->from.buffer == XY_BUFFER_SEND);
}

static int queue_of(void *arg, const xy_op_t *op)
{
    const nbc_schedule_t *schedule = arg;
    const nbc_cached_schedule_t *cached = schedule->cached;
    bool is_message = op->kind == XY_OP_MOVE && op->from.rank != op->to.rank;

    if (cached->shape.split > 0 && op->level <= cached->shape.split)
        return comes_first(&cached->shape, op) ? NBC_QUEUE_START : NBC_QUEUE_RANKS + op->actor;
    if (!cached->shape.is_threads)
        return -1;
    return NBC_QUEUE_RANKS + cached->ranks + (is_message ? op->from.rank : op->actor);
}

static void reduce(void *arg, const void *left, const void *right, void *out, uint64_t bytes)
{
    const nbc_schedule_t *schedule = arg;

    mpi_op_apply2(schedule->op, left, right, out,
                  (int64_t)(bytes / (uint64_t)schedule->type->extent), schedule->type);
}

/* The block of a root that is in place is its own copy. */
static void copy(void *arg, const xy_op_t *op, void *to, const void *from)
{
    (void)arg;
    if (to != from)
        mpi_move(to, from, op->bytes);
}

void nbc_cached_destroy(nbc_cached_schedule_t *cached)
{
    if (cached == NULL)
        return;
    xy_exec_destroy(cached->exec);
    xy_graph_destroy(cached->graph);
    xy_free(cached);
}

xy_status_t nbc_cached_make(nbc_schedule_t *schedule, const nbc_shape_t *shape,
                            const coll_call_t *call, nbc_cached_schedule_t **cached_p)
{
    int ranks = schedule->coll->size;
    xy_exec_options_t options = {.reduce = reduce,
                                 .copy = copy,
                                 .on_rank = nbc_on_rank_over,
                                 .on_over = nbc_on_over,
                                 .on_ready = nbc_on_ready,
                                 .queue = queue_of,
                                 .queues = NBC_QUEUE_RANKS + 2 * ranks,
                                 .arg = schedule};
    nbc_cached_schedule_t *cached = xy_calloc(1, sizeof(*cached));
    nbc_shape_t built = *shape;
    request_t r;
    xy_status_t st;

    if (cached == NULL)
        return xy_fail_memory("starting a collective");
    cached->shape = *shape;
    cached->ranks = ranks;
    schedule->cached = cached;
    st = request_make(schedule->calls, shape, call, &r);
    if (st == XY_OK)
        st = build(&r.q, &built, &cached->graph);
    xy_free(r.memory);
    if (st == XY_OK)
        st = xy_exec_create(cached->graph, ranks, &options, &cached->exec);
    if (st != XY_OK) {
        nbc_cached_destroy(cached);
        schedule->cached = NULL;
        return st;
    }
    *cached_p = cached;
    return XY_OK;
}
