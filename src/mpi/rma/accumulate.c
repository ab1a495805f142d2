/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Accumulate and its family on data of any layout: the elements of the target are visited where
 * they are, those of the origin and of the result go through a small buffer unless they already lie
 * one behind the other.
 */
#include "mpi/rma/accumulate.h"

#include <string.h>

enum { STAGE = 4096, TURN = 64 << 10, DEVICE_TURN = 16 << 20 };

/* Elements of the origin or of the result, some at a time. */
typedef struct {
    const rma_side_t *side; /* NULL: there is none */
    const mpi_type_t *element;
    bool is_direct; /* they lie in memory as the loops want them */
    _Alignas(16) char stage[STAGE];
} window_t;

/* One extent of the element apart, from the address on. */
static bool is_array(const rma_side_t *side, const mpi_type_t *element)
{
    return side->type->is_predefined || (side->type->is_contiguous && element->is_contiguous);
}

static bool is_on_device(const rma_side_t *side)
{
    return side != NULL && side->bytes > 0 && mpi_is_on_device(side->address + side->type->true_lb);
}

/* `has_device`: the target is memory of a GPU, and updated by what reaches others of a GPU. */
static void open_window(window_t *w, const rma_side_t *side, const mpi_type_t *element,
                        bool has_device)
{
    w->side = side;
    w->element = element;
    w->is_direct = side == NULL ||
                   (is_array(side, element) && (uintptr_t)side->address % element->align == 0 &&
                    (has_device || !is_on_device(side)));
}

/* Where elements from `first` on are, or are to be put. */
static char *place(window_t *w, size_t first)
{
    if (w->side == NULL)
        return NULL;
    return w->is_direct ? w->side->address + first * (size_t)w->element->extent : w->stage;
}

/* `n` elements from `first` on come into the stage, and go from there. Packed, pairs have no
 * padding. */
static void load(window_t *w, size_t first, size_t n)
{
    size_t size = w->element->size;
    char packed[STAGE];

    if (w->is_direct)
        return;
    if (w->element->is_contiguous) {
        mpi_type_pack(w->stage, w->side->address, w->side->count, w->side->type, first * size,
                      n * size);
        return;
    }
    mpi_type_pack(packed, w->side->address, w->side->count, w->side->type, first * size, n * size);
    mpi_type_unpack(w->stage, (int64_t)n, w->element, packed, 0, n * size);
}

/* Write staged elements back to the memory of their side. */
static void store(window_t *w, size_t first, size_t n)
{
    size_t size = w->element->size;
    char packed[STAGE];

    if (w->is_direct)
        return;
    if (w->element->is_contiguous) {
        mpi_type_unpack(w->side->address, w->side->count, w->side->type, w->stage, first * size,
                        n * size);
        return;
    }
    mpi_type_pack(packed, w->stage, (int64_t)n, w->element, 0, n * size);
    mpi_type_unpack(w->side->address, w->side->count, w->side->type, packed, first * size,
                    n * size);
}

/* The next elements of the target that lie one extent apart, at most `n`. */
static char *next_run(mpi_cursor_t *c, const mpi_type_t *element, size_t n, size_t *run_p)
{
    size_t length, left;
    char *at = mpi_cursor_run(c, &length);

    if (element->is_contiguous) {
        *run_p = length / element->size < n ? length / element->size : n;
        mpi_cursor_advance(c, *run_p * element->size);
        return at;
    }
    *run_p = 1; /* a pair, perhaps in two runs */
    for (left = element->size; left > 0; left -= length) {
        mpi_cursor_run(c, &length);
        length = length < left ? length : left;
        mpi_cursor_advance(c, length);
    }
    return at;
}

/* Elements from `first` on of a target whose elements are an array; or those at the cursor. */
static void update_target(const rma_update_t *u, const rma_side_t *target, mpi_cursor_t *c,
                          size_t first, const char *origin, char *result, size_t n)
{
    size_t extent = (size_t)u->type->extent, run;

    if (is_array(target, u->type)) {
        rma_update(u, target->address + first * extent, origin, result, n);
        return;
    }
    for (; n > 0; n -= run) {
        char *at = next_run(c, u->type, n, &run);

        rma_update(u, at, origin, result, run);
        if (origin != NULL)
            origin += run * extent;
        if (result != NULL)
            result += run * extent;
    }
}

/* A long update gives others a turn from time to time. */
static __attribute__((noinline)) void accumulate_many(const rma_update_t *update,
                                                      const rma_side_t *target,
                                                      const rma_side_t *origin,
                                                      const rma_side_t *result)
{
    rma_update_t u = *update;
    size_t left = target->bytes / u.type->size, most = TURN / (size_t)u.type->extent, first = 0;
    mpi_cursor_t cursor = {.type = target->type, .at = target->address};
    bool has_device = is_on_device(target);
    window_t in, out;

    open_window(&in, origin, u.type, has_device);
    open_window(&out, result, u.type, has_device);
    if (!in.is_direct || !out.is_direct)
        most = STAGE / (size_t)u.type->extent;
    else if (has_device)
        most = DEVICE_TURN / (size_t)u.type->extent;
    while (left > 0) {
        size_t n = left < most ? left : most;
        bool is_long;

        load(&in, first, n);
        is_long = !has_device && rma_long_begin(&u, n);
        update_target(&u, target, &cursor, first, place(&in, first), place(&out, first), n);
        if (is_long)
            rma_long_end(&u);
        store(&out, first, n);
        first += n;
        left -= n;
    }
}

/* Byte `first` of the data. */
static void seek(mpi_cursor_t *c, size_t first)
{
    const mpi_layout_t *l = &c->type->layout;

    c->at += (MPI_Aint)(first / c->type->size) * c->type->extent;
    first %= c->type->size;
    for (int level = 0; level < l->depth; level++) {
        c->index[level] = (int64_t)(first / l->loops[level].size);
        c->at += c->index[level] * l->loops[level].stride;
        first %= l->loops[level].size;
    }
    while (l->block[c->block].before + l->block[c->block].length <= first)
        c->block++;
    c->done = first - l->block[c->block].before;
}

void rma_accumulate_part(const rma_update_t *update, const rma_side_t *target, size_t first,
                         size_t n, const char *origin, char *result)
{
    rma_update_t u = *update;
    mpi_cursor_t cursor = {.type = target->type, .at = target->address};
    bool is_long;

    if (!is_array(target, u.type))
        seek(&cursor, first * u.type->size);
    is_long = rma_long_begin(&u, n);
    update_target(&u, target, &cursor, first, origin, result, n);
    if (is_long)
        rma_long_end(&u);
}

/* One element, which lies as the loops want it; the target, or one that an atomic instruction
 * updates: anywhere. */
static bool is_one(const rma_update_t *u, const rma_side_t *side, bool is_anywhere)
{
    return side == NULL || (side->type->is_predefined && side->bytes == u->type->size &&
                            (is_anywhere || (uintptr_t)side->address % u->type->align == 0));
}

void rma_accumulate(const rma_update_t *update, const rma_side_t *target, const rma_side_t *origin,
                    const rma_side_t *result)
{
    bool is_atomic = rma_is_atomic(update->type, target->address);

    if (!is_on_device(origin) && !is_on_device(result) && is_one(update, target, true) &&
        is_one(update, origin, is_atomic) && is_one(update, result, is_atomic))
        rma_update(update, target->address, origin != NULL ? origin->address : NULL,
                   result != NULL ? result->address : NULL, 1);
    else
        accumulate_many(update, target, origin, result);
}
