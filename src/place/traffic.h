/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traffic: the message counts of a run by phase, slice of time and communicator, and the matrices
 * made of them.
 *
 *   xy_traffic_t t = {.ranks = 8, .records = XY_VEC_INIT(xy_traffic_record_t)};
 *   xy_vec_append(&t.records, &(xy_traffic_record_t){.from = 0, .to = 1, ...});
 *   st = xy_traffic_write(&t, "talk");              (talk/all.csv, talk/index.html, ...)
 *   xy_traffic_cleanup(&t);
 *
 * Records are in any order and those of one pair add up.
 */
#ifndef XY_PLACE_TRAFFIC_H
#define XY_PLACE_TRAFFIC_H

#include "place/matrix.h"

typedef struct {
    uint32_t from, to;
    uint32_t phase, slice, communicator;
    double bytes[2], messages[2]; /* [0] of the program, [1] inside collectives */
} xy_traffic_record_t;

typedef struct {
    uint32_t ranks;
    double slice_seconds; /* 0: time was not cut */
    xy_vec_t records;     /* of xy_traffic_record_t */
} xy_traffic_t;

/* The records in a matrix; XY_TRAFFIC_ANY: all of them. */
enum { XY_TRAFFIC_ANY = -1 };
typedef struct {
    bool program, collectives;
    int64_t phase, slice, communicator;
} xy_traffic_choice_t;

void xy_traffic_cleanup(xy_traffic_t *t);

/* On success the caller owns *matrix_p, with messages. EINVAL, in silence: a rank beyond. */
xy_status_t xy_traffic_matrix(const xy_traffic_t *t, const xy_traffic_choice_t *choice,
                              xy_matrix_t **matrix_p);

/* Fill a directory, which is made: all.csv, program.csv (without what is inside collectives),
 * collectives.csv; phase-N.csv, slice-N.csv and communicator-N.csv when there are several of them;
 * and index.html, a page with the heat maps of all these. A line of a file is source, target,
 * bytes, messages. */
xy_status_t xy_traffic_write(const xy_traffic_t *t, const char *directory);

/* The files of the ranks of `xylem monitor` in a directory. Communicators are numbered: 0 is the
 * world. ENOENT: nothing is there. On success the caller cleans up. */
xy_status_t xy_traffic_read(const char *directory, xy_traffic_t *t);

#endif
