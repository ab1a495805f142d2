/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes made of blocks at listed places: indexed, hindexed, their *_block forms, struct.
 */
#include "base/base.h"
#include "mpi/datatype/calls.h"
#include "mpi/datatype/type_build.h"
#include "mpi/datatype/type_layout.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

/* The blocks of a constructor. Arrays of one element serve all blocks (`step` 0). */
typedef struct {
    MPI_Count n;
    const MPI_Count *lengths;
    int length_step;
    const MPI_Count *places;
    bool places_in_elements; /* else bytes */
    mpi_type_t *const *types;
    int type_step;
} blocks_t;

static MPI_Count block_length(const blocks_t *b, MPI_Count i)
{
    return b->lengths[i * b->length_step];
}

static mpi_type_t *block_type(const blocks_t *b, MPI_Count i)
{
    return b->types[i * b->type_step];
}

static MPI_Aint block_offset(const blocks_t *b, MPI_Count i)
{
    return b->places_in_elements ? b->places[i] * block_type(b, i)->extent : b->places[i];
}

/* Equal blocks at equal distances keep the loops of the old type; a list would unroll them. */
static bool is_regular(const blocks_t *b)
{
    if (b->n < 1)
        return false;
    for (MPI_Count i = 1; i < b->n; i++)
        if (block_length(b, i) != block_length(b, 0) || block_type(b, i) != block_type(b, 0) ||
            block_offset(b, i) - block_offset(b, i - 1) != block_offset(b, 1) - block_offset(b, 0))
            return false;
    return true;
}

/* Lay out blocks of one type at equal distances as loops; false without memory. */
static bool layout_regular(const blocks_t *b, mpi_layout_t *layout_p)
{
    const mpi_type_t *old = block_type(b, 0);
    MPI_Aint stride = b->n > 1 ? block_offset(b, 1) - block_offset(b, 0) : 0;
    mpi_layout_t block;
    bool done;

    if (!mpi_layout_repeat(&old->layout, block_length(b, 0), old->extent, &block))
        return false;
    done = mpi_layout_repeat(&block, b->n, stride, layout_p);
    mpi_layout_cleanup(&block);
    if (done)
        mpi_layout_shift(layout_p, block_offset(b, 0));
    return done;
}

static bool layout_list(const blocks_t *b, mpi_layout_t *layout_p)
{
    mpi_layout_list_t list = {0};

    for (MPI_Count i = 0; i < b->n; i++)
        mpi_layout_list_add(&list, &block_type(b, i)->layout, block_offset(b, i),
                            block_length(b, i), block_type(b, i)->extent);
    return mpi_layout_list_finish(&list, layout_p);
}

static void draft_blocks(mpi_draft_t *draft, const blocks_t *b)
{
    if (draft->is_failed)
        return;
    for (MPI_Count i = 0; i < b->n; i++)
        mpi_draft_add(draft, block_type(b, i), block_offset(b, i), 1, block_length(b, i), 0);
    if (draft->extent.is_too_large)
        return;
    draft->is_failed = !(is_regular(b) ? layout_regular(b, &draft->type->layout)
                                       : layout_list(b, &draft->type->layout));
}

static int check_blocks(const blocks_t *b)
{
    for (MPI_Count i = 0; i < b->n; i++) {
        if (block_length(b, i) < 0)
            return mpi_error(NULL, MPI_ERR_ARG,
                             "the length of block %lld is %lld; it must be at least 0",
                             (long long)i, (long long)block_length(b, i));
        if (!block_type(b, i))
            return mpi_error(NULL, MPI_ERR_TYPE, "the type of block %lld is not a datatype",
                             (long long)i);
    }
    return MPI_SUCCESS;
}

/* Any of the forms with one old type. The combiner says which arrays are recorded how. */
static int make_indexed(const blocks_t *blocks, bool is_large, int combiner, MPI_Datatype oldtype,
                        MPI_Datatype *newtype)
{
    mpi_type_t *old = mpi_type_of(oldtype);
    int error = mpi_type_check_make(blocks->n, old, newtype);
    blocks_t b = *blocks;
    mpi_draft_t draft;

    if (error != MPI_SUCCESS)
        return error;
    b.types = &old;
    if ((error = check_blocks(&b)) != MPI_SUCCESS)
        return error;
    mpi_draft_begin(&draft, combiner, is_large);
    mpi_draft_record_count(&draft, b.n);
    for (MPI_Count i = 0; i < (b.length_step ? b.n : 1); i++)
        mpi_draft_record_count(&draft, b.lengths[i]);
    for (MPI_Count i = 0; i < b.n; i++) {
        if (b.places_in_elements)
            mpi_draft_record_count(&draft, b.places[i]);
        else
            mpi_draft_record_aint(&draft, b.places[i]);
    }
    mpi_draft_record_type(&draft, old);
    draft_blocks(&draft, &b);
    return mpi_draft_finish(&draft, newtype);
}

static int fail_memory(void)
{
    return mpi_error(NULL, MPI_ERR_NO_MEM, "memory ran out while making a datatype");
}

/* The int forms: widen the arrays, then the same. `lengths_n` is 1 for the *_block forms; wide
 * places are used as they are. */
