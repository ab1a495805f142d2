/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges between groups: the state and its sweeps. Private to refine_tree.c and refine_pairs.c.
 */
#ifndef XY_PLACE_REFINE_PAIRS_H
#define XY_PLACE_REFINE_PAIRS_H

#include "place/matrix_graph.h"
#include "place/target.h"

enum { REFINE_TABLE_MAX = 512 };

/* The gain of one group from giving an item to another. */
typedef struct {
    uint32_t from, to;
    double gain;
} refine_offer_t;

typedef struct {
    const place_graph_t *g;
    const xy_target_t *t;
    const double *node_height; /* of the target's nodes */
    uint32_t groups, levels;
    /* per item */
    uint32_t *group_of, *position, *locked;
    double *gain, *link;
    /* per group */
    uint32_t *node, *start, *count, *room, *members, *ancestor, *mark, *near;
    double *height, *above, *self, *table; /* ancestor and above: levels x groups */
    double *best, *offered, *ease, *talk;
    uint8_t *changed, *is_next;
    uint8_t *is_asked; /* it or a neighbour changed: its offers are needed */
    double *node_talk; /* per node of the target */
    /* of the pair at work */
    uint32_t stamp;
    uint32_t *moved, *moved_from;
    xy_vec_t offers;                                /* of refine_offer_t, by `from` */
    uint32_t *offer_first, *answer_first, *answers; /* rows of offers; the same by `to` */
} refine_state_t;

/* Distance between items of two groups. */
double refine_distance(const refine_state_t *s, uint32_t a, uint32_t b);
/* Put item v into a group. */
void refine_enter(refine_state_t *s, uint32_t v, uint32_t group);
/* One round over all pairs of groups that may gain; what was gained goes to *gained. Silent
 * ENOMEM. */
xy_status_t refine_sweep(refine_state_t *s, uint32_t *order, uint64_t *random, double *gained);

#endif
