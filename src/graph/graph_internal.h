/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the component: the graph itself. */
#ifndef XY_GRAPH_GRAPH_INTERNAL_H
#define XY_GRAPH_GRAPH_INTERNAL_H

#include "graph/graph.h"

typedef struct {
    xy_op_id_t before, after;
} graph_edge_t;

/* Operations that only read: a list that is only ever added to at its head, so that two intervals
 * or none can share a tail. */
typedef struct {
    xy_op_id_t op;
    int32_t next; /* in graph->readers; -1: the end */
} graph_reader_t;

/* The last accesses to a place. */
typedef struct {
    xy_op_id_t writer; /* -1: none */
    int32_t readers;   /* since that write; -1: none */
} graph_last_t;

typedef struct {
    uint64_t begin, end;
    graph_last_t last;
} graph_interval_t;

struct xy_graph {
    xy_vec_t ops;          /* xy_op_t */
    xy_vec_t data;         /* xy_data_t */
    xy_vec_t accesses;     /* xy_access_t of all operations, in their order */
    xy_vec_t access_start; /* size_t per operation, where it has any (see xy_graph_accesses) */
    bool is_out_of_memory;
    const char *wrong; /* the builder's first error; NULL: none */
    bool is_final;

    /* While building. */
    xy_vec_t edges;   /* graph_edge_t */
    xy_vec_t lasts;   /* graph_last_t per data handle */
    xy_vec_t readers; /* graph_reader_t */
    xy_vec_t tracks;  /* xy_vec_t of graph_interval_t per rank * XY_BUFFERS_MAX + buffer */

    /* Made by xy_graph_finalize. */
    size_t *successor_start; /* [ops + 1] */
    xy_op_id_t *successors;
    int32_t *predecessors; /* [ops] */
    xy_op_id_t *topological;
    int32_t ranks, buffers;
    uint64_t *buffer_bytes; /* [ranks * buffers] */
};

static inline xy_op_t *graph_op(const xy_graph_t *graph, xy_op_id_t id)
{
    return &XY_VEC_AT(&graph->ops, xy_op_t, id);
}

static inline bool graph_is_building(const xy_graph_t *graph)
{
    return !graph->is_out_of_memory && graph->wrong == NULL && !graph->is_final;
}

/* The places an operation reads and writes: at most 3. The last one of `places` it writes. */
int graph_op_places(const xy_op_t *op, xy_spot_t places[3]);

/* `op` comes after the last writer. */
void graph_last_read(xy_graph_t *graph, graph_last_t *last, xy_op_id_t op);
/* `op` comes after the last writer and its readers, and is the last writer itself. */
void graph_last_write(xy_graph_t *graph, graph_last_t *last, xy_op_id_t op);

/* buffers.c */
void graph_tracks_cleanup(xy_graph_t *graph);
/* XY_EINVAL (reported): an operation names an invalid place. XY_ENOMEM (reported). */
xy_status_t graph_buffers_measure(xy_graph_t *graph);

#endif
