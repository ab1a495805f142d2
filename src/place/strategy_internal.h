/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of strategies, one per file, and code shared by strategies. Private to the
 * component. */
#ifndef XY_PLACE_STRATEGY_INTERNAL_H
#define XY_PLACE_STRATEGY_INTERNAL_H

#include "place/ranks.h"
#include "place/strategy.h"

extern const xy_strategy_t place_strategy_auto;
extern const xy_strategy_t place_strategy_multisection;
extern const xy_strategy_t place_strategy_treematch;
extern const xy_strategy_t place_strategy_scotch;
extern const xy_strategy_t place_strategy_metis;
extern const xy_strategy_t place_strategy_bisection;
extern const xy_strategy_t place_strategy_mpipp;
extern const xy_strategy_t place_strategy_packed;
extern const xy_strategy_t place_strategy_scatter;
extern const xy_strategy_t place_strategy_scatter_numa;
extern const xy_strategy_t place_strategy_round_robin;
extern const xy_strategy_t place_strategy_random;

/* A strategy of the user (place_plugin.c). Errors are reported. Any thread. */
xy_status_t place_plugin_find(const char *path, const xy_strategy_t **strategy_p);

/* Processes per leaf: one, or the whole shares of p / n when there are more processes; `given`
 * wins. NULL: memory ran out, in silence. The caller frees them. */
uint32_t *place_capacities(uint32_t n, const xy_target_t *t, const uint32_t *given);

/* The cost of a placement by the objective of the problem. */
double place_cost(const xy_problem_t *q, const uint32_t *leaf_of);
/* Cheaper by exchanges, never dearer. `capacity` is per leaf and holds what is there. Silent
 * ENOMEM. */
xy_status_t place_refine(const xy_problem_t *q, const uint32_t *capacity, uint64_t seed,
                         uint32_t *leaf_of);

/* The work of xy_place_read, on a text that is cut into pieces. */
xy_status_t place_file_parse(char *text, const char *path, const xy_cores_t *cores, int ranks,
                             int *core_of);

#endif
