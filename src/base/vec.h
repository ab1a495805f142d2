/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vector: a growing array of one element size.
 *
 *   xy_vec_t v = XY_VEC_INIT(int);
 *   int *p = xy_vec_push(&v);           (NULL: memory ran out)
 *   *p = 42;
 *   for (size_t i = 0; i < v.count; i++)
 *       use(XY_VEC_AT(&v, int, i));
 *   xy_vec_cleanup(&v);
 *
 * Pointers into it are valid until the next push or reserve. Not thread safe.
 */
#ifndef XY_BASE_VEC_H
#define XY_BASE_VEC_H

#include <stddef.h>

#include "base/status.h"

typedef struct {
    void *data;
    size_t count;
    size_t capacity;
    size_t size; /* of one element */
} xy_vec_t;

#define XY_VEC_INIT(type)       ((xy_vec_t){.size = sizeof(type)})
#define XY_VEC_AT(vec, type, i) (((type *)(vec)->data)[i])

void *xy_vec_push(xy_vec_t *vec);                              /* zeroed element, or NULL */
void *xy_vec_push_many(xy_vec_t *vec, size_t count);           /* zeroed elements, or NULL */
xy_status_t xy_vec_append(xy_vec_t *vec, const void *element); /* copies; silent XY_ENOMEM */
xy_status_t xy_vec_reserve(xy_vec_t *vec, size_t capacity);    /* silent XY_ENOMEM */
void xy_vec_pop(xy_vec_t *vec);                                /* count must be > 0 */
void *xy_vec_take(xy_vec_t *vec);                              /* caller owns data; vec empty */
void xy_vec_cleanup(xy_vec_t *vec);

#endif
