/* SPDX-License-Identifier: BSD-3-Clause */
/* Places, operations and groups: what algorithms are written with. */
#include "coll/build.h"

#include <string.h>

/* ---- Places ---- */

bool coll_is_in_place(const coll_build_t *b, int rank)
{
    return b->q->in_place != NULL && b->q->in_place[rank];
}

xy_spot_t coll_input(const coll_build_t *b, int rank)
{
    switch (b->q->collective) {
    case XY_COLL_BCAST:
        return coll_place(rank, XY_BUFFER_RECEIVE, 0);
    case XY_COLL_GATHER:
    case XY_COLL_GATHERV:
    case XY_COLL_ALLGATHER:
    case XY_COLL_ALLGATHERV:
        if (coll_is_in_place(b, rank))
            return coll_received(b, rank, rank);
        return coll_place(rank, XY_BUFFER_SEND, 0);
    case XY_COLL_SCATTER: /* in place, the root's block stays where it is, in the send buffer */
    case XY_COLL_SCATTERV:
        return coll_place(rank, XY_BUFFER_SEND, 0);
    default:
        if (!coll_is_in_place(b, rank))
            return coll_place(rank, XY_BUFFER_SEND, 0);
        return coll_place(rank, b->has_snapshots ? COLL_SNAPSHOT : XY_BUFFER_RECEIVE, 0);
    }
}

uint64_t coll_block(const coll_build_t *b, int rank)
{
    return b->start[rank + 1] - b->start[rank];
}

uint64_t coll_blocks(const coll_build_t *b, int first, int count)
{
    int end = first + count;

    if (end <= b->p)
        return b->start[end] - b->start[first];
    return b->start[b->p] - b->start[first] + b->start[end - b->p];
}

xy_spot_t coll_received(const coll_build_t *b, int holder, int rank)
{
    const uint64_t *const *rows = b->q->receive_offsets;
    const uint64_t *row = rows != NULL ? rows[holder] : NULL;

    return coll_place(holder, XY_BUFFER_RECEIVE,
                      row != NULL ? row[rank] * b->q->element : b->start[rank]);
}

xy_spot_t coll_sent(const coll_build_t *b, int holder, int rank)
{
    const uint64_t *const *rows = b->q->send_offsets;
    const uint64_t *row = rows != NULL ? rows[holder] : NULL;

    return coll_place(holder, XY_BUFFER_SEND,
                      row != NULL ? row[rank] * b->q->element : b->start[rank]);
}

uint64_t coll_pair_bytes(const coll_build_t *b, int from, int to)
{
    return b->q->matrix != NULL ? b->q->matrix[from][to] * b->q->element : b->bytes;
}

static uint64_t pair_offset(const coll_build_t *b, const uint64_t *const *rows, int row, int column)
{
    return rows != NULL ? rows[row][column] * b->q->element : b->bytes * (uint64_t)column;
}

xy_spot_t coll_pair_sent(const coll_build_t *b, int from, int to)
{
    const xy_coll_request_t *q = b->q;

    return coll_shift(
        coll_input(b, from),
        pair_offset(b, coll_is_in_place(b, from) ? q->receive_offsets : q->send_offsets, from, to));
}

xy_spot_t coll_pair_received(const coll_build_t *b, int to, int from)
{
    return coll_place(to, XY_BUFFER_RECEIVE, pair_offset(b, b->q->receive_offsets, to, from));
}

uint64_t coll_part_begin(const xy_coll_request_t *q, int parts, int i)
{
    uint64_t whole = q->count / (uint64_t)parts, rest = q->count % (uint64_t)parts;
    uint64_t larger = (uint64_t)i < rest ? (uint64_t)i : rest;

    return (whole * (uint64_t)i + larger) * q->element;
}

/* ---- Operations ---- */

/* A place of a stage, in the collective that it is part of. */
static xy_spot_t outside(const coll_build_t *b, xy_spot_t spot)
{
    const coll_stage_t *s = b->stage;
    int rank = s->ranks != NULL ? s->ranks[spot.rank] : spot.rank;

    if (spot.buffer == XY_BUFFER_SEND)
        return coll_shift(s->send(b->parent, rank, s->arg), spot.offset);
    if (spot.buffer == XY_BUFFER_RECEIVE)
        return coll_shift(s->receive(b->parent, rank, s->arg), spot.offset);
    return coll_place(rank, spot.buffer + COLL_STAGE, spot.offset);
}

