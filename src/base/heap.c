/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/heap.h"

#include "base/memory.h"

enum { FIRST_CAPACITY = 16 };

static bool before(const xy_heap_item_t *a, const xy_heap_item_t *b)
{
    return a->key < b->key || (a->key == b->key && a->order < b->order);
}

static xy_status_t grow(xy_heap_t *heap)
{
    size_t capacity = heap->capacity == 0 ? FIRST_CAPACITY : heap->capacity * 2;
    xy_heap_item_t *items = xy_realloc_array(heap->items, capacity, sizeof(*items));

    if (items == NULL)
        return XY_ENOMEM;
    heap->items = items;
    heap->capacity = capacity;
    return XY_OK;
}

xy_status_t xy_heap_push(xy_heap_t *heap, double key, void *value)
{
    xy_heap_item_t item = {.key = key, .order = heap->pushed, .value = value};
    size_t i, parent;

    if (heap->count == heap->capacity && grow(heap) != XY_OK)
        return XY_ENOMEM;
    heap->pushed++;
    for (i = heap->count++; i > 0; i = parent) {
        parent = (i - 1) / 2;
        if (!before(&item, &heap->items[parent]))
            break;
        heap->items[i] = heap->items[parent];
    }
    heap->items[i] = item;
    return XY_OK;
}

/* Put `item` into the hole at `i`: smaller children move up until it fits. */
static inline void sink(xy_heap_t *heap, size_t i, xy_heap_item_t item)
{
    size_t child;

    while ((child = 2 * i + 1) < heap->count) {
        if (child + 1 < heap->count && before(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (!before(&heap->items[child], &item))
            break;
        heap->items[i] = heap->items[child];
        i = child;
    }
    heap->items[i] = item;
}

void *xy_heap_pop(xy_heap_t *heap, double *key_p)
{
    xy_heap_item_t top;

    if (heap->count == 0)
        return NULL;
    top = heap->items[0];
    heap->count--;
    if (heap->count > 0)
        sink(heap, 0, heap->items[heap->count]);
    if (key_p != NULL)
        *key_p = top.key;
    return top.value;
}

const xy_heap_item_t *xy_heap_peek(const xy_heap_t *heap)
{
    return heap->count == 0 ? NULL : &heap->items[0];
}

void xy_heap_filter(xy_heap_t *heap, bool (*keep)(const xy_heap_item_t *item))
{
    size_t kept = 0;

    for (size_t i = 0; i < heap->count; i++)
        if (keep(&heap->items[i]))
            heap->items[kept++] = heap->items[i];
    heap->count = kept;
    for (size_t i = kept / 2; i-- > 0;)
        sink(heap, i, heap->items[i]);
}

void xy_heap_cleanup(xy_heap_t *heap)
{
    xy_free(heap->items);
    *heap = XY_HEAP_INIT;
}