static int make_indexed_int(int combiner, int n, const int *lengths, int lengths_n,
                            const int *places, const MPI_Aint *wide_places, MPI_Datatype oldtype,
                            MPI_Datatype *newtype)
{
    MPI_Count *l = mpi_type_widen(lengths, lengths_n);
    MPI_Count *p = wide_places ? NULL : mpi_type_widen(places, n);
    int error;

    if (!l || (!wide_places && !p)) {
        error = fail_memory();
    } else {
        blocks_t b = {.n = n,
                      .lengths = l,
                      .length_step =
                          combiner == MPI_COMBINER_INDEXED || combiner == MPI_COMBINER_HINDEXED,
                      .places = wide_places ? (const MPI_Count *)wide_places : p,
                      .places_in_elements = !wide_places};

        error = make_indexed(&b, false, combiner, oldtype, newtype);
    }
    xy_free(l);
    xy_free(p);
    return error;
}
_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "arrays of the two are interchangeable");

int impl_type_indexed(int count, const int array_of_blocklengths[],
                      const int array_of_displacements[], MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    return make_indexed_int(MPI_COMBINER_INDEXED, count, array_of_blocklengths, count,
                            array_of_displacements, NULL, oldtype, newtype);
}

int impl_type_create_hindexed(int count, const int array_of_blocklengths[],
                              const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    return make_indexed_int(MPI_COMBINER_HINDEXED, count, array_of_blocklengths, count, NULL,
                            count > 0 ? array_of_displacements : (const MPI_Aint[]){0}, oldtype,
                            newtype);
}

int impl_type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
                                   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return make_indexed_int(MPI_COMBINER_INDEXED_BLOCK, count, &blocklength, 1,
                            array_of_displacements, NULL, oldtype, newtype);
}

int impl_type_create_hindexed_block(int count, int blocklength,
                                    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype *newtype)
{
    return make_indexed_int(MPI_COMBINER_HINDEXED_BLOCK, count, &blocklength, 1, NULL,
                            count > 0 ? array_of_displacements : (const MPI_Aint[]){0}, oldtype,
                            newtype);
}

int impl_type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                        const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                        MPI_Datatype *newtype)
{
    blocks_t b = {.n = count,
                  .lengths = array_of_blocklengths,
                  .length_step = 1,
                  .places = array_of_displacements,
                  .places_in_elements = true};

    return make_indexed(&b, true, MPI_COMBINER_INDEXED, oldtype, newtype);
}

int impl_type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                                const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    blocks_t b = {.n = count,
                  .lengths = array_of_blocklengths,
                  .length_step = 1,
                  .places = array_of_displacements};

    return make_indexed(&b, true, MPI_COMBINER_HINDEXED, oldtype, newtype);
}

int impl_type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
                                     const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                     MPI_Datatype *newtype)
{
    blocks_t b = {.n = count,
                  .lengths = &blocklength,
                  .places = array_of_displacements,
                  .places_in_elements = true};

    return make_indexed(&b, true, MPI_COMBINER_INDEXED_BLOCK, oldtype, newtype);
}

int impl_type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
                                      const MPI_Count array_of_displacements[],
                                      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    blocks_t b = {.n = count, .lengths = &blocklength, .places = array_of_displacements};

    return make_indexed(&b, true, MPI_COMBINER_HINDEXED_BLOCK, oldtype, newtype);
}

/* ---- Struct ------------------------------------------------------------------------------ */

/* Record the arguments of a struct and make the datatype. */
static int draft_struct(const blocks_t *b, bool is_large, MPI_Datatype *newtype)
{
    mpi_draft_t draft;

    mpi_draft_begin(&draft, MPI_COMBINER_STRUCT, is_large);
    mpi_draft_record_count(&draft, b->n);
    for (MPI_Count i = 0; i < b->n; i++)
        mpi_draft_record_count(&draft, b->lengths[i]);
    for (MPI_Count i = 0; i < b->n; i++)
        mpi_draft_record_aint(&draft, b->places[i]);
    for (MPI_Count i = 0; i < b->n; i++)
        mpi_draft_record_type(&draft, b->types[i]);
    draft_blocks(&draft, b);
    return mpi_draft_finish(&draft, newtype);
}

/* Check the arguments of a struct and make the datatype; returns an MPI error code. */
static int make_struct(bool is_large, MPI_Count n, const MPI_Count *lengths,
                       const MPI_Count *places, const MPI_Datatype *handles, MPI_Datatype *newtype)
{
    int error = mpi_type_check_make(n, mpi_type_of(MPI_BYTE), newtype);
    blocks_t b = {.n = n, .lengths = lengths, .length_step = 1, .places = places, .type_step = 1};
    mpi_type_t **types;

    if (error != MPI_SUCCESS)
        return error;
    types = xy_malloc((size_t)(n > 0 ? n : 1) * sizeof *types);
    if (!types)
        return fail_memory();
    for (MPI_Count i = 0; i < n; i++)
        types[i] = mpi_type_of(handles[i]);
    b.types = types;
    error = check_blocks(&b);
    if (error == MPI_SUCCESS)
        error = draft_struct(&b, is_large, newtype);
    xy_free(types);
    return error;
}

int impl_type_create_struct(int n, const int *lengths, const MPI_Aint *places,
                            const MPI_Datatype *handles, MPI_Datatype *newtype)
{
    MPI_Count *wide = mpi_type_widen(lengths, n);
    int error;

    if (!wide)
        return fail_memory();
    error = make_struct(false, n, wide, (const MPI_Count *)places, handles, newtype);
    xy_free(wide);
    return error;
}

int impl_type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                              const MPI_Count array_of_displacements[],
                              const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    return make_struct(true, count, array_of_blocklengths, array_of_displacements, array_of_types,
                       newtype);
}
