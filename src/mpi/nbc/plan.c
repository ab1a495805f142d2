/* SPDX-License-Identifier: BSD-3-Clause */
/* From calls to a graph and its executor: which algorithm, which levels, who does what. */
#include <string.h>

#include "mpi/nbc/nbc.h"
#include "mpi/runtime/parallel.h"

/* ---- The shape ---- */

static bool may_be_in_place(xy_collective_t c)
{
    return c == XY_COLL_ALLGATHER || c == XY_COLL_ALLTOALL || c == XY_COLL_ALLREDUCE ||
           c == XY_COLL_SCAN || c == XY_COLL_EXSCAN || c == XY_COLL_REDUCE_SCATTER ||
           c == XY_COLL_REDUCE_SCATTER_BLOCK;
}

static bool is_tree(xy_collective_t c)
{
    return c == XY_COLL_BCAST || c == XY_COLL_REDUCE || c == XY_COLL_GATHER ||
           c == XY_COLL_SCATTER || c == XY_COLL_ALLREDUCE;
}

/* The algorithm of a tree collective that is a tree. */
static const xy_coll_algorithm_t *tree_algorithm(xy_collective_t c)
{
    const char *name = c == XY_COLL_ALLREDUCE ? "reduce-bcast" : "binomial";

    for (int i = 0; xy_coll_algorithms()[i] != NULL; i++) {
        const xy_coll_algorithm_t *a = xy_coll_algorithms()[i];

        if ((a->collectives >> c & 1) != 0 && strcmp(a->name, name) == 0)
            return a;
    }
    return NULL;
}

bool mpi_flow_wants(const coll_call_t *call)
{
    const mpi_settings_t *s = mpi_settings_of(call->comm);
    xy_collective_t c;

    if (call->comm->size < 2 || call->kind == &coll_agree ||
        (call->op != NULL && !call->op->is_predefined))
        return false;
    if (s->progress == XMPI_PROGRESS_THREADS)
        return true;
    c = flow_collective(call);
    return s->algorithm[c] != NULL || (s->split != XMPI_SPLIT_OFF && is_tree(c));
}

