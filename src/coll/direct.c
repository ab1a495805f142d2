/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Phases of direct collectives, one rank to a part: what ranks leave for the others, the barrier,
 * the pieces of each rank, the barrier at the end.
 *
 * Everything a rank adds lies between two marks, which is how a barrier finds what comes before it.
 */
#include "coll/build.h"

bool coll_direct_is_small(const xy_coll_request_t *q)
{
    return !xy_direct_is_spread(1, q->is_offloaded) && xy_direct_is_small(q->count * q->element);
}

bool coll_direct_is_packed(const xy_coll_request_t *q, int blocks)
{
    return !xy_direct_is_spread(1, q->is_offloaded) &&
           xy_direct_is_packed(q->count * q->element, (uint64_t)blocks);
}

void coll_direct_mark(coll_build_t *b, int rank)
{
    b->mark[rank] = xy_graph_ops(b->graph);
    b->has_marks = true;
}

/* Dissemination: round r of a rank comes after round r - 1 of itself and of the one it hears from,
 * and the first round after all that this one has done. */
void coll_direct_meet(coll_build_t *b)
{
    int rounds = coll_log2_ceil(b->p);

    b->mark[b->p] = xy_graph_ops(b->graph);
    for (int round = 0; round < rounds; round++)
        for (int r = 0; r < b->p; r++) {
            int from = (r - (1 << round) + b->p) % b->p;
            xy_op_id_t op =
                xy_graph_add(b->graph, &(xy_op_t){.kind = XY_OP_MOVE,
                                                  .actor = r,
                                                  .from = coll_place(from, COLL_TEMPORARY, 0),
                                                  .to = coll_place(r, XY_BUFFER_RECEIVE, 0)});

            if (round > 0) {
                xy_graph_add_edge(b->graph, op - b->p, op);
                xy_graph_add_edge(b->graph, op - r - b->p + from, op);
            }
            for (xy_op_id_t i = b->mark[from]; round == 0 && b->has_marks && i < b->mark[from + 1];
                 i++)
                xy_graph_add_edge(b->graph, i, op);
        }
    b->has_marks = false;
    b->met = rounds > 0 ? xy_graph_ops(b->graph) - b->p : -1;
}

void coll_direct_piece(coll_build_t *b)
{
    b->is_piece_open = false;
}

static void add(coll_build_t *b, int actor, xy_op_t *op)
{
    xy_op_id_t id;

    op->actor = actor;
    op->is_direct = true;
    op->is_chained = b->is_piece_open;
    id = xy_graph_add_op(b->graph, op);
    if (b->met >= 0)
        xy_graph_add_edge(b->graph, b->met + actor, id);
    b->is_piece_open = true;
}

void coll_direct_copy(coll_build_t *b, int actor, xy_spot_t from, xy_spot_t to, uint64_t bytes)
{
    xy_op_t op = {.kind = XY_OP_MOVE, .from = from, .to = to, .bytes = bytes};

    if (bytes > 0 && !coll_is_same(from, to))
        add(b, actor, &op);
}

void coll_direct_combine(coll_build_t *b, int actor, xy_spot_t from, xy_spot_t other, xy_spot_t to,
                         uint64_t bytes, bool is_left)
{
    xy_op_t op = {.kind = coll_is_same(other, to) ? XY_OP_REDUCE : XY_OP_COMBINE,
                  .is_left = is_left,
                  .from = from,
                  .other = other,
                  .to = to,
                  .bytes = bytes};

    if (bytes > 0)
        add(b, actor, &op);
}

/* Pieces of a copy or of a slice: no graph has more than about COPIES_MAX copies or SLICES_MAX
 * slices, each by each rank. Only very long buffers come in longer pieces than the runtime's. */
enum { COPIES_MAX = 1 << 22, SLICES_MAX = 1 << 18 };

static uint64_t times_longer(const coll_build_t *b, uint64_t pieces, uint64_t most)
{
    uint64_t pairs = (uint64_t)b->p * (uint64_t)b->p, each = most > pairs ? most / pairs : 1;

    return (pieces + each - 1) / each;
}

void coll_direct_copy_pieces(coll_build_t *b, int actor, xy_spot_t from, xy_spot_t to,
                             uint64_t bytes)
{
    uint64_t longer = times_longer(b, bytes / XY_DIRECT_PIECE, COPIES_MAX);
    uint64_t piece = (longer > 1 ? longer : 1) * XY_DIRECT_PIECE;

    for (uint64_t at = 0; at < bytes; at += piece) {
        coll_direct_piece(b);
        coll_direct_copy(b, actor, coll_shift(from, at), coll_shift(to, at),
                         bytes - at < piece ? bytes - at : piece);
    }
}

xy_spot_t coll_direct_reduce(coll_build_t *b, int actor, uint64_t begin, uint64_t bytes)
{
    xy_spot_t block = coll_place(actor, COLL_TEMPORARY, begin);

    if (b->p == 1)
        return coll_shift(coll_input(b, 0), begin);
    coll_direct_combine(b, actor, coll_shift(coll_input(b, 0), begin),
                        coll_shift(coll_input(b, 1), begin), block, bytes, true);
    for (int r = 2; r < b->p; r++)
        coll_direct_combine(b, actor, coll_shift(coll_input(b, r), begin), block, block, bytes,
                            false);
    return block;
}

void coll_direct_combine_left(coll_build_t *b, int actor, xy_spot_t to)
{
    coll_direct_copy(b, actor, coll_place(b->p - 1, COLL_TEMPORARY, 0), to, b->bytes);
    for (int r = b->p - 2; r >= 0; r--)
        coll_direct_combine(b, actor, coll_place(r, COLL_TEMPORARY, 0), to, to, b->bytes, true);
}

void coll_direct_leave(coll_build_t *b)
{
    for (int r = 0; r < b->p; r++) {
        coll_direct_mark(b, r);
        coll_move(b, coll_input(b, r), coll_place(r, COLL_TEMPORARY, 0), b->bytes, 0);
    }
}

void coll_direct_slices(coll_build_t *b,
                        void (*piece)(coll_build_t *b, int actor, uint64_t begin, uint64_t bytes))
{
    uint64_t element = b->q->element;
    int64_t n = xy_direct_block_elements(b->bytes, element, b->p,
                                         xy_direct_is_spread(1, b->q->is_offloaded));

    for (int r = 0; r < b->p; r++) {
        int64_t begin, end, step;

        coll_direct_mark(b, r);
        xy_direct_slice((int64_t)b->q->count, element, r, b->p, &begin, &end);
        step = n * (int64_t)times_longer(b, (uint64_t)((end - begin) / n) | 1, SLICES_MAX);
        for (; begin < end; begin += step) {
            int64_t elements = end - begin < step ? end - begin : step;

            coll_direct_piece(b);
            piece(b, r, (uint64_t)begin * element, (uint64_t)elements * element);
        }
    }
}

double coll_cost_meet(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_log2_ceil(q->procs) * l->alpha;
}

double coll_cost_slice(const xy_coll_request_t *q)
{
    int64_t begin, end, most = 0;

    for (int r = 0; r < q->procs; r++) {
        xy_direct_slice((int64_t)q->count, q->element, r, q->procs, &begin, &end);
        most = end - begin > most ? end - begin : most;
    }
    return (double)most * (double)q->element;
}
