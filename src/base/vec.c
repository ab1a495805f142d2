/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/vec.h"

#include <string.h>

#include "base/memory.h"

enum { FIRST_CAPACITY = 8 };

xy_status_t xy_vec_reserve(xy_vec_t *vec, size_t capacity)
{
    void *data;

    if (capacity <= vec->capacity)
        return XY_OK;
    data = xy_realloc_array(vec->data, capacity, vec->size);
    if (data == NULL)
        return XY_ENOMEM;
    vec->data = data;
    vec->capacity = capacity;
    return XY_OK;
}

/* Doubling keeps a series of pushes linear; a large request gets exactly what it asks for. */
static xy_status_t make_room(xy_vec_t *vec, size_t more)
{
    size_t need, doubled;

    if (__builtin_add_overflow(vec->count, more, &need))
        return XY_ENOMEM;
    if (need <= vec->capacity)
        return XY_OK;
    if (__builtin_mul_overflow(vec->capacity, 2, &doubled))
        return XY_ENOMEM;
    if (doubled < FIRST_CAPACITY)
        doubled = FIRST_CAPACITY;
    return xy_vec_reserve(vec, need > doubled ? need : doubled);
}

void *xy_vec_push_many(xy_vec_t *vec, size_t count)
{
    char *first;

    /* Also an empty push answers with a pointer, so that NULL means one thing. */
    if (make_room(vec, count > 0 ? count : 1) != XY_OK)
        return NULL;
    first = (char *)vec->data + vec->count * vec->size;
    memset(first, 0, count * vec->size);
    vec->count += count;
    return first;
}

void *xy_vec_push(xy_vec_t *vec)
{
    return xy_vec_push_many(vec, 1);
}

xy_status_t xy_vec_append(xy_vec_t *vec, const void *element)
{
    if (make_room(vec, 1) != XY_OK)
        return XY_ENOMEM;
    memcpy((char *)vec->data + vec->count * vec->size, element, vec->size);
    vec->count++;
    return XY_OK;
}

void xy_vec_pop(xy_vec_t *vec)
{
    vec->count--;
}

void *xy_vec_take(xy_vec_t *vec)
{
    void *data = vec->data;

    vec->data = NULL;
    vec->count = 0;
    vec->capacity = 0;
    return data;
}

void xy_vec_cleanup(xy_vec_t *vec)
{
    xy_free(xy_vec_take(vec));
}
