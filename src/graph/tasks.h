/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks on data, the elements of stencils and programs of tasks. Include graph/graph.h instead.
 *
 *   d = xy_graph_add_data(g, &(xy_data_t){.bytes = n, .address = block});
 *   a = xy_graph_add_task(g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = 1e-3},
 *                         &(xy_access_t){d, XY_ACCESS_WRITE}, 1);
 *   b = xy_graph_add_task(g, ...);                  (after a, if it accesses d)
 */
#ifndef XY_GRAPH_TASKS_H
#define XY_GRAPH_TASKS_H

#include "graph/graph_op.h"

typedef enum { XY_ACCESS_READ = 1, XY_ACCESS_WRITE = 2, XY_ACCESS_READ_WRITE = 3 } xy_access_mode_t;

typedef struct {
    int32_t data; /* handle */
    xy_access_mode_t mode;
} xy_access_t;

typedef struct {
    uint64_t bytes;
    int32_t home;        /* memory where it lives at the beginning and the end; 0: main memory */
    int64_t position[3]; /* locality mark, for pictures; -1: none */
    void *address;       /* in main memory; NULL: none (virtual time), or given to the engine */
    bool is_scrap;       /* nobody wants what it holds in the end: GPUs need not store that */
} xy_data_t;

/* Returns the handle: dense, from 0. */
int32_t xy_graph_add_data(xy_graph_t *graph, const xy_data_t *data);
/* Add an operation with its accesses; the order follows from them. */
xy_op_id_t xy_graph_add_task(xy_graph_t *graph, const xy_op_t *op, const xy_access_t *accesses,
                             int n);

/* Reading, when the graph is final. */
int32_t xy_graph_data_count(const xy_graph_t *graph);
const xy_data_t *xy_graph_data_at(const xy_graph_t *graph, int32_t data);
int32_t xy_graph_accesses(const xy_graph_t *graph, xy_op_id_t id, const xy_access_t **list_p);

#endif
