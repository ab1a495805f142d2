/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fields: named values, several in one call, as members of a JSON object or as a line of CSV.
 *
 *   xy_fields(&json, "name %s ranks %d seconds %g is_loop %i", name, ranks, seconds, is_loop);
 *   xy_fields_object(&json, "loggp", "L %g o %g", latency, overhead);
 *
 * `fields` has names and conversions of printf in turn, with a space between them: %s for text,
 * %d, %u, %ld, %lu, %zu, %lld and %llu for whole numbers, %i for a truth value, %g for a double
 * with all its digits. The compiler checks the values. A name has no space and fewer than
 * XY_FIELDS_NAME bytes. In JSON, text that is NULL and numbers that are not finite are null; in CSV
 * they are empty.
 */
#ifndef XY_DRAW_FIELDS_H
#define XY_DRAW_FIELDS_H

#include "base/base.h"

enum { XY_FIELDS_NAME = 64 };

/* Members of the open object. */
void xy_fields(xy_json_t *json, const char *fields, ...) __attribute__((format(printf, 2, 3)));
/* An object with just these members. */
void xy_fields_object(xy_json_t *json, const char *key, const char *fields, ...)
    __attribute__((format(printf, 3, 4)));

/* Rows with the same fields, as objects of the open array, or as lines of CSV; the other is NULL.
 */
typedef struct {
    xy_json_t *json;
    FILE *csv;
    bool has_head; /* false at first: the names are written before the first row of CSV */
} xy_rows_t;

void xy_rows_add(xy_rows_t *rows, const char *fields, ...) __attribute__((format(printf, 2, 3)));

#endif
