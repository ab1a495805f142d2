/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files about traffic. */
#ifndef XY_PLACE_TRAFFIC_INTERNAL_H
#define XY_PLACE_TRAFFIC_INTERNAL_H

#include "place/traffic.h"

/* One matrix of a run: "phase 3", to be written to phase-3.csv. */
typedef struct {
    char name[48], title[80];
    xy_traffic_choice_t choice;
} traffic_part_t;

/* A page with the heat maps of all parts (of traffic_part_t). */
xy_status_t traffic_print_page(const xy_traffic_t *t, const xy_vec_t *parts, const char *title,
                               FILE *file);

#endif
