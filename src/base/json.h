/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON output, streamed, indented for people when asked.
 *
 *   xy_json_t j;
 *   xy_json_init(&j, stdout, true);
 *   xy_json_begin_object(&j, NULL);
 *   xy_json_string(&j, "name", "core");
 *   xy_json_begin_array(&j, "cores");
 *   xy_json_int(&j, NULL, 3);
 *   xy_json_end(&j);
 *   xy_json_end(&j);                    (a newline follows the outermost value)
 *
 * `key` is NULL inside arrays and at the top. Write errors stay in the FILE's error flag. Bytes
 * that are not UTF-8 are written as U+FFFD; NaN and infinities as null. At most 64 levels.
 */
#ifndef XY_BASE_JSON_H
#define XY_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct {
    FILE *file;
    bool indent;
    int depth;
    bool has_member[64]; /* something was written at this level */
    char close[64];      /* '}' or ']' */
} xy_json_t;

void xy_json_init(xy_json_t *json, FILE *file, bool indent);
void xy_json_begin_object(xy_json_t *json, const char *key);
void xy_json_begin_array(xy_json_t *json, const char *key);
void xy_json_end(xy_json_t *json);
void xy_json_string(xy_json_t *json, const char *key, const char *value); /* NULL -> null */
void xy_json_int(xy_json_t *json, const char *key, int64_t value);
void xy_json_double(xy_json_t *json, const char *key, double value);
void xy_json_bool(xy_json_t *json, const char *key, bool value);

/* One string, quoted and escaped, outside of any xy_json_t. */
void xy_json_quote(FILE *file, const char *value);

#endif
