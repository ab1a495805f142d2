/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The input of strategies: an undirected weighted graph without loops, in compressed rows. The
 * weight of an edge is the sum of the messages of both ends. Private to the component.
 */
#ifndef XY_PLACE_MATRIX_GRAPH_H
#define XY_PLACE_MATRIX_GRAPH_H

#include "place/matrix.h"

typedef struct {
    uint32_t n;
    uint32_t *first; /* n + 1 entries */
    uint32_t *to;
    double *w;
    uint32_t *size; /* processes that a vertex stands for; NULL: one each */
} place_graph_t;

/* Entries of both directions added, the diagonal and zeros dropped. ELIMIT: 2^32 edges or more. */
xy_status_t place_graph_build(const xy_matrix_t *m, xy_metric_t metric, place_graph_t *g);
void place_graph_cleanup(place_graph_t *g);
/* Rows for n vertices and `edges` entries. Silent ENOMEM. */
xy_status_t place_graph_init(place_graph_t *g, uint32_t n, uint32_t edges, bool has_sizes);

/* Silent ENOMEM. */
xy_status_t place_graph_copy(const place_graph_t *g, place_graph_t *copy);

/* The same graph with neighbours near each other in memory: vertex i of `sorted` is vertex old[i]
 * of g, breadth first. Silent ENOMEM. */
xy_status_t place_graph_sort(const place_graph_t *g, uint32_t *old, place_graph_t *sorted);

/* One vertex per class: class_of has g->n entries below `classes`. Sizes are added up. Silent
 * ENOMEM. */
xy_status_t place_graph_contract(const place_graph_t *g, const uint32_t *class_of, uint32_t classes,
                                 place_graph_t *coarse);
/* The two halves of g: vertex v is in part[side[v]], as number index[v]; ids are carried along.
 * Silent ENOMEM. */
xy_status_t place_graph_split(const place_graph_t *g, const uint8_t *side, uint32_t *index,
                              place_graph_t part[2]);

/* Repeatable random numbers: splitmix64. */
static inline uint64_t place_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline uint32_t place_random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(((place_random(state) >> 32) * n) >> 32);
}

/* A random permutation of 0 .. n - 1. */
void place_shuffle(uint32_t *order, uint32_t n, uint64_t *state);
/* One that leaves numbers where they are up to a distance: it is walked along faster. */
void place_shuffle_near(uint32_t *order, uint32_t n, uint64_t *state);

#endif
