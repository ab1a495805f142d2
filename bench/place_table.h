/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of placements: patterns, randomly relabelled, on a tree, by Xylem's multisection and by
 * its peers. Costs are relative to the best placement that any of them found for that pattern; a
 * row's figure is the geometric mean over its patterns. Times are the mean over the patterns, and
 * in brackets the largest ratio to METIS of one pattern.
 */
#ifndef XY_BENCH_PLACE_TABLE_H
#define XY_BENCH_PLACE_TABLE_H

#include "place/place.h"

/* A pattern being made: edges between 0 .. p - 1, which get labels. */
typedef struct {
    xy_vec_t entries; /* of xy_matrix_entry_t */
    uint32_t *label;
    uint64_t random;
} pattern_t;

typedef struct {
    uint32_t p;
    const char *tree;
    uint32_t flat[2], box[3]; /* sides of the grids */
} row_t;

typedef struct {
    const char *name;
    void (*make)(pattern_t *f, const row_t *r);
} pattern_kind_t;

/* Both send `bytes` to each other. */
void pattern_add(pattern_t *f, uint32_t a, uint32_t b, double bytes);
/* Made and relabelled; the caller destroys it. */
xy_matrix_t *pattern_matrix(const pattern_kind_t *kind, const row_t *r, uint64_t seed);

void place_table_head(void);
/* All patterns by all strategies, on both costs; NULL ends the list. Seeds are first .. first +
 * seeds - 1. */
void place_table_rows(const row_t *r, const pattern_kind_t *kinds, int seeds, uint64_t first);
/* Ends the program. */
void place_table_die(const char *what);

#endif
