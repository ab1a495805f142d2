/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cutting large operations into pieces.
 *
 * The operations are added again in a valid order, in pieces, and the order follows from the bytes
 * they touch. What the old graph orders for another reason (a barrier, a point in the order) is
 * kept for all pieces of both sides.
 */
#include "graph/graph_internal.h"

/* The pieces of an operation in the new graph: `count` from `first` on. */
typedef struct {
    xy_op_id_t first;
    int32_t count;
} pieces_t;

static bool is_cuttable(const xy_op_t *op)
{
    return op->kind >= XY_OP_MOVE && op->bytes > 0;
}

static bool overlap(const xy_spot_t *a, uint64_t a_bytes, const xy_spot_t *b, uint64_t b_bytes)
{
    return a->rank == b->rank && a->buffer == b->buffer && a->offset < b->offset + b_bytes &&
           b->offset < a->offset + a_bytes;
}

/* One of them writes what the other touches: places order their pieces. */
static bool is_conflict(const xy_op_t *a, const xy_op_t *b)
{
    xy_spot_t pa[3], pb[3];
    int na, nb;

    if (!is_cuttable(a) || !is_cuttable(b))
        return false;
    na = graph_op_places(a, pa);
    nb = graph_op_places(b, pb);
    for (int i = 0; i < na; i++)
        if (overlap(&pa[i], a->bytes, &pb[nb - 1], b->bytes))
            return true;
    for (int i = 0; i < nb - 1; i++)
        if (overlap(&pa[na - 1], a->bytes, &pb[i], b->bytes))
            return true;
    return false;
}

/* Add an operation in pieces of at most `piece` bytes, or whole if it cannot be cut; returns the
 * ids of the pieces. */
static pieces_t add_pieces(xy_graph_t *cut, const xy_op_t *op, uint64_t piece)
{
    pieces_t pieces = {xy_graph_ops(cut), 0};
    xy_op_t part = *op;

    part.is_chained = false;
    if (!is_cuttable(op)) {
        xy_graph_add(cut, &part);
        pieces.count = 1;
        return pieces;
    }
    for (uint64_t done = 0; done < op->bytes && graph_is_building(cut); done += part.bytes) {
        part.bytes = op->bytes - done < piece ? op->bytes - done : piece;
        part.from.offset = op->from.offset + done;
        part.other.offset = op->other.offset + done;
        part.to.offset = op->to.offset + done;
        xy_graph_add_op(cut, &part);
        pieces.count++;
    }
    return pieces;
}

/* Order all pieces of one operation before all pieces of another, through a common point if both
 * have several. */
static void keep_order(xy_graph_t *cut, pieces_t before, pieces_t after)
{
    xy_op_id_t point = before.first;

    if (before.count > 1 && after.count > 1) {
        point = xy_graph_add(cut, &(xy_op_t){.kind = XY_OP_NONE});
        for (int32_t i = 0; i < before.count; i++)
            xy_graph_add_edge(cut, before.first + i, point);
        before.count = 1;
    }
    for (int32_t i = 0; i < before.count; i++)
        for (int32_t j = 0; j < after.count; j++)
            xy_graph_add_edge(cut, point + i, after.first + j);
}

/* Add the pieces of all operations in topological order, then the edges that do not follow from
 * common bytes. */
static void add_all(const xy_graph_t *graph, uint64_t piece, pieces_t *pieces, xy_graph_t *cut)
{
    int32_t ops = xy_graph_ops(graph);

    for (int32_t i = 0; i < ops; i++) {
        xy_op_id_t id = graph->topological[i];

        pieces[id] = add_pieces(cut, graph_op(graph, id), piece);
    }
    for (xy_op_id_t id = 0; id < ops; id++) {
        const xy_op_id_t *after;
        int32_t n = xy_graph_successors(graph, id, &after);

        for (int32_t i = 0; i < n; i++)
            if (!is_conflict(graph_op(graph, id), graph_op(graph, after[i])))
                keep_order(cut, pieces[id], pieces[after[i]]);
    }
}

xy_status_t xy_graph_cut(const xy_graph_t *graph, uint64_t piece, xy_graph_t **cut_p)
{
    pieces_t *pieces;
    xy_graph_t *cut;
    xy_status_t st;

    if (piece == 0 || graph->data.count > 0)
        return xy_fail(XY_EINVAL, "cannot cut a graph into pieces of %llu bytes; %s",
                       (unsigned long long)piece,
                       piece == 0 ? "give a size above 0"
                                  : "a graph of data handles cannot be cut");
    pieces = xy_calloc(graph->ops.count + 1, sizeof(*pieces));
    if (pieces == NULL)
        return xy_fail_memory("cutting a graph");
    st = xy_graph_create(&cut);
    if (st == XY_OK) {
        add_all(graph, piece, pieces, cut);
        st = xy_graph_finalize(cut);
        if (st == XY_OK)
            *cut_p = cut;
        else
            xy_graph_destroy(cut);
    }
    xy_free(pieces);
    return st;
}
