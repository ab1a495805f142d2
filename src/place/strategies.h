/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of this room's strategies, one per file. */
#ifndef XY_PLACE_STRATEGIES_H
#define XY_PLACE_STRATEGIES_H

#include "place/place.h"

extern const xy_place_strategy_t place_packed;
extern const xy_place_strategy_t place_round_robin;
extern const xy_place_strategy_t place_scatter;
extern const xy_place_strategy_t place_scatter_numa;

/* What xy_place_read does, from a text that is cut into pieces. */
xy_status_t place_file_parse(char *text, const char *path, const xy_cores_t *cores, int ranks,
                             int *core_of);

#endif
