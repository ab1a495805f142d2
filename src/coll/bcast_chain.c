/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast, pipelined chain.                    Cost = (p - 2 + k) (a + n/k b)
 *
 * The vector goes from rank to rank in k pieces; while a rank passes on one piece it gets the next.
 * The best k is sqrt((p - 2) n b / a), from the link that the graph is built for; at most 1024, as
 * the graph has k (p - 1) operations; a request may give the size of a piece instead. p = 3, k = 2:
 *   step 1: 0-1->1     step 2: 0-2->1 1-1->2     step 3: 1-2->2
 */
#include <math.h>

#include "coll/build.h"

enum { PIECES_MAX = 1024 };

/* Elements of a piece; the last one may have fewer. */
static uint64_t piece_of(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q), best = 1.0;
    uint64_t pieces;

    if (q->segment != 0)
        return coll_piece(q, 1) / q->element;
    if (q->procs > 2 && n > 0.0)
        best = l->alpha > 0.0 ? sqrt((q->procs - 2) * n * l->beta / l->alpha) : PIECES_MAX;
    best = best < PIECES_MAX ? best : PIECES_MAX;
    pieces = best < 1.0 ? 1 : best < (double)q->count ? (uint64_t)best : q->count;
    return pieces > 0 ? (q->count + pieces - 1) / pieces : 1;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    uint64_t piece = piece_of(q, l), pieces = (q->count + piece - 1) / piece;
    double last;

    if (q->procs == 1 || pieces == 0)
        return 0.0;
    last = coll_message(l, (double)((q->count - (pieces - 1) * piece) * q->element));
    if (pieces == 1)
        return (q->procs - 1) * last;
    return (q->procs - 3.0 + (double)pieces) * coll_message(l, (double)(piece * q->element)) + last;
}

static void build(coll_build_t *b)
{
    uint64_t piece = piece_of(b->q, b->link) * b->q->element;

    for (uint64_t at = 0; at < b->bytes; at += piece)
        for (int v = 1; v < b->p; v++)
            coll_move(b, coll_place((v - 1 + b->q->root) % b->p, XY_BUFFER_RECEIVE, at),
                      coll_place((v + b->q->root) % b->p, XY_BUFFER_RECEIVE, at),
                      b->bytes - at < piece ? b->bytes - at : piece, 0);
}

const xy_coll_algorithm_t coll_bcast_chain = {
    .name = "chain",
    .collectives = 1u << XY_COLL_BCAST,
    .formula = "(p - 2 + k) (a + n/k b), k = sqrt((p-2) n b / a)",
    .describe = "pieces from rank to rank; best for long messages and few ranks",
    .cost = cost,
    .build = build,
};
