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

/* The rows of ranks being put together: init, add each from memory (`data` is followed by a NUL and
 * `path` named in messages), then finish, which reports an error unless `st` is one already. finish
 * ends `rows` in any case; on success the caller cleans up *t. */
typedef struct {
    xy_traffic_t traffic;
    xy_vec_t names; /* of each record, uint64_t: the communicator by both its numbers */
} traffic_rows_t;
void traffic_rows_init(traffic_rows_t *rows);
xy_status_t traffic_rows_add(traffic_rows_t *rows, const char *data, size_t size, const char *path,
                             uint32_t rank);
xy_status_t traffic_rows_finish(traffic_rows_t *rows, xy_status_t st, xy_traffic_t *t);

/* A page with the heat maps of all parts (of traffic_part_t). */
xy_status_t traffic_print_page(const xy_traffic_t *t, const xy_vec_t *parts, const char *title,
                               FILE *file);

#endif