void flow_shape_make(const coll_call_t *call, flow_shape_t *shape)
{
    const mpi_settings_t *s = mpi_settings_of(call->comm);
    xy_collective_t c = flow_collective(call);

    *shape = (flow_shape_t){0};
    shape->collective = c;
    shape->root = call->kind->is_rooted ? call->root : 0;
    shape->is_threads = s->progress == XMPI_PROGRESS_THREADS;
    shape->is_kept = !flow_is_late(call) && c != XY_COLL_REDUCE_SCATTER;
    shape->is_in_place = may_be_in_place(c) && call->is_in_place;
    shape->count = call->op != NULL ? (uint64_t)call->receive_count : call->bytes;
    shape->element = call->op != NULL ? (uint64_t)call->receive_type->extent : 1;
    shape->algorithm = s->algorithm[c];
    if (s->split == XMPI_SPLIT_OFF || !is_tree(c))
        return;
    if (shape->algorithm == NULL)
        shape->algorithm = tree_algorithm(c);
    if (shape->algorithm == tree_algorithm(c))
        shape->split = flow_split_levels(call, shape);
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

/* The v and w variants: everybody is there, and has noted its blocks. */
static void request_blocks(request_t *r, coll_call_t *const *calls)
{
    xy_collective_t c = r->q.collective;
    const flow_member_t *root = calls[r->q.root]->member;

    r->q.counts = r->counts;
    r->q.matrix = r->matrix;
    r->q.send_offsets = r->send_offsets;
    r->q.receive_offsets = r->receive_offsets;
    for (int i = 0; i < r->q.procs; i++) {
        const flow_member_t *m = calls[i]->member;

        r->counts[i] = c == XY_COLL_SCATTERV ? root->send.bytes[i] : root->receive.bytes[i];
        r->matrix[i] = calls[i]->is_in_place ? m->receive.bytes : m->send.bytes;
        r->send_offsets[i] = m->send.offsets;
        r->receive_offsets[i] = m->receive.offsets;
        r->in_place[i] = calls[i]->is_in_place && !calls[i]->kind->is_rooted;
    }
}

static xy_status_t request_make(const mpi_flow_t *flow, const flow_shape_t *shape,
                                const coll_call_t *call, request_t *r)
{
    int procs = flow->coll->size;

    *r = (request_t){.q = {.collective = shape->collective,
                           .procs = procs,
                           .root = shape->root,
                           .count = shape->count,
                           .element = shape->element,
                           .is_commutative = true}};
    if (request_allocate(r, procs) != XY_OK)
        return xy_fail_memory("starting a collective");
    if (flow_is_late(call)) {
        request_blocks(r, flow->calls);
        return XY_OK;
    }
    for (int i = 0; i < procs; i++)
        r->in_place[i] = shape->is_in_place;
    if (call->receive_counts.data != NULL) {
        r->q.counts = r->counts;
        for (int i = 0; i < procs; i++)
            r->counts[i] = (uint64_t)coll_at(call->receive_counts, i);
    }
    return XY_OK;
}

/* ---- The graph ---- */

/* A named algorithm that cannot do this call gives way to one that can, and is told about once. */
static xy_status_t choose(const xy_coll_request_t *q, const xy_coll_algorithm_t **algorithm_p)
{
    static _Atomic unsigned said;
    const xy_coll_algorithm_t *wanted = *algorithm_p;
    xy_status_t st;

    if (wanted != NULL && xy_coll_is_applicable(wanted, q))
        return XY_OK;
    st = xy_coll_choose(q, &mpi_job->link, NULL, algorithm_p);
    if (st == XY_OK && wanted != NULL &&
        (atomic_fetch_or(&said, 1u << q->collective) >> q->collective & 1) == 0)
        xy_warn("%s by '%s' needs %s: '%s' is used for calls without", xy_coll_name(q->collective),
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
static xy_status_t build(const xy_coll_request_t *q, flow_shape_t *shape, xy_graph_t **graph_p)
{
    uint64_t piece = XMPI_CHUNK / q->element * q->element;
    xy_graph_t *graph, *cut;
    xy_status_t st = choose(q, &shape->algorithm);

    if (st == XY_OK)
        st = xy_coll_build(q, &mpi_job->link, shape->algorithm, &graph);
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

/* ---- The executor ---- */

/* The leaf levels come first in a reduction and a gather, last in the others; copies of a rank's
 * own input come before everything. */
static bool comes_first(const flow_shape_t *shape, const xy_op_t *op)
{
    return shape->collective == XY_COLL_REDUCE || shape->collective == XY_COLL_GATHER ||
           op->kind >= XY_OP_REDUCE || (op->level == 0 && op->from.buffer == XY_BUFFER_SEND);
}

static int queue_of(void *arg, const xy_op_t *op)
{
    const mpi_flow_t *flow = arg;
    const flow_plan_t *plan = flow->plan;
    bool is_message = op->kind == XY_OP_MOVE && op->from.rank != op->to.rank;

    if (plan->shape.split > 0 && op->level <= plan->shape.split)
        return comes_first(&plan->shape, op) ? FLOW_QUEUE_START : FLOW_QUEUE_RANKS + op->actor;
    if (!plan->shape.is_threads)
        return -1;
    return FLOW_QUEUE_RANKS + plan->ranks + (is_message ? op->from.rank : op->actor);
}

static void reduce(void *arg, const void *left, const void *right, void *out, uint64_t bytes)
{
    const mpi_flow_t *flow = arg;

    mpi_op_apply2(flow->op, left, right, out, (int64_t)(bytes / (uint64_t)flow->type->extent),
                  flow->type);
}

/* The block of a root that is in place is its own copy. */
static void copy(void *arg, const xy_op_t *op, void *to, const void *from)
{
    (void)arg;
    if (to != from)
        memcpy(to, from, op->bytes);
}

void flow_plan_destroy(flow_plan_t *plan)
{
    if (plan == NULL)
        return;
    xy_exec_destroy(plan->exec);
    xy_graph_destroy(plan->graph);
    xy_free(plan);
}

xy_status_t flow_plan_make(mpi_flow_t *flow, const flow_shape_t *shape, const coll_call_t *call,
                           flow_plan_t **plan_p)
{
    int ranks = flow->coll->size;
    xy_exec_options_t options = {.reduce = reduce,
                                 .copy = copy,
                                 .on_rank = flow_rank_over,
                                 .on_over = flow_over,
                                 .on_ready = flow_ready,
                                 .queue = queue_of,
                                 .queues = FLOW_QUEUE_RANKS + 2 * ranks,
                                 .arg = flow};
    flow_plan_t *plan = xy_calloc(1, sizeof(*plan));
    flow_shape_t built = *shape;
    request_t r;
    xy_status_t st;

    if (plan == NULL)
        return xy_fail_memory("starting a collective");
    plan->shape = *shape;
    plan->ranks = ranks;
    flow->plan = plan;
    st = request_make(flow, shape, call, &r);
    if (st == XY_OK)
        st = build(&r.q, &built, &plan->graph);
    xy_free(r.memory);
    if (st == XY_OK)
        st = xy_exec_create(plan->graph, ranks, &options, &plan->exec);
    if (st != XY_OK) {
        flow_plan_destroy(plan);
        flow->plan = NULL;
        return st;
    }
    *plan_p = plan;
    return XY_OK;
}
