/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes, bounds and alignments of datatypes. */
#include "arith/arith.h"

#define TYPE(id, ctype, bytes, count, end)                                                         \
    [(uintptr_t)(MPI_##id) - XY_TYPE_FIRST] = {.size = (bytes),                                    \
                                               .elements = (count),                                \
                                               .ub = (int64_t)sizeof(ctype),                       \
                                               .true_ub = (int64_t)(end),                          \
                                               .align = _Alignof(ctype)},
#define BASIC(id, ctype, kind) TYPE(id, ctype, sizeof(ctype), 1, sizeof(ctype))
#define PAIR(id, pair, kind)                                                                       \
    TYPE(id, pair, XY_PAIR_SIZE(pair), 2, offsetof(pair, i) + sizeof(((pair *)0)->i))

const xy_extent_t xy_type_extents[XY_TYPES] = {XY_PREDEFINED_TYPES(BASIC, BASIC, PAIR)};

/* Only explicit bounds are collected; once there is one, it outweighs the data. Without one the
 * data decides, in xy_extent_settle. */
static void add_bounds(xy_extent_t *e, const xy_extent_t *part)
{
    if (part->is_lb_set && (!e->is_lb_set || part->lb < e->lb))
        e->lb = part->lb;
    if (part->is_ub_set && (!e->is_ub_set || part->ub > e->ub))
        e->ub = part->ub;
    e->is_lb_set |= part->is_lb_set;
    e->is_ub_set |= part->is_ub_set;
    if (part->size == 0)
        return;
    if (e->size == 0 || part->true_lb < e->true_lb)
        e->true_lb = part->true_lb;
    if (e->size == 0 || part->true_ub > e->true_ub)
        e->true_ub = part->true_ub;
}

/* The distance of the last of `count` items to the first; false: it leaves the range. */
static bool reach(int64_t count, int64_t stride, int64_t *low, int64_t *high)
{
    int64_t distance;

    return !__builtin_mul_overflow(stride, count - 1, &distance) &&
           !__builtin_add_overflow(distance < 0 ? *low : *high, distance,
                                   distance < 0 ? low : high);
}

void xy_extent_add(xy_extent_t *e, const xy_extent_t *old, int64_t at, int64_t count,
                   int64_t length, int64_t stride)
{
    int64_t low = at, high = at, times;
    xy_extent_t part = *old; /* all of it: from the lowest to the highest */
    uint64_t bytes;

    if (count == 0 || length == 0 || (old->elements == 0 && !old->is_lb_set && !old->is_ub_set))
        return; /* an empty type map adds nothing, not even bounds */
    if (__builtin_mul_overflow(count, length, &times) || !reach(count, stride, &low, &high) ||
        !reach(length, old->ub - old->lb, &low, &high) ||
        __builtin_add_overflow(low, old->lb, &part.lb) ||
        __builtin_add_overflow(high, old->ub, &part.ub) ||
        __builtin_add_overflow(low, old->true_lb, &part.true_lb) ||
        __builtin_add_overflow(high, old->true_ub, &part.true_ub) ||
        __builtin_mul_overflow(old->size, (uint64_t)times, &bytes) ||
        __builtin_add_overflow(e->size, bytes, &bytes) || bytes > INT64_MAX) {
        e->is_too_large = true;
        return;
    }
    add_bounds(e, &part);
    e->size = bytes;
    e->elements += old->elements * (uint64_t)times;
    e->align = old->align > e->align ? old->align : e->align;
}

void xy_extent_set(xy_extent_t *e, int64_t lb, int64_t extent)
{
    e->lb = lb;
    e->ub = lb + extent;
    e->is_lb_set = e->is_ub_set = true;
}

void xy_extent_wrap(xy_extent_t *e, int64_t size, int64_t start, int64_t n, int64_t length,
                    int64_t step)
{
    int64_t stride = e->ub - e->lb, whole = n / length, extent;
    xy_extent_t next = {.is_too_large = e->is_too_large};

    if (__builtin_mul_overflow(stride, size, &extent)) {
        e->is_too_large = true;
        return;
    }
    if (whole > 0)
        xy_extent_add(&next, e, start * stride, whole, length, step * stride);
    if (n % length > 0)
        xy_extent_add(&next, e, (start + whole * step) * stride, 1, n % length, 0);
    xy_extent_set(&next, 0, extent);
    *e = next;
}

int xy_subarray_bad(int ndims, const int64_t *sizes, const int64_t *subsizes, const int64_t *starts)
{
    for (int d = 0; d < ndims; d++)
        if (sizes[d] < 1 || subsizes[d] < 1 || subsizes[d] > sizes[d] || starts[d] < 0 ||
            starts[d] > sizes[d] - subsizes[d])
            return d;
    return -1;
}

void xy_extent_settle(xy_extent_t *e)
{
    int64_t over;

    if (!e->is_lb_set)
        e->lb = e->true_lb;
    if (!e->is_ub_set)
        e->ub = e->true_ub;
    over = e->align > 0 ? (e->ub - e->lb) % e->align : 0;
    if (!e->is_ub_set && over > 0)
        e->ub += e->align - over;
}
