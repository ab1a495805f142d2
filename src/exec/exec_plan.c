/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plan of an executor: what is known of a graph before any rank arrives.
 *
 * An operation must not begin before the ranks that it touches have arrived. Only some wait for an
 * arrival themselves: where a predecessor touches the same rank, that one has waited already, or
 * one before it.
 */
#include <string.h>

#include "exec/exec_private.h"

enum { LINE = 64 };

static int add_rank(int ranks[EXEC_RANKS_MAX], int n, int rank)
{
    for (int i = 0; i < n; i++)
        if (ranks[i] == rank)
            return n;
    ranks[n] = rank;
    return n + 1;
}

/* Collect the distinct ranks whose first `buffers` buffers the operation touches; returns their
 * number. */
static int collect(const xy_op_t *op, int buffers, int ranks[EXEC_RANKS_MAX])
{
    int n = 0;

    if (op->kind < XY_OP_MOVE)
        return 0;
    if (op->from.buffer < buffers)
        n = add_rank(ranks, n, op->from.rank);
    if (op->to.buffer < buffers)
        n = add_rank(ranks, n, op->to.rank);
    if (op->kind == XY_OP_COMBINE && op->other.buffer < buffers)
        n = add_rank(ranks, n, op->other.rank);
    return n;
}

/* The distinct ranks whose buffers, of any kind, an operation touches. */
static int op_ranks(const xy_op_t *op, int ranks[EXEC_RANKS_MAX])
{
    return collect(op, XY_BUFFERS_MAX, ranks);
}

int exec_op_owners(const xy_op_t *op, int ranks[EXEC_RANKS_MAX])
{
    return collect(op, XY_BUFFER_TEMPORARY, ranks);
}

/* ---- Memory ---- */

static size_t round_up(uint64_t bytes)
{
    return (size_t)((bytes + LINE - 1) / LINE * LINE);
}

static void *align(void *p)
{
    return (void *)(((uintptr_t)p + LINE - 1) / LINE * LINE);
}

/* Temporaries of all ranks in one piece; each begins on a cache line of its own. */
static xy_status_t allocate_temporaries(xy_exec_t *e)
{
    size_t bytes = 0;
    char *at;

    for (int r = 0; r < e->ranks; r++)
        for (int b = XY_BUFFER_TEMPORARY; b < e->buffers; b++)
            bytes += round_up(xy_graph_buffer_bytes(e->graph, r, b));
    e->temporaries = xy_malloc(bytes + LINE);
    if (e->temporaries == NULL)
        return XY_ENOMEM;
    at = align(e->temporaries);
    for (int r = 0; r < e->ranks; r++)
        for (int b = XY_BUFFER_TEMPORARY; b < e->buffers; b++) {
            *exec_base(e, r, b) = at;
            at += round_up(xy_graph_buffer_bytes(e->graph, r, b));
        }
    return XY_OK;
}

/* Allocate the arrays of the plan and the counters and queues of its runs; freed with the executor,
 * also after a failure. */
static xy_status_t allocate(xy_exec_t *e)
{
    size_t ops = (size_t)xy_graph_ops(e->graph), ranks = (size_t)e->ranks;
    size_t queues = (size_t)e->common + 1;

    e->base = xy_calloc(ranks * (size_t)e->buffers, sizeof(*e->base));
    e->waits = xy_calloc(ops + 1, sizeof(*e->waits));
    e->queue_of = xy_calloc(ops + 1, sizeof(*e->queue_of));
    e->gate_start = xy_calloc(ranks + 2, sizeof(*e->gate_start));
    e->owns = xy_calloc(ranks + 1, sizeof(*e->owns));
    e->run_memory =
        xy_calloc(1, queues * sizeof(*e->queues) + LINE + (2 * ops + ranks) * sizeof(*e->pending));
    if (e->base == NULL || e->waits == NULL || e->queue_of == NULL || e->gate_start == NULL ||
        e->owns == NULL || e->run_memory == NULL)
        return XY_ENOMEM;
    e->queues = align(e->run_memory);
    e->pending = (_Atomic int32_t *)(e->queues + queues);
    e->slots = e->pending + ops;
    e->rank_left = e->slots + ops;
    return allocate_temporaries(e);
}

void xy_exec_destroy(xy_exec_t *e)
{
    if (e == NULL)
        return;
    xy_free(e->base);
    xy_free(e->temporaries);
    xy_free(e->waits);
    xy_free(e->queue_of);
    xy_free(e->gate_start);
    xy_free(e->gates);
    xy_free(e->owns);
    xy_free(e->run_memory);
    xy_free(e);
}

/* ---- Arrivals ---- */

/* Bit i of covered[op]: a predecessor touches the i-th of the ranks that it touches. */
static void find_covered(const xy_graph_t *g, uint8_t *covered)
{
    for (xy_op_id_t id = 0; id < xy_graph_ops(g); id++) {
        const xy_op_id_t *after;
        int32_t n = xy_graph_successors(g, id, &after);
        int mine[EXEC_RANKS_MAX], theirs[EXEC_RANKS_MAX];
        int count = op_ranks(xy_graph_op(g, id), mine);

        for (int32_t s = 0; s < n; s++) {
            int others = op_ranks(xy_graph_op(g, after[s]), theirs);

            for (int i = 0; i < others; i++)
                for (int k = 0; k < count; k++)
                    if (theirs[i] == mine[k])
                        covered[after[s]] |= (uint8_t)(1 << i);
        }
    }
}

