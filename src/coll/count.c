/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counting interpretation: how long a collective takes when each rank sends one message at a
 * time and receives one at a time, in the order in which the algorithm wrote them down. Direct
 * operations are no messages: each rank does its own in order, and any number read one buffer.
 */
#include "coll/coll.h"

static bool is_message(const xy_op_t *op)
{
    return op->kind >= XY_OP_MOVE && op->from.rank != op->to.rank && !op->is_direct;
}

double xy_coll_seconds(const xy_op_t *op, const xy_coll_link_t *link)
{
    double bytes = (double)op->bytes;
    double seconds;

    if (op->kind < XY_OP_MOVE)
        return op->kind == XY_OP_COMPUTE ? op->seconds : 0.0;
    if (op->is_direct) /* by any core: no memory is its own */
        seconds = bytes * link->beta;
    else
        seconds = is_message(op) ? link->alpha + bytes * link->beta : bytes * link->copy;
    return op->kind == XY_OP_MOVE ? seconds : seconds + bytes * link->gamma;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

double xy_coll_count(const xy_graph_t *graph, const xy_coll_link_t *link)
{
    size_t ops = (size_t)xy_graph_ops(graph), ranks = (size_t)xy_graph_ranks(graph);
    double *ready = xy_calloc(ops + 2 * ranks + 1, sizeof(*ready));
    double *sends = ready + ops, *receives = sends + ranks; /* when each side of a rank is free */
    double end = 0.0;

    if (ready == NULL)
        return -1.0;
    for (size_t i = 0; i < ops; i++) {
        const xy_op_t *op = xy_graph_op(graph, (xy_op_id_t)i);
        const xy_op_id_t *after;
        int32_t n = xy_graph_successors(graph, (xy_op_id_t)i, &after);
        double t = later(ready[i], receives[op->actor]);

        if (is_message(op))
            t = later(t, sends[op->from.rank]);
        t += xy_coll_seconds(op, link);
        receives[op->actor] = t;
        if (is_message(op))
            sends[op->from.rank] = t;
        for (int32_t s = 0; s < n; s++)
            ready[after[s]] = later(ready[after[s]], t);
        end = later(end, t);
    }
    xy_free(ready);
    return end;
}