/* The operation as the outermost collective has it. */
static xy_op_t outermost(const coll_build_t **b_p, const xy_op_t *op)
{
    const coll_build_t *b = *b_p;
    xy_op_t same = *op;

    for (; b->parent != NULL; b = b->parent) {
        same.from = outside(b, same.from);
        same.to = outside(b, same.to);
        if (same.kind == XY_OP_COMBINE)
            same.other = outside(b, same.other);
        same.actor = same.to.rank;
    }
    *b_p = b;
    return same;
}

static xy_op_id_t add(const coll_build_t *b, const xy_op_t *op)
{
    xy_op_t same = outermost(&b, op);

    if (b->visit == NULL)
        return xy_graph_add_op(b->graph, &same);
    b->visit(&same, b->arg);
    return -1;
}

xy_op_id_t coll_move(coll_build_t *b, xy_spot_t from, xy_spot_t to, uint64_t bytes, int level)
{
    xy_op_t op = {.kind = XY_OP_MOVE,
                  .actor = to.rank,
                  .level = level,
                  .from = from,
                  .to = to,
                  .bytes = bytes};

    if (bytes == 0 || coll_is_same(from, to))
        return -1;
    return add(b, &op);
}

void coll_combine(coll_build_t *b, xy_spot_t from, xy_spot_t other, xy_spot_t to, uint64_t bytes,
                  bool is_left, int level)
{
    xy_op_t op = {.kind = coll_is_same(other, to) ? XY_OP_REDUCE : XY_OP_COMBINE,
                  .actor = to.rank,
                  .level = level,
                  .is_left = is_left,
                  .from = from,
                  .other = other,
                  .to = to,
                  .bytes = bytes};

    if (bytes > 0)
        add(b, &op);
}

xy_op_id_t coll_add(coll_build_t *b, const xy_op_t *op)
{
    return add(b, op);
}

xy_op_id_t coll_tell(coll_build_t *b, int from, int to)
{
    xy_op_t op = {.kind = XY_OP_MOVE,
                  .actor = to,
                  .from = coll_place(from, COLL_TEMPORARY, 0),
                  .to = coll_place(to, COLL_TEMPORARY, 0)};
    const coll_build_t *whole = b;

    op = outermost(&whole, &op);
    op.to.buffer = XY_BUFFER_RECEIVE; /* the rank is not over before it has heard */
    if (whole->visit == NULL)
        return xy_graph_add(whole->graph, &op);
    whole->visit(&op, whole->arg);
    return -1;
}

void coll_order(coll_build_t *b, xy_op_id_t before, xy_op_id_t after)
{
    while (b->parent != NULL)
        b = b->parent;
    if (b->visit == NULL && before >= 0 && after >= 0)
        xy_graph_add_edge(b->graph, before, after);
}

void coll_tell_next(coll_build_t *b, int from, int to)
{
    xy_op_id_t op = coll_tell(b, from, to);

    coll_order(b, b->mark[from], op);
    coll_order(b, b->mark[to], op);
    b->mark[to] = op;
}

/* How many of `count` blocks from `first` on follow each other at `holder`. */
static int run_length(const coll_build_t *b, int holder, coll_spread_fn spread, int first,
                      int count)
{
    uint64_t end = spread(b, holder, first).offset + coll_block(b, first);
    int n = 1;

    for (; n < count; n++) {
        int rank = (first + n) % b->p;

        if (coll_block(b, rank) > 0 && spread(b, holder, rank).offset != end)
            break;
        end += coll_block(b, rank);
    }
    return n;
}

void coll_move_to_blocks(coll_build_t *b, xy_spot_t packed, int holder, coll_spread_fn spread,
                         int first, int count, int level)
{
    while (count > 0) {
        int n = run_length(b, holder, spread, first, count);
        uint64_t bytes = coll_blocks(b, first, n);

        coll_move(b, packed, spread(b, holder, first), bytes, level);
        packed = coll_shift(packed, bytes);
        first = (first + n) % b->p;
        count -= n;
    }
}

