/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of a rank's messages in a blocking collective of another library: one call after the
 * other, each of which sends, receives, or does both. Data alone would let a root send to all its
 * children at once, and all rounds of a pairwise exchange begin together.
 */
#include "sim/job_internal.h"

/* Sends behind sends, and receives behind receives. */
static void find_next(job_shape_t *shape, int32_t *last)
{
    int32_t *last_send = last, *last_receive = last + shape->ranks;

    memset(last, -1, 2 * (size_t)shape->ranks * sizeof(*last));
    for (int32_t s = 0; s < shape->count; s++) {
        const job_op_t *step = &shape->ops[s];

        if (!step->is_message)
            continue;
        if (last_send[step->source] >= 0)
            shape->ops[last_send[step->source]].next_send = s;
        if (last_receive[step->rank] >= 0)
            shape->ops[last_receive[step->rank]].next_receive = s;
        last_send[step->source] = s;
        last_receive[step->rank] = s;
    }
}

/* The first send and the first receive of each rank. */
static void find_first(const job_shape_t *shape, int32_t *first)
{
    int32_t *first_send = first, *first_receive = first + shape->ranks;

    memset(first, -1, 2 * (size_t)shape->ranks * sizeof(*first));
    for (int32_t s = shape->count - 1; s >= 0; s--)
        if (shape->ops[s].is_message) {
            first_send[shape->ops[s].source] = s;
            first_receive[shape->ops[s].rank] = s;
        }
}

/* The next of a rank's sends, or of its receives. It has to wait for step s, unless it comes before
 * that: ranks with nothing for some others have fewer sends than receives, or more, and steps that
 * wait for later ones could wait in a circle. */
static int32_t step_behind(int32_t s, int32_t next)
{
    return next > s ? next : -1;
}

/* In rounds: what a rank receives comes before its send of the next round, and what it sends before
 * the next receive. The k-th of both belong to one round. */
static void find_rounds(const job_shape_t *shape, job_follow_t *follow, int32_t *now)
{
    int32_t *send = now, *receive = now + shape->ranks;

    find_first(shape, now);
    for (int32_t s = 0; s < shape->count; s++) {
        const job_op_t *step = &shape->ops[s];

        if (!step->is_message)
            continue;
        if (send[step->rank] >= 0) {
            send[step->rank] = shape->ops[send[step->rank]].next_send;
            follow[s].send = step_behind(s, send[step->rank]);
        }
        if (receive[step->source] >= 0) {
            receive[step->source] = shape->ops[receive[step->source]].next_receive;
            follow[s].receive = step_behind(s, receive[step->source]);
        }
    }
}

void job_order_find(const xy_vjob_t *job, job_shape_t *shape, job_follow_t *follow, int32_t *room)
{
    xy_coll_order_t order = shape->call.is_nonblocking
                                ? XY_COLL_AT_ONCE
                                : xy_coll_library_order(job->library, shape->algorithm);

    shape->is_in_order = order != XY_COLL_AT_ONCE;
    shape->is_answering = job->library->rules != NULL && job->config.store != NULL &&
                          !job->has_link && shape->nodes > 1;
    for (int32_t s = 0; s < shape->count; s++)
        follow[s] = (job_follow_t){-1, -1};
    if (order == XY_COLL_AT_ONCE || job->has_link)
        return;
    find_next(shape, room);
    if (order == XY_COLL_IN_ROUNDS)
        find_rounds(shape, follow, room);
}
