/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/area.h"

#include <string.h>

#include "base/base.h"

check_area_t check_area_make(const void *buffer, int64_t count, const mpi_type_t *type)
{
    check_area_t area = {.buffer = buffer, .count = count, .type = type};
    MPI_Aint first, last;

    area.low = area.high = buffer;
    if (count == 0 || type->size == 0)
        return area;
    first = type->is_contiguous ? 0 : type->true_lb;
    last = type->is_contiguous ? count * (MPI_Aint)type->size
                               : type->true_lb + type->true_extent + (count - 1) * type->extent;
    if (!type->is_contiguous && type->extent < 0) { /* elements follow each other downwards */
        first += (count - 1) * type->extent;
        last = type->true_lb + type->true_extent;
    }
    area.low = area.buffer + first;
    area.high = area.buffer + last;
    return area;
}

/* Calls that do not communicate. */
static bool is_local(const char *call)
{
    return strncmp(call, "MPI_Pack", 8) == 0 || strncmp(call, "MPI_Unpack", 10) == 0 ||
           strncmp(call, "MPI_Reduce_local", 16) == 0 || strstr(call, "ttach") != NULL;
}

const char *check_area_verb(const char *call, bool is_receive)
{
    if (strncmp(call, "MPI_File_", 9) == 0)
        return is_receive ? "reads into" : "writes from";
    if (is_local(call))
        return is_receive ? "writes to" : "reads from";
    return is_receive ? "receives into" : "sends from";
}

/* Run after run. */
typedef struct {
    mpi_cursor_t cursor;
    uint64_t left;
    const check_area_t *area;
} walk_t;

static walk_t walk_begin(const check_area_t *area)
{
    return (walk_t){.cursor = {.type = area->type, .at = (char *)(uintptr_t)area->buffer},
                    .left = area->low == area->high ? 0 : (uint64_t)area->count * area->type->size,
                    .area = area};
}

/* NULL: there are no more. */
static const char *walk_next(walk_t *walk, size_t *length_p)
{
    const char *run;

    if (walk->left == 0)
        return NULL;
    if (walk->area->type->is_contiguous) {
        *length_p = walk->left;
        walk->left = 0;
        return walk->area->low;
    }
    run = mpi_cursor_run(&walk->cursor, length_p);
    walk->left -= *length_p;
    mpi_cursor_advance(&walk->cursor, *length_p);
    return run;
}

void check_area_each(const check_area_t *area,
                     bool (*visit)(const char *run, size_t length, void *argument), void *argument)
{
    walk_t walk = walk_begin(area);
    const char *run;
    size_t length;

    while ((run = walk_next(&walk, &length)) != NULL && visit(run, length, argument))
        ;
}

/* Mark the bytes of an area between `low` and `high`, or look for one that is marked. */
static bool mark(const check_area_t *area, const char *low, const char *high, unsigned char *marks,
                 bool looks)
{
    walk_t walk = walk_begin(area);
    const char *run;
    size_t length;

    while ((run = walk_next(&walk, &length)) != NULL) {
        const char *from = run > low ? run : low, *to = run + length < high ? run + length : high;

        if (from >= to)
            continue;
        if (looks && memchr(marks + (from - low), 1, (size_t)(to - from)) != NULL)
            return true;
        if (!looks)
            memset(marks + (from - low), 1, (size_t)(to - from));
    }
    return false;
}

bool check_area_overlaps(const check_area_t *a, const check_area_t *b)
{
    const char *low = a->low > b->low ? a->low : b->low;
    const char *high = a->high < b->high ? a->high : b->high;
    unsigned char *marks;
    bool found;

    if (low >= high)
        return false;
    if (a->type->is_contiguous && b->type->is_contiguous)
        return true;
    marks = xy_calloc((size_t)(high - low), 1);
    if (marks == NULL)
        return false; /* no report is better than a wrong one */
    mark(a, low, high, marks, false);
    found = mark(b, low, high, marks, true);
    xy_free(marks);
    return found;
}

#define FACTOR 0x9e3779b97f4a7c15u

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * FACTOR;
    return hash ^ hash >> 32;
}

static inline uint64_t word_at(const char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
    return word;
}

/* Four sums at a time: one would wait for each of its multiplications. */
static uint64_t hash_long(uint64_t hash, const char *bytes, const char *end)
{
    uint64_t a = hash, b = hash + 1, c = hash + 2, d = hash + 3;

    for (; bytes < end; bytes += 32) {
        a = mix(a, word_at(bytes));
        b = mix(b, word_at(bytes + 8));
        c = mix(c, word_at(bytes + 16));
        d = mix(d, word_at(bytes + 24));
    }
    return mix(mix(mix(mix(0, a), b), c), d);
}

uint64_t check_area_hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
    const char *end = bytes + length;
    uint64_t last = 0;

    if (length >= 64) {
        hash = hash_long(hash, bytes, bytes + length / 32 * 32);
        bytes += length / 32 * 32;
    }
    for (; end - bytes >= 8; bytes += 8)
        hash = mix(hash, word_at(bytes));
    if (bytes == end)
        return hash;
    memcpy(&last, bytes, (size_t)(end - bytes));
    return mix(hash, last);
}

/* Changes on a GPU are not looked for. */
static uint64_t hash_plain(const char *bytes, size_t length)
{
    return mpi_is_on_device(bytes) ? FACTOR : check_area_hash_bytes(FACTOR, bytes, length);
}

uint64_t check_area_hash(const check_area_t *area)
{
    uint64_t hash = FACTOR;
    walk_t walk;
    const char *run;
    size_t length;

    if (area->type->is_contiguous)
        return hash_plain(area->low, (size_t)(area->high - area->low));
    if (mpi_is_on_device((const char *)area->buffer + area->type->true_lb))
        return hash;
    walk = walk_begin(area);
    while ((run = walk_next(&walk, &length)) != NULL)
        hash = check_area_hash_bytes(hash, run, length);
    return hash;
}

bool check_area_follows(const check_area_t *whole, uint64_t parts, const check_area_t *next)
{
    return whole->high == next->low && whole->type == next->type && next->type->is_contiguous &&
           (uint64_t)(whole->high - whole->low) == parts * (uint64_t)(next->high - next->low);
}

/* Parts that change places change the sum. */
static uint64_t hash_part(uint64_t number, uint64_t hash)
{
    return mix(mix(0, number), hash);
}

uint64_t check_area_hash_more(uint64_t hash, uint64_t parts, const check_area_t *next)
{
    if (parts == 1)
        hash = hash_part(0, hash);
    return hash + hash_part(parts, check_area_hash(next));
}

uint64_t check_area_hash_parts(const check_area_t *area, uint64_t parts)
{
    size_t bytes = (size_t)(area->high - area->low) / parts;
    uint64_t hash = 0;

    if (parts == 1)
        return check_area_hash(area);
    for (uint64_t i = 0; i < parts; i++)
        hash += hash_part(i, hash_plain(area->low + i * bytes, bytes));
    return hash;
}
