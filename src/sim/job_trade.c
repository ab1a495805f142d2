/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges inside collectives of another library. Two processes that send to each other in a
 * collective do not call MPI_Sendrecv: the library makes requests for both messages and waits for
 * them as for any, and what it sends was written just before by a sum or a copy. What that takes
 * more is what an allreduce of two processes, of XY_MESSAGE_SMALL and of XY_MESSAGE_BCAST bytes,
 * takes beyond its exchanges and sums.
 */
#include "sim/job_internal.h"

/* The operations of an allreduce of two processes, on the side of the first. */
typedef struct {
    const xy_vjob_t *job;
    double exchanges; /* messages to the other one */
    double bytes;     /* of all of them */
    double seconds;   /* of all that was measured otherwise */
} counts_t;

/* Adds an operation of the first process to the counts. */
static void count(counts_t *c, const xy_op_t *op)
{
    const xy_message_model_t *m = c->job->copy_model;
    double bytes = (double)op->bytes;

    if (op->kind < XY_OP_MOVE)
        return;
    if (op->from.rank == 0 && op->to.rank == 1) {
        c->exchanges++;
        c->bytes += bytes;
        c->seconds += xy_message_exchange(m, bytes);
    }
    if (op->to.rank != 0)
        return;
    if (op->kind != XY_OP_MOVE)
        c->seconds += m->reduce * bytes / XY_MESSAGE_BCAST;
    else if (op->from.rank == 0)
        c->seconds += m->copy * bytes / XY_MESSAGE_BCAST;
}

/* Counts the operations of the library's allreduce of two processes. */
static xy_status_t count_allreduce(counts_t *c, uint64_t bytes)
{
    int nodes[2] = {0, 0};
    xy_coll_request_t q = {.collective = XY_COLL_ALLREDUCE,
                           .procs = 2,
                           .count = bytes / sizeof(double),
                           .element = sizeof(double),
                           .is_commutative = true,
                           .nodes = nodes};
    xy_coll_choice_t choice;
    xy_graph_t *graph = NULL;
    xy_status_t st = xy_coll_library_choose(c->job->library, &q, &xy_coll_link_default, &choice);

    if (st == XY_OK)
        st = xy_coll_build(&q, &xy_coll_link_default, choice.algorithm, &graph);
    for (int32_t id = 0; st == XY_OK && id < xy_graph_ops(graph); id++)
        count(c, xy_graph_op(graph, id));
    xy_graph_destroy(graph);
    return st;
}

void job_trade_find(xy_vjob_t *job)
{
    const xy_message_model_t *m = job->copy_model;
    static const uint64_t sizes[] = {XY_MESSAGE_SMALL, XY_MESSAGE_BCAST};

    if (m == NULL || job->library->rules == NULL || !(xy_message_exchange(m, 1) > 0) ||
        !(m->small_allreduce > 0) || !(m->allreduce > 0))
        return;
    for (int i = 0; i < 2; i++) {
        double all = i == 0 ? m->small_allreduce : m->allreduce;
        counts_t c = {.job = job};
        xy_status_t st = count_allreduce(&c, sizes[i]);

        if (st != XY_OK) {
            job_fail(job, st);
            return;
        }
        if (!(c.exchanges > 0))
            return;
        job->trade[i] = fmax(0, all - job->call - c.seconds) / c.exchanges;
        job->trade_bytes[i] = c.bytes / c.exchanges;
    }
}

double job_trade_seconds(const xy_vjob_t *job, uint64_t bytes)
{
    double from = job->trade_bytes[0], to = job->trade_bytes[1];

    if (!(to > from))
        return 0;
    return job->trade[0] +
           (job->trade[1] - job->trade[0]) * fmin(fmax((double)bytes - from, 0) / (to - from), 1);
}
