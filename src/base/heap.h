/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binary heap: the element with the least key comes first; equal keys come out in the order they
 * went in, so that simulations are repeatable.
 *
 *   xy_heap_t h = XY_HEAP_INIT;
 *   st = xy_heap_push(&h, 3.5, event);
 *   event = xy_heap_pop(&h, &key);      (NULL: empty)
 *   xy_heap_cleanup(&h);
 */
#ifndef XY_BASE_HEAP_H
#define XY_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct {
    double key;
    uint64_t order;
    void *value;
} xy_heap_item_t;

typedef struct {
    xy_heap_item_t *items;
    size_t count;
    size_t capacity;
    uint64_t pushed;
} xy_heap_t;

#define XY_HEAP_INIT ((xy_heap_t){0})

xy_status_t xy_heap_push(xy_heap_t *heap, double key,
                         void *value);                     /* value != NULL; silent XY_ENOMEM */
void *xy_heap_pop(xy_heap_t *heap, double *key_p);         /* key_p may be NULL */
const xy_heap_item_t *xy_heap_peek(const xy_heap_t *heap); /* NULL: empty */
/* Keep the items that `keep` wants; they come out in the same order. O(items). */
void xy_heap_filter(xy_heap_t *heap, bool (*keep)(const xy_heap_item_t *item));
void xy_heap_cleanup(xy_heap_t *heap);

#endif
