/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long vectors inside the nodes of an algorithm of two levels, as the runtime does them inside a
 * process: the ranks of a node see each other's memory, so each reduces its slice over the vectors
 * of all of them, and each copies the result itself (direct.h). They synchronize before, for a rank
 * reads what others bring, and at the end, for others read its buffer. In between, what is done
 * among the leaders begins with the first slices and not with the last.
 */
#include "coll/build.h"

/* Pieces of all nodes together; beyond, they are longer than the runtime's. */
enum { PIECES_MAX = 1 << 18 };
/* Where a rank adds up a block: in its cache. */
enum { SUM = COLL_TEMPORARY + 2 };

/* Shorter ones cost what messages between cores take: stages stand for them. */
bool coll_inside_is_direct(const coll_build_t *b)
{
    return b->q->between != NULL && b->parent == NULL && b->bytes > XY_DIRECT_GROUPED;
}

void coll_inside_meet(coll_build_t *b, const coll_nodes_t *n, int node)
{
    coll_stage_t s = coll_nodes_stage(b, n, node, XY_COLL_BARRIER, 0);

    s.q.count = 0;
    if (s.q.procs > 1)
        coll_stage(b, &s, NULL);
}

/* Add an operation of an actor, ordered after the words that the actor has received unless it is
 * chained; returns it. */
static xy_op_id_t add(coll_build_t *b, int actor, xy_op_t op, bool is_chained)
{
    xy_op_id_t id;

    op.actor = actor;
    op.is_direct = true;
    op.is_chained = is_chained;
    id = coll_add(b, &op);
    if (!is_chained)
        coll_order(b, b->mark[actor], id);
    return id;
}

/* Order the later words of an actor after its operations `first` to `last`: pieces that any core
 * may do, in any order. */
static void end_pieces(coll_build_t *b, int actor, xy_op_id_t first, xy_op_id_t last)
{
    xy_spot_t place = coll_place(actor, COLL_TEMPORARY, 0);
    xy_op_id_t end;

    if (last < 0) /* none, or they are walked */
        return;
    end = coll_add(
        b,
        &(xy_op_t){
            .kind = XY_OP_COMPUTE, .actor = actor, .from = place, .to = place, .is_direct = true});
    for (xy_op_id_t id = first; id <= last; id++)
        coll_order(b, id, end);
    b->mark[actor] = end;
}

/* Bytes of a piece, at least `own`, so that there are not too many for a graph. */
static uint64_t piece_of(const coll_build_t *b, const coll_nodes_t *n, uint64_t own, int readers)
{
    uint64_t most = PIECES_MAX / ((uint64_t)n->count * (uint64_t)readers) + 1;
    uint64_t least = (b->bytes / most / b->q->element + 1) * b->q->element;

    return least > own ? least : own;
}

void coll_inside_reduce(coll_build_t *b, const coll_nodes_t *n, int node, coll_spot_fn input,
                        xy_spot_t result)
{
    const int *ranks = n->members + n->first[node];
    int size = coll_nodes_size(n, node);
    size_t element = b->q->element;
    bool is_spread = coll_direct_is_spread(b->q);
    uint64_t block =
        (uint64_t)xy_direct_block_elements(b->bytes, element, size, is_spread) * element;

    block = piece_of(b, n, block, size);
    for (int i = 0; i < size; i++) {
        xy_op_id_t first = -1, last = -1;
        int64_t begin, end;

        xy_direct_slice((int64_t)b->q->count, element, i, size, &begin, &end);
        for (uint64_t at = (uint64_t)begin * element, stop = (uint64_t)end * element; at < stop;
             at += block) {
            xy_spot_t sum = coll_place(ranks[i], SUM, at);
            xy_op_t op = {.kind = XY_OP_COMBINE,
                          .is_left = true,
                          .from = coll_shift(input(b, ranks[0], n), at),
                          .other = coll_shift(input(b, ranks[1], n), at),
                          .to = sum,
                          .bytes = stop - at < block ? stop - at : block};

            last = add(b, ranks[i], op, false);
            first = first < 0 ? last : first;
            op.kind = XY_OP_REDUCE;
            op.is_left = false;
            op.other = sum;
            for (int r = 2; r < size; r++) {
                op.from = coll_shift(input(b, ranks[r], n), at);
                add(b, ranks[i], op, true);
            }
            op.kind = XY_OP_MOVE;
            op.from = sum;
            op.to = coll_shift(result, at);
            last = add(b, ranks[i], op, true);
        }
        end_pieces(b, ranks[i], first, last);
    }
}

void coll_inside_bcast(coll_build_t *b, const coll_nodes_t *n, int node, int root)
{
    const int *ranks = n->members + n->first[node];
    int size = coll_nodes_size(n, node);
    uint64_t piece = piece_of(b, n, XY_DIRECT_PIECE, size);

    for (int i = 0; i < size; i++) {
        xy_op_id_t first = -1, last = -1;

        for (uint64_t at = 0; at < b->bytes && ranks[i] != root; at += piece) {
            xy_op_t op = {.kind = XY_OP_MOVE,
                          .from = coll_place(root, XY_BUFFER_RECEIVE, at),
                          .to = coll_place(ranks[i], XY_BUFFER_RECEIVE, at),
                          .bytes = b->bytes - at < piece ? b->bytes - at : piece};

            last = add(b, ranks[i], op, false);
            first = first < 0 ? last : first;
        }
        end_pieces(b, ranks[i], first, last);
    }
}
