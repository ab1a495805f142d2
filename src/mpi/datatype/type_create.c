/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes that repeat one other regularly: contiguous, vector, resized, dup; commit and free.
 */
#include "base/base.h"
#include "mpi/datatype/calls.h"
#include "mpi/datatype/type_build.h"
#include "mpi/datatype/type_layout.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

/* `count` blocks of `length` elements, `stride` bytes apart. */
static void draft_vector(mpi_draft_t *draft, const mpi_type_t *old, int64_t count, int64_t length,
                         MPI_Aint stride)
{
    mpi_layout_t block;

    mpi_draft_add(draft, old, 0, count, length, stride);
    if (draft->is_failed || draft->extent.is_too_large)
        return;
    if (!mpi_layout_repeat(&old->layout, length, old->extent, &block)) {
        draft->is_failed = true;
        return;
    }
    draft->is_failed = !mpi_layout_repeat(&block, count, stride, &draft->type->layout);
    mpi_layout_cleanup(&block);
}

/* Make a contiguous datatype; returns an MPI error code. */
int part_type_contiguous(bool is_large, MPI_Count count, MPI_Datatype oldtype,
                         MPI_Datatype *newtype)
{
    mpi_type_t *old = mpi_type_of(oldtype);
    int error = mpi_type_check_make(count, old, newtype);
    mpi_draft_t draft;

    if (error != MPI_SUCCESS)
        return error;
    mpi_draft_begin(&draft, MPI_COMBINER_CONTIGUOUS, is_large);
    mpi_draft_record_count(&draft, count);
    mpi_draft_record_type(&draft, old);
    draft_vector(&draft, old, 1, count, 0);
    return mpi_draft_finish(&draft, newtype);
}

/* The stride is in bytes for MPI_COMBINER_HVECTOR, in elements for MPI_COMBINER_VECTOR. */
int part_type_vector(bool is_large, int combiner, MPI_Count count, MPI_Count length,
                     MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    mpi_type_t *old = mpi_type_of(oldtype);
    int error = mpi_type_check_make(count, old, newtype);
    MPI_Aint bytes = stride;
    mpi_draft_t draft;

    if (error != MPI_SUCCESS)
        return error;
    if (length < 0)
        return mpi_error(NULL, MPI_ERR_ARG, "the block length is %lld; it must be at least 0",
                         (long long)length);
    mpi_draft_begin(&draft, combiner, is_large);
    mpi_draft_record_count(&draft, count);
    mpi_draft_record_count(&draft, length);
    if (combiner == MPI_COMBINER_VECTOR) {
        mpi_draft_record_count(&draft, stride);
        draft.extent.is_too_large = __builtin_mul_overflow(stride, old->extent, &bytes);
    } else {
        mpi_draft_record_aint(&draft, stride);
    }
    mpi_draft_record_type(&draft, old);
    draft_vector(&draft, old, count, length, bytes);
    return mpi_draft_finish(&draft, newtype);
}

/* Make a datatype with other bounds; returns an MPI error code. */
int part_type_resized(bool is_large, MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
                      MPI_Datatype *newtype)
{
    mpi_type_t *old = mpi_type_of(oldtype);
    int error = mpi_type_check_make(0, old, newtype);
    mpi_draft_t draft;

    if (error != MPI_SUCCESS)
        return error;
    mpi_draft_begin(&draft, MPI_COMBINER_RESIZED, is_large);
    mpi_draft_record_aint(&draft, lb);
    mpi_draft_record_aint(&draft, extent);
    mpi_draft_record_type(&draft, old);
    draft_vector(&draft, old, 1, 1, 0);
    xy_extent_set(&draft.extent, lb, extent);
    return mpi_draft_finish(&draft, newtype);
}

int impl_type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    mpi_type_t *old = mpi_type_of(oldtype);
    int error = mpi_type_check_make(0, old, newtype);
    MPI_Datatype dup;
    mpi_draft_t draft;

    if (error != MPI_SUCCESS)
        return error;
    mpi_draft_begin(&draft, MPI_COMBINER_DUP, false);
    mpi_draft_record_type(&draft, old);
    draft_vector(&draft, old, 1, 1, 0);
    error = mpi_draft_finish(&draft, &dup);
    if (error != MPI_SUCCESS)
        return error;
    draft.type->is_committed = old->is_committed;
    draft.type->most_received = old->most_received;
    error = mpi_attributes_copy(XMPI_ATTR_TYPE, oldtype, mpi_attributes_of_type(old),
                                &draft.type->attributes);
    if (error != MPI_SUCCESS) {
        mpi_type_release(draft.type);
        return mpi_error(NULL, error, "an attribute could not be copied");
    }
    *newtype = dup;
    return MPI_SUCCESS;
}

int impl_type_commit(MPI_Datatype *datatype)
{
    mpi_type_t *type = datatype ? mpi_type_of(*datatype) : NULL;

    if (!type)
        return mpi_error(NULL, MPI_ERR_TYPE, "this is not a datatype");
    if (!type->is_predefined && !type->is_committed) {
        type->most_received = mpi_type_count_disjoint(type);
        type->is_committed = true;
    }
    return MPI_SUCCESS;
}

int impl_type_free(MPI_Datatype *datatype)
{
    mpi_type_t *type = datatype ? mpi_type_of(*datatype) : NULL;
    int error;

    if (!type)
        return mpi_error(NULL, MPI_ERR_TYPE, "this is not a datatype");
    if (type->is_predefined)
        return mpi_error(NULL, MPI_ERR_TYPE, "%s is predefined and cannot be freed", type->name);
    /* Attributes go with the last handle; MPI_Type_get_contents makes further ones. */
    error = type->handles > 1 ? MPI_SUCCESS
                              : mpi_attributes_delete(XMPI_ATTR_TYPE, *datatype, &type->attributes);
    if (error != MPI_SUCCESS)
        return mpi_error(NULL, error, "an attribute could not be deleted");
    if (--type->handles == 0)
        mpi_life_end(&type->life);
    *datatype = MPI_DATATYPE_NULL;
    mpi_type_release(type);
    return MPI_SUCCESS;
}
