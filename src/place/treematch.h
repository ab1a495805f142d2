/* SPDX-License-Identifier: BSD-3-Clause */
/* The grouping of one level of TreeMatch. Private to the component. */
#ifndef XY_PLACE_TREEMATCH_H
#define XY_PLACE_TREEMATCH_H

#include "place/strategy.h"

/* How the groups of a level are looked for. */
typedef struct {
    bool is_plain;    /* without exchanges: the last bit less traffic can make a level irregular */
    bool is_factored; /* groups of 8 as pairs of pairs of pairs */
    uint64_t seed;    /* of the order in which exchanges are tried */
} treematch_way_t;

/* Choose n / k groups of k vertices each (n is a multiple of k) so that there is little traffic
 * between them; groups are numbered by their first members. Silent ENOMEM. */
xy_status_t treematch_group(const place_graph_t *g, uint32_t k, const treematch_way_t *way,
                            uint32_t *group_of);

/* Groups of k vertices improved: members change places as long as less traffic is left between the
 * groups. Silent ENOMEM. */
xy_status_t treematch_exchange(const place_graph_t *g, uint32_t k, uint64_t seed,
                               uint32_t *group_of);

#endif