void coll_move_from_blocks(coll_build_t *b, int holder, coll_spread_fn spread, xy_spot_t packed,
                           int first, int count, int level)
{
    while (count > 0) {
        int n = run_length(b, holder, spread, first, count);
        uint64_t bytes = coll_blocks(b, first, n);

        coll_move(b, spread(b, holder, first), packed, bytes, level);
        packed = coll_shift(packed, bytes);
        first = (first + n) % b->p;
        count -= n;
    }
}

void coll_move_blocks(coll_build_t *b, int from, int to, int first, int count)
{
    while (count > 0) {
        int n = run_length(b, from, coll_received, first, count);
        int m = run_length(b, to, coll_received, first, n);

        coll_move(b, coll_received(b, from, first), coll_received(b, to, first),
                  coll_blocks(b, first, m), 0);
        first = (first + m) % b->p;
        count -= m;
    }
}

int coll_block_run(const xy_coll_request_t *q, const uint64_t *const *offsets, int first, int count)
{
    const uint64_t *row = offsets != NULL ? offsets[q->root] : NULL;
    int p = q->procs, n = 1;

    while (n < count && (row == NULL ? first + n < p
                                     : row[(first + n) % p] == row[(first + n - 1) % p] +
                                                                   q->counts[(first + n - 1) % p]))
        n++;
    return n;
}

/* ---- Powers of two ---- */

int coll_subtree(int p, int v)
{
    int size = v & -v;

    return v + size > p ? p - v : size;
}

int coll_log2_floor(int n)
{
    int k = 0;

    while (n >> (k + 1) > 0)
        k++;
    return k;
}

int coll_log2_ceil(int n)
{
    int k = coll_log2_floor(n);

    return n > 1 << k ? k + 1 : k;
}

coll_group_t coll_group(int p, int keeper)
{
    coll_group_t g = {.rounds = coll_log2_floor(p), .keeper = keeper};

    g.size = 1 << g.rounds;
    g.extra = p - g.size;
    return g;
}

int coll_group_rank(const coll_group_t *g, int member)
{
    if (member >= g->extra)
        return member + g->extra;
    return 2 * member + (g->keeper < 0 || g->keeper == 2 * member + 1);
}

int coll_group_other(const coll_group_t *g, int member)
{
    return member < g->extra ? coll_group_rank(g, member) ^ 1 : -1;
}

int coll_group_member(const coll_group_t *g, int rank)
{
    return rank < 2 * g->extra ? rank / 2 : rank - g->extra;
}

bool coll_has_element_each(const xy_coll_request_t *q)
{
    return q->count >= (uint64_t)q->procs;
}

bool coll_has_element_per_member(const xy_coll_request_t *q)
{
    return q->count >= UINT64_C(1) << coll_log2_floor(q->procs);
}

bool coll_commutes(const xy_coll_request_t *q)
{
    return q->is_commutative;
}

bool coll_is_power(int p)
{
    return (p & (p - 1)) == 0;
}

uint64_t coll_piece(const xy_coll_request_t *q, uint64_t own)
{
    uint64_t whole = q->count > 0 ? q->count : 1, elements = q->segment / q->element;

    if (q->segment == 0)
        elements = own;
    if (elements > whole)
        elements = whole;
    return (elements > 0 ? elements : 1) * q->element;
}

bool coll_always(const xy_coll_request_t *q)
{
    (void)q;
    return true;
}

/* ---- Costs ---- */

double coll_cost_block(const xy_coll_request_t *q, int i)
{
    return (double)(q->counts != NULL ? q->counts[i % q->procs] : q->count) * (double)q->element;
}

double coll_cost_total(const xy_coll_request_t *q)
{
    double sum = 0.0;

    for (int i = 0; i < q->procs; i++)
        sum += coll_cost_block(q, i);
    return sum;
}

double coll_cost_largest(const xy_coll_request_t *q)
{
    double most = 0.0;

    for (int i = 0; i < q->procs; i++)
        if (coll_cost_block(q, i) > most)
            most = coll_cost_block(q, i);
    return most;
}
