/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather, linear with synchronisation.           Cost = (p-1) (3 a + n b)
 *
 * The root serves one rank after the other, in the order of ranks: it asks for the block with an
 * empty message, receives it, and receives an empty message behind it. It copies its own block
 * while it asks for the first one, which may take longer. p = 3, root 0: 0..>1 1->0 1..>0     0..>2
 * 2->0 2..>0
 */
#include "coll/build.h"

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q);

    double first = n * l->copy > l->alpha ? n * l->copy : l->alpha; /* copied while it asks */

    if (q->procs == 1 || q->count == 0)
        return n * l->copy;
    return first - l->alpha + (q->procs - 1) * (2 * l->alpha + coll_message(l, n));
}

/* Add request, block and empty message of each rank in turn to the graph. */
static void build(coll_build_t *b)
{
    int root = b->q->root;
    xy_op_id_t last = -1;

    coll_move(b, coll_input(b, root), coll_received(b, root, root), coll_block(b, root), 0);
    for (int r = 0; r < b->p && b->bytes > 0; r++)
        if (r != root) {
            xy_op_id_t ask = coll_tell(b, root, r), block, tail;

            block = coll_move(b, coll_input(b, r), coll_received(b, root, r), coll_block(b, r), 0);
            tail = coll_tell(b, r, root);
            coll_order(b, last, ask);
            coll_order(b, ask, block);
            coll_order(b, block, tail);
            last = tail;
        }
}

const xy_coll_algorithm_t coll_gather_linear_sync = {
    .name = "linear-sync",
    .collectives = 1u << XY_COLL_GATHER,
    .formula = "(p-1) (3a + n b); n c > a: + n c - a",
    .describe = "the root asks one rank after the other for its block",
    .is_foreign = true,
    .cost = cost,
    .build = build,
};
