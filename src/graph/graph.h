/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs: operations on data, with their dependencies.
 *
 *   xy_graph_t *g;
 *   xy_graph_create(&g);
 *   a = xy_graph_add(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1e-3});
 *   b = xy_graph_add(g, ...);
 *   xy_graph_add_edge(g, a, b);            (b after a)
 *   xy_graph_finalize(g);                  (now it can be interpreted)
 *
 * A collective is a graph built by one algorithm in coll/, a stencil a graph built by stencil/.
 * Engines run graphs in real time and in virtual time, and counting one gives the cost formula: an
 * algorithm is written once and each of the three checks the other two.
 *
 * There are two kinds of graphs, by the data of their operations:
 *
 *   buffers.h  operations on buffers of ranks: collectives
 *   tasks.h    tasks that access data handles: stencils, programs of tasks
 *
 * In both the order can follow from sequential consistency (xy_graph_add_op, xy_graph_add_task): an
 * operation comes after the last writer of the data it reads, and after the last readers and writer
 * of the data it writes. So the builder of the graph writes down one sequential program, and
 * independent operations run at the same time.
 *
 * A graph is built by one thread. Once it is final it never changes and any thread may read it.
 */
#ifndef XY_GRAPH_GRAPH_H
#define XY_GRAPH_GRAPH_H

#include "graph/buffers.h"
#include "graph/graph_op.h"
#include "graph/tasks.h"

xy_status_t xy_graph_create(xy_graph_t **graph_p);
void xy_graph_destroy(xy_graph_t *graph); /* NULL is fine */

/* Building. When memory runs out the graph remembers it and xy_graph_finalize reports it: ids are
 * always valid to pass on. `before` and `after` may repeat: an edge given twice counts once. */
xy_op_id_t xy_graph_add(xy_graph_t *graph, const xy_op_t *op);
void xy_graph_add_edge(xy_graph_t *graph, xy_op_id_t before, xy_op_id_t after);
/* XY_ENOMEM: memory ran out while building (said here). XY_EINVAL: the order has a cycle, or names
 * an invalid operation, data or place (reported). After a failure it can only be destroyed. */
xy_status_t xy_graph_finalize(xy_graph_t *graph);

/* Reading, when the graph is final. */
int32_t xy_graph_ops(const xy_graph_t *graph);
const xy_op_t *xy_graph_op(const xy_graph_t *graph, xy_op_id_t id);
int32_t xy_graph_successors(const xy_graph_t *graph, xy_op_id_t id, const xy_op_id_t **list_p);
int32_t xy_graph_predecessors(const xy_graph_t *graph, xy_op_id_t id); /* how many */
/* An order that respects all dependencies: by depth, then id. ops entries; caller does not own. */
const xy_op_id_t *xy_graph_topological(const xy_graph_t *graph);

#endif
