/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cutting a graph in two with exact sizes, multilevel. Private to the component.
 *
 *   place_bisector_t b;
 *   st = place_bisector_init(&b, g->n, seed);
 *   st = place_bisect(&b, g, 512, 512, side);      (512 processes on side 0, the rest on side 1)
 *   place_bisector_cleanup(&b);
 */
#ifndef XY_PLACE_BISECT_H
#define XY_PLACE_BISECT_H

#include "place/matrix_graph.h"

enum { PLACE_BUCKETS = 256 };

typedef struct {
    uint64_t random;
    uint32_t passes; /* of refinement on each level, at most */
    double faithful; /* the least part of its heaviest edge that a vertex is paired by; 0: any */
    bool is_loose;   /* sides of coarse graphs need not have the exact sizes */
    uint32_t capacity;
    /* One entry per vertex. */
    double *gain, *total; /* total: of the weights of its edges */
    uint32_t *next, *prev, *bucket, *order, *class_of, *moved;
    uint8_t *best;
    uint32_t head[2][PLACE_BUCKETS];
    uint32_t top[2]; /* no bucket above is filled */
} place_bisector_t;

/* For graphs of at most n vertices. Silent ENOMEM. */
xy_status_t place_bisector_init(place_bisector_t *b, uint32_t n, uint64_t seed);
void place_bisector_cleanup(place_bisector_t *b);

/* Fill side[] so that side 0 holds between low and high processes and little is cut. Vertices of
 * g are one process each. Silent ENOMEM. */
xy_status_t place_bisect(place_bisector_t *b, const place_graph_t *g, uint32_t low, uint32_t high,
                         uint8_t *side);

typedef struct {
    double cut;   /* weight of the edges between the sides */
    uint32_t off; /* how many processes side 0 has too few or too many */
} place_cut_t;

/* Improve a cut that is there; what it is then. */
place_cut_t place_bisect_refine(place_bisector_t *b, const place_graph_t *g, uint32_t low,
                                uint32_t high, uint32_t passes, uint8_t *side);

/* Cut into parts of at most room[i] vertices each, which together hold all. Silent ENOMEM. */
xy_status_t place_bisect_parts(place_bisector_t *b, const place_graph_t *g, uint32_t parts,
                               const uint64_t *room, uint32_t *part_of);

#endif
