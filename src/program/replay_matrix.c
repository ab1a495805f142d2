/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A replay from a matrix. The busiest pair has m messages, so there are m rounds; of very many only
 * the first R are replayed, and stand for all: a pair with k messages then has k * R / m of them,
 * at least one, with R / m of its bytes.
 *
 *   messages    0 -> 1: 4    0 -> 2: 2           round   1    2    3    4
 *                                                0 -> 1  x    x    x    x
 *                                                0 -> 2  x         x
 */
#include <math.h>

#include "program/replay_internal.h"

/* Replayed messages, at most, beside one for each pair. */
static const double most_messages = 300000;

typedef struct {
    const xy_matrix_t *m;
    xy_replay_t *replay;
    double rounds, all; /* replayed, and there are */
} rounds_t;

static bool is_message(const rounds_t *s, uint32_t from, size_t k)
{
    return s->m->to[k] != from &&
           (s->m->bytes[k] > 0 || xy_matrix_value(s->m, XY_METRIC_MSG, k) > 0);
}

static double messages_of(const rounds_t *s, size_t k)
{
    double n = xy_matrix_value(s->m, XY_METRIC_MSG, k);

    return n > 1 ? n : 1;
}

static double replayed_of(const rounds_t *s, size_t k)
{
    double n = floor(messages_of(s, k) * s->rounds / s->all + 0.5);

    return n > 1 ? n : 1;
}

/* Does the pair send in this round, from 0? Its n messages are in rounds 0, R / n, 2 R / n, ... */
static bool is_sent(const rounds_t *s, size_t k, double round)
{
    double n = replayed_of(s, k);

    return round == 0 || floor(round * n / s->rounds) > floor((round - 1) * n / s->rounds);
}

static xy_status_t add_message(const rounds_t *s, uint32_t from, size_t k)
{
    uint32_t to = s->m->to[k];
    double bytes = s->m->bytes[k] * s->rounds / s->all / replayed_of(s, k);
    xy_script_op_t op = {.kind = XY_SCRIPT_RECEIVE,
                         .peer = (int32_t)from,
                         .bytes = bytes < 1e15 ? (uint64_t)(bytes + 0.5) : (uint64_t)1e15};
    xy_status_t st = xy_script_add(&s->replay->script->proc[to], &op);

    op.kind = XY_SCRIPT_SEND;
    op.peer = (int32_t)to;
    return st == XY_OK ? xy_script_add(&s->replay->script->proc[from], &op) : st;
}

/* Wait for all requests that the process has started. */
static xy_status_t end_round(xy_script_proc_t *p, int32_t *waited, int32_t *list)
{
    size_t count = 0;

    for (int32_t i = *waited; i < p->requests; i++)
        list[count++] = i;
    *waited = p->requests;
    return xy_script_add_wait(p, list, count, 0);
}

/* Adds the messages of the matrix to the script, round by round, each round ending with a wait. */
static xy_status_t add_rounds(const rounds_t *s, int32_t *waited, int32_t *list)
{
    xy_status_t st = XY_OK;

    for (double round = 0; round < s->rounds && st == XY_OK; round++) {
        for (uint32_t from = 0; from < s->m->n && st == XY_OK; from++)
            for (size_t k = s->m->first[from]; k < s->m->first[from + 1] && st == XY_OK; k++)
                if (is_message(s, from, k) && is_sent(s, k, round))
                    st = add_message(s, from, k);
        for (uint32_t p = 0; p < s->m->n && st == XY_OK; p++)
            st = end_round(&s->replay->script->proc[p], &waited[p], list);
    }
    return st;
}

/* Sets the number of rounds: the most messages of a pair, reduced if the total exceeds the
 * limit. */
static void find_rounds(rounds_t *s)
{
    double messages = 0;

    s->all = 1;
    for (uint32_t from = 0; from < s->m->n; from++)
        for (size_t k = s->m->first[from]; k < s->m->first[from + 1]; k++)
            if (is_message(s, from, k)) {
                messages += messages_of(s, k);
                s->all = fmax(s->all, floor(messages_of(s, k)));
            }
    s->rounds = messages > most_messages ? floor(s->all * most_messages / messages) : s->all;
    s->rounds = fmax(s->rounds, 1);
}

xy_status_t xy_replay_from_matrix(const xy_matrix_t *matrix, xy_replay_t **replay_p)
{
    rounds_t s = {.m = matrix, .replay = replay_new((int32_t)matrix->n)};
    int32_t *waited = xy_calloc(matrix->n + 1, sizeof(*waited));
    int32_t *list = xy_calloc(2 * (size_t)matrix->n + 1, sizeof(*list));
    xy_status_t st = s.replay != NULL && waited != NULL && list != NULL ? XY_OK : XY_ENOMEM;

    if (st == XY_OK) {
        find_rounds(&s);
        s.replay->scale = s.all / s.rounds;
        st = add_rounds(&s, waited, list);
    }
    xy_free(waited);
    xy_free(list);
    if (st == XY_OK) {
        *replay_p = s.replay;
        return XY_OK;
    }
    xy_replay_destroy(s.replay);
    return xy_fail_memory("replaying a matrix");
}
