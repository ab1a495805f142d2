/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running a graph: what is done when an operation is complete, or a rank arrives.
 *
 * Three counters that go down to 0: `pending` of an operation (its predecessors, and the arrivals
 * it waits for itself), `left` of a rank (the operations that touch its own buffers, and its
 * arrival), and `left` of the executor (all operations and arrivals). Each decrement releases what
 * was done and the one that reaches 0 acquires all of it.
 */
#include <string.h>

#include "exec/exec_private.h"

/* Takes one off; was it the last? */
static bool count_down(_Atomic int32_t *counter)
{
    return atomic_fetch_sub_explicit(counter, 1, memory_order_acq_rel) == 1;
}

/* `op` waits for one thing less. Returns 1 when that made it ready for any thread. */
static int release(xy_exec_t *e, xy_op_id_t op)
{
    int32_t queue;

    if (!count_down(&e->pending[op]))
        return 0;
    queue = e->queue_of[op];
    if (queue != e->common)
        atomic_fetch_add_explicit(&e->offered, 1, memory_order_relaxed);
    exec_ready_give(&e->queues[queue], e->slots, op);
    if (queue == e->common)
        return 1;
    if (e->options.on_ready != NULL)
        e->options.on_ready(e->options.arg, queue);
    return 0;
}

static void finish_for_rank(xy_exec_t *e, int rank)
{
    if (count_down(&e->rank_left[rank]) && e->options.on_rank != NULL)
        e->options.on_rank(e->options.arg, rank);
}

/* The executor may be gone as soon as the counter was touched, unless this was the last. */
static void finish_one(xy_exec_t *e)
{
    if (count_down(&e->left) && e->options.on_over != NULL)
        e->options.on_over(e->options.arg);
}

int xy_exec_arrive(xy_exec_t *e, int rank, const void *send, void *receive)
{
    int ready = 0;

    /* Nothing writes to send buffers; the table is one for all. */
    exec_base(e, rank, XY_BUFFER_SEND)[0] = (char *)(uintptr_t)send;
    exec_base(e, rank, XY_BUFFER_RECEIVE)[0] = receive;
    for (int32_t i = e->gate_start[rank]; i < e->gate_start[rank + 1]; i++)
        ready += release(e, e->gates[i]);
    finish_for_rank(e, rank);
    finish_one(e);
    return ready;
}

static char *address(const xy_exec_t *e, const xy_spot_t *place)
{
    return *exec_base(e, place->rank, place->buffer) + place->offset;
}

/* Execute the data movement or reduction of one operation; operations without data do nothing. */
static void perform(const xy_exec_t *e, const xy_op_t *op)
{
    const xy_exec_options_t *o = &e->options;
    char *from, *to, *other;

    if (op->kind < XY_OP_MOVE || op->bytes == 0)
        return;
    from = address(e, &op->from);
    to = address(e, &op->to);
    if (op->kind == XY_OP_MOVE) {
        if (o->copy != NULL)
            o->copy(o->arg, op, to, from);
        else
            memcpy(to, from, op->bytes);
        return;
    }
    other = op->kind == XY_OP_COMBINE ? address(e, &op->other) : to;
    o->reduce(o->arg, op->is_left ? from : other, op->is_left ? other : from, to, op->bytes);
}

int xy_exec_do(xy_exec_t *e, xy_op_id_t id)
{
    const xy_op_t *op = xy_graph_op(e->graph, id);
    const xy_op_id_t *after;
    int32_t n = xy_graph_successors(e->graph, id, &after);
    int ranks[EXEC_RANKS_MAX], touched, ready = 0;

    perform(e, op);
    for (int32_t i = 0; i < n; i++)
        ready += release(e, after[i]);
    touched = exec_op_owners(op, ranks);
    for (int i = 0; i < touched; i++)
        finish_for_rank(e, ranks[i]);
    finish_one(e);
    return ready;
}

bool xy_exec_take(xy_exec_t *e, xy_op_id_t *op_p)
{
    return exec_ready_take(&e->queues[e->common], e->slots, op_p);
}

bool xy_exec_take_own(xy_exec_t *e, int queue, xy_op_id_t *op_p)
{
    if (!exec_ready_take(&e->queues[queue], e->slots, op_p))
        return false;
    atomic_fetch_sub_explicit(&e->offered, 1, memory_order_relaxed);
    return true;
}

bool xy_exec_has_own(const xy_exec_t *e)
{
    return atomic_load_explicit(&e->offered, memory_order_relaxed) > 0;
}

int xy_exec_queue_ops(const xy_exec_t *e, int queue)
{
    return e->queues[queue].capacity;
}
