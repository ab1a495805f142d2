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
    draft->type->align = 1;
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

/* Only bounds given by MPI_Type_create_resized are collected; once there is one, it outweighs what
 * follows from the data. Without one the data decides, in settle_bounds. */
static void add_bounds(mpi_draft_t *draft, const mpi_type_t *old, MPI_Aint low, MPI_Aint high)
{
    mpi_type_t *t = draft->type;
    MPI_Aint lb = low + old->lb, ub = high + old->lb + old->extent;
    MPI_Aint true_lb = low + old->true_lb, true_ub = high + old->true_lb + old->true_extent;

    if (old->is_lb_set && (!t->is_lb_set || lb < t->lb)) {
        t->lb = lb;
        t->is_lb_set = true;
    }
    if (old->is_ub_set && (!t->is_ub_set || ub > draft->ub)) {
        draft->ub = ub;
        t->is_ub_set = true;
    }
    if (old->size == 0)
        return;
    if (!draft->has_data || true_lb < t->true_lb)
        t->true_lb = true_lb;
    if (!draft->has_data || true_ub > draft->true_ub)
        draft->true_ub = true_ub;
    draft->has_data = true;
}

void mpi_draft_add(mpi_draft_t *draft, const mpi_type_t *old, MPI_Aint low, MPI_Aint high,
                   int64_t times)
{
    mpi_type_t *t = draft->type;
    size_t bytes, elements;

    if (draft->is_failed || times == 0)
        return;
    if (old->elements == 0 && !old->is_lb_set && !old->is_ub_set)
        return; /* an empty type map adds nothing, not even bounds */
    add_bounds(draft, old, low, high);
    if (__builtin_mul_overflow(old->size, (size_t)times, &bytes) ||
        __builtin_add_overflow(t->size, bytes, &t->size) || t->size > (size_t)INT64_MAX)
        draft->is_too_large = true;
    elements = old->elements * (size_t)times;
    t->basic = t->elements == 0 || t->basic == old->basic ? old->basic : XMPI_BASIC_NONE;
    if (t->elements == 0)
        t->signature = old->signature;
    else if (!mpi_signatures_are_equal(t->signature, old->signature))
        draft->is_mixed = true;
    t->elements += elements;
    t->align = old->align > t->align ? old->align : t->align;
}

void mpi_draft_set_bounds(mpi_draft_t *draft, MPI_Aint lb, MPI_Aint extent)
{
    if (draft->is_failed)
        return;
    draft->type->lb = lb;
    draft->ub = lb + extent;
    draft->type->is_lb_set = draft->type->is_ub_set = true;
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

/* Without an explicit upper bound the extent is rounded up to the alignment of the strictest
 * element, so that an array of the type has the layout a C compiler gives an array of structs. */
static void settle_bounds(mpi_draft_t *draft)
{
    mpi_type_t *t = draft->type;
    MPI_Aint over;

    if (!t->is_lb_set)
        t->lb = t->true_lb;
    t->extent = (t->is_ub_set ? draft->ub : draft->true_ub) - t->lb;
    t->true_extent = draft->true_ub - t->true_lb;
    over = t->extent % t->align;
    if (!t->is_ub_set && over > 0)
        t->extent += t->align - over;
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
    if (draft->is_failed || draft->is_too_large) {
        if (draft->type)
            mpi_type_destroy(draft->type);
        if (draft->is_too_large)
            return mpi_error(NULL, MPI_ERR_VALUE_TOO_LARGE,
                             "the datatype would describe more than 2^63 bytes");
        return mpi_error(NULL, MPI_ERR_NO_MEM, "memory ran out while making a datatype");
    }
    settle_bounds(draft);
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
