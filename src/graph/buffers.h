/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on buffers, the elements of collectives. Include graph/graph.h instead.
 *
 *   a = xy_graph_add_op(g, &(xy_op_t){.kind = XY_OP_MOVE, .from = {0, XY_BUFFER_SEND, 0},
 *                                     .to = {1, XY_BUFFER_RECEIVE, 0}, .bytes = n, .actor = 1});
 *   b = xy_graph_add_op(g, ...);                    (after a, if it touches bytes that a writes)
 */
#ifndef XY_GRAPH_BUFFERS_H
#define XY_GRAPH_BUFFERS_H

#include "graph/graph_op.h"

/* Add an operation on places; the order follows from the bytes that it reads and writes. Buffers
 * are numbered below XY_BUFFERS_MAX, and all that touches them comes through here. An operation of
 * no bytes touches nothing. */
enum { XY_BUFFERS_MAX = 16 };
xy_op_id_t xy_graph_add_op(xy_graph_t *graph, const xy_op_t *op);

/* Reading, when the graph is final. */
int32_t xy_graph_ranks(const xy_graph_t *graph);   /* highest rank of a place or actor + 1 */
int32_t xy_graph_buffers(const xy_graph_t *graph); /* highest buffer number used + 1 */
/* Bytes needed of buffer `buffer` of `rank` (highest offset + bytes); 0: unused. */
uint64_t xy_graph_buffer_bytes(const xy_graph_t *graph, int32_t rank, int32_t buffer);

/* The same work in pieces: a MOVE, REDUCE or COMBINE of more than `piece` bytes (> 0, a multiple of
 * the size of an element) becomes several of at most that, and a piece waits only for what touches
 * its own bytes; so a chain turns into a pipeline. Operations keep their actor, level and priority,
 * but none is chained any more. The caller owns *cut_p, which is final. XY_EINVAL: the graph has
 * data handles (reported). XY_ENOMEM (reported). */
xy_status_t xy_graph_cut(const xy_graph_t *graph, uint64_t piece, xy_graph_t **cut_p);

#endif
