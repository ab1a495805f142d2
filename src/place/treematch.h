/* SPDX-License-Identifier: BSD-3-Clause */
/* The grouping of one level of TreeMatch. Private to the component. */
#ifndef XY_PLACE_TREEMATCH_H
#define XY_PLACE_TREEMATCH_H

#include "place/strategy.h"

/* Are the groups of k among n few enough to be listed? */
bool treematch_can_list(uint64_t n, uint32_t k);

/* Choose n / k groups of k vertices each (n is a multiple of k) so that there is little traffic
 * between them; groups are numbered by their first members. Silent ENOMEM. */
xy_status_t treematch_group(const place_graph_t *g, uint32_t k, uint32_t *group_of);

#endif