/* Count the operations behind each rank's gate (gates == NULL), or list them. */
static void visit_gates(xy_exec_t *e, const uint8_t *covered)
{
    for (xy_op_id_t id = 0; id < xy_graph_ops(e->graph); id++) {
        int ranks[EXEC_RANKS_MAX];
        int n = op_ranks(xy_graph_op(e->graph, id), ranks);

        for (int i = 0; i < n; i++) {
            if ((covered[id] >> i & 1) != 0)
                continue;
            if (e->gates == NULL) {
                e->gate_start[ranks[i] + 2]++;
                e->waits[id]++;
            } else {
                e->gates[e->gate_start[ranks[i] + 1]++] = id;
            }
        }
    }
}

/* List, for each rank, the operations that wait for its arrival themselves. */
static xy_status_t plan_gates(xy_exec_t *e)
{
    uint8_t *covered = xy_calloc((size_t)xy_graph_ops(e->graph) + 1, 1);

    if (covered == NULL)
        return XY_ENOMEM;
    find_covered(e->graph, covered);
    visit_gates(e, covered);
    for (int r = 0; r < e->ranks; r++)
        e->gate_start[r + 2] += e->gate_start[r + 1];
    e->gates = xy_malloc(((size_t)e->gate_start[e->ranks + 1] + 1) * sizeof(*e->gates));
    if (e->gates != NULL)
        visit_gates(e, covered); /* leaves gate_start[r + 1] at the end of rank r */
    xy_free(covered);
    return e->gates != NULL ? XY_OK : XY_ENOMEM;
}

static int32_t queue_of(const xy_exec_t *e, const xy_op_t *op)
{
    const xy_exec_options_t *o = &e->options;
    int queue = -1;

    if (o->queue != NULL)
        queue = o->queue(o->arg, op);
    return queue >= 0 ? queue : e->common;
}

/* Set the initial counters and the queue of each operation, and the part of each queue in the
 * slots. */
static void plan_ops(xy_exec_t *e)
{
    int32_t first = 0;

    for (xy_op_id_t id = 0; id < xy_graph_ops(e->graph); id++) {
        const xy_op_t *op = xy_graph_op(e->graph, id);
        int ranks[EXEC_RANKS_MAX], n = exec_op_owners(op, ranks);

        e->waits[id] += xy_graph_predecessors(e->graph, id);
        e->queue_of[id] = queue_of(e, op);
        e->queues[e->queue_of[id]].capacity++;
        for (int i = 0; i < n; i++)
            e->owns[ranks[i]]++;
    }
    for (int q = 0; q <= e->common; q++) {
        e->queues[q].first = first;
        first += e->queues[q].capacity;
    }
    for (int r = 0; r < e->ranks; r++)
        e->owns[r]++;
}

/* ---- Making and resetting ---- */

/* Before any thread is inside: relaxed stores are enough, the thread that hands out the executor
 * publishes them. Operations that wait for nothing (points in the order) are ready from the start.
 */
void xy_exec_reset(xy_exec_t *e, void *arg)
{
    int32_t ops = xy_graph_ops(e->graph);

    e->options.arg = arg;
    for (int q = 0; q <= e->common; q++) {
        atomic_store_explicit(&e->queues[q].head, 0, memory_order_relaxed);
        atomic_store_explicit(&e->queues[q].tail, 0, memory_order_relaxed);
    }
    for (int32_t i = 0; i < ops; i++) {
        atomic_store_explicit(&e->slots[i], 0, memory_order_relaxed);
        atomic_store_explicit(&e->pending[i], e->waits[i], memory_order_relaxed);
    }
    for (int r = 0; r < e->ranks; r++)
        atomic_store_explicit(&e->rank_left[r], e->owns[r], memory_order_relaxed);
    atomic_store_explicit(&e->left, ops + e->ranks, memory_order_relaxed);
    atomic_store_explicit(&e->offered, 0, memory_order_relaxed);
    for (int32_t i = 0; i < ops; i++)
        if (e->waits[i] == 0) {
            exec_ready_give(&e->queues[e->queue_of[i]], e->slots, i);
            if (e->queue_of[i] != e->common)
                atomic_fetch_add_explicit(&e->offered, 1, memory_order_relaxed);
        }
}

static xy_status_t check(const xy_graph_t *g, int ranks, const xy_exec_options_t *options)
{
    if (xy_graph_ranks(g) > ranks)
        return xy_fail(XY_EINVAL, "a graph of %d ranks cannot be run by %d ranks",
                       xy_graph_ranks(g), ranks);
    for (xy_op_id_t i = 0; i < xy_graph_ops(g); i++)
        if (xy_graph_op(g, i)->kind >= XY_OP_REDUCE && options->reduce == NULL)
            return xy_fail(XY_EINVAL, "a graph with reductions needs an operation");
    return XY_OK;
}

xy_status_t xy_exec_create(const xy_graph_t *graph, int ranks, const xy_exec_options_t *options,
                           xy_exec_t **exec_p)
{
    xy_status_t st = check(graph, ranks, options);
    xy_exec_t *e;

    if (st != XY_OK)
        return st;
    e = xy_calloc(1, sizeof(*e));
    if (e == NULL)
        return xy_fail_memory("running a collective");
    e->graph = graph;
    e->options = *options;
    e->ranks = ranks;
    e->common = options->queue != NULL ? options->queues : 0;
    e->buffers = xy_graph_buffers(graph);
    if (e->buffers < XY_BUFFER_TEMPORARY)
        e->buffers = XY_BUFFER_TEMPORARY;
    st = allocate(e);
    if (st == XY_OK)
        st = plan_gates(e);
    if (st != XY_OK) {
        xy_exec_destroy(e);
        return xy_fail_memory("running a collective");
    }
    plan_ops(e);
    xy_exec_reset(e, options->arg);
    *exec_p = e;
    return XY_OK;
}
