/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/datatype/type_build.h"

#include <string.h>

#include "base/base.h"
#include "mpi/datatype/type_layout.h"
#include "mpi/object/object.h"

void mpi_draft_begin(mpi_draft_t *draft, int combiner, bool is_large)
{
    *draft = (mpi_draft_t){.is_large = is_large};
    draft->type = xy_calloc(1, sizeof *draft->type);
    if (!draft->type) {
        draft->is_failed = true;
        return;
    }
    draft->type->contents.combiner = combiner;
    draft->type->handle = (MPI_Datatype)(void *)draft->type;
    draft->type->handles = 1;
    mpi_life_begin(&draft->type->life, XMPI_LIFE_TYPE);
    atomic_init(&draft->type->references, 1);
}

/* Room for one more in an array; false when there is none. */
static bool grow(mpi_draft_t *draft, void **array, size_t n, size_t *room, size_t size)
{
    size_t wanted = *room ? 2 * *room : 4;
    void *p;

    if (draft->is_failed)
        return false;
    if (n < *room)
        return true;
    p = xy_realloc_array(*array, wanted, size);
    if (!p) {
        draft->is_failed = true;
        return false;
    }
    *array = p;
    *room = wanted;
    return true;
}

void mpi_draft_record_int(mpi_draft_t *draft, int value)
{
    mpi_contents_t *c = draft->is_failed ? NULL : &draft->type->contents;

    if (c && grow(draft, (void **)&c->an_int, c->ints, &draft->ints_room, sizeof value))
        c->an_int[c->ints++] = value;
}

static void record_large(mpi_draft_t *draft, MPI_Count value)
{
    mpi_contents_t *c = draft->is_failed ? NULL : &draft->type->contents;

    if (c && grow(draft, (void **)&c->a_count, c->counts, &draft->counts_room, sizeof value))
        c->a_count[c->counts++] = value;
}

void mpi_draft_record_count(mpi_draft_t *draft, MPI_Count value)
{
    if (draft->is_large)
        record_large(draft, value);
    else
        mpi_draft_record_int(draft, (int)value);
}

void mpi_draft_record_aint(mpi_draft_t *draft, MPI_Aint value)
{
    mpi_contents_t *c = draft->is_failed ? NULL : &draft->type->contents;

    if (draft->is_large)
        record_large(draft, value);
    else if (c && grow(draft, (void **)&c->an_aint, c->aints, &draft->aints_room, sizeof value))
        c->an_aint[c->aints++] = value;
}

void mpi_draft_record_type(mpi_draft_t *draft, mpi_type_t *type)
{
    mpi_contents_t *c = draft->is_failed ? NULL : &draft->type->contents;

    if (!c || !grow(draft, (void **)&c->a_type, c->types, &draft->types_room, sizeof *c->a_type))
        return;
    mpi_type_hold(type);
    c->a_type[c->types++] = type->handle;
}

/* ---- Bounds -------------------------------------------------------------------------- */

xy_extent_t mpi_type_bounds(const mpi_type_t *type)
{
    return (xy_extent_t){.size = type->size,
                         .elements = type->elements,
                         .lb = type->lb,
                         .ub = type->lb + type->extent,
                         .true_lb = type->true_lb,
                         .true_ub = type->true_lb + type->true_extent,
                         .align = type->align,
                         .is_lb_set = type->is_lb_set,
                         .is_ub_set = type->is_ub_set};
}

/* The elements of `old` follow those of the parts before, if there are any. */
static void add_kind(mpi_draft_t *draft, const mpi_type_t *old, bool is_first)
{
    mpi_type_t *t = draft->type;

    t->basic = is_first || t->basic == old->basic ? old->basic : XMPI_BASIC_NONE;
    if (is_first)
        t->signature = old->signature;
    else if (!mpi_signatures_are_equal(t->signature, old->signature))
        draft->is_mixed = true;
}

void mpi_draft_add(mpi_draft_t *draft, const mpi_type_t *old, MPI_Aint at, int64_t count,
                   int64_t length, MPI_Aint stride)
{
    xy_extent_t part = mpi_type_bounds(old);
    uint64_t before = draft->extent.elements;

    if (draft->is_failed)
        return;
    xy_extent_add(&draft->extent, &part, at, count, length, stride);
    if (draft->extent.elements > before)
        add_kind(draft, old, before == 0);
}

void mpi_draft_set_extent(mpi_draft_t *draft, const mpi_type_t *old, const xy_extent_t *extent)
{
    if (draft->is_failed)
        return;
    draft->extent = *extent;
    if (extent->elements > 0)
        add_kind(draft, old, true);
}

/* ---- The end ----------------------------------------------------------------------------- */

void mpi_type_destroy(mpi_type_t *type)
{
    mpi_contents_t *c = &type->contents;

    for (size_t i = 0; i < c->types; i++)
        mpi_type_release(mpi_type_held(c->a_type[i]));
    xy_free(c->an_int);
    xy_free(c->an_aint);
    xy_free(c->a_count);
    xy_free(c->a_type);
    mpi_layout_cleanup(&type->layout);
    mpi_life_bury(type);
}

/* The type gets the size and the bounds of the draft. */
static void settle(mpi_draft_t *draft)
{
    mpi_type_t *t = draft->type;
    xy_extent_t *e = &draft->extent;

    xy_extent_settle(e);
    t->size = e->size;
    t->elements = e->elements;
    t->lb = e->lb;
    t->extent = e->ub - e->lb;
    t->true_lb = e->true_lb;
    t->true_extent = e->true_ub - e->true_lb;
    t->align = e->align > 0 ? e->align : 1;
    t->is_lb_set = e->is_lb_set;
    t->is_ub_set = e->is_ub_set;
}

static bool is_contiguous(const mpi_type_t *t)
{
    const mpi_layout_t *l = &t->layout;

    if (t->size == 0)
        return true;
    return l->depth == 0 && l->blocks == 1 && l->block->offset == 0 &&
           t->extent == (MPI_Aint)t->size;
}

int mpi_draft_finish(mpi_draft_t *draft, MPI_Datatype *newtype)
{
    if (draft->is_failed || draft->extent.is_too_large) {
        if (draft->type)
            mpi_type_destroy(draft->type);
        if (draft->extent.is_too_large)
            return mpi_error(NULL, MPI_ERR_VALUE_TOO_LARGE,
                             "the datatype would describe more than 2^63 bytes");
        return mpi_error(NULL, MPI_ERR_NO_MEM, "memory ran out while making a datatype");
    }
    settle(draft);
    if (draft->is_mixed)
        draft->type->signature = mpi_signature_of_parts(draft->type);
    draft->type->is_contiguous = is_contiguous(draft->type);
    *newtype = draft->type->handle;
    return MPI_SUCCESS;
}

int mpi_type_check_make(MPI_Count count, const mpi_type_t *old, const MPI_Datatype *newtype)
{
    if (count < 0)
        return mpi_error(NULL, MPI_ERR_COUNT, "the count is %lld; it must not be negative",
                         (long long)count);
    if (!old)
        return mpi_error(NULL, MPI_ERR_TYPE, "the old datatype is not a datatype");
    if (!newtype)
        return mpi_error(NULL, MPI_ERR_ARG, "the address for the new datatype is NULL");
    return MPI_SUCCESS;
}

MPI_Count *mpi_type_widen(const int *values, MPI_Count n)
{
    MPI_Count *wide = xy_malloc((size_t)(n > 0 ? n : 1) * sizeof *wide);

    for (MPI_Count i = 0; wide && i < n; i++)
        wide[i] = values[i];
    return wide;
}
