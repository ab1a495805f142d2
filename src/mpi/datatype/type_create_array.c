/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes that are parts of arrays: subarray, and darray (one process's share of a distributed
 * array). Both have the extent of the whole array.
 *
 * Dimensions are taken from the fastest to the slowest; each one wraps what was made so far in one
 * loop (subarray, block distribution) or in a loop and a shorter last block (cyclic).
 */
#include "base/base.h"
#include "mpi/datatype/calls.h"
#include "mpi/datatype/type_build.h"
#include "mpi/datatype/type_layout.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

/* The type that a constructor builds while it goes through the dimensions. */
typedef struct {
    mpi_layout_t layout;
    xy_extent_t extent; /* from one index to the next in the current dimension */
    bool is_failed;     /* memory */
} slab_t;

static void slab_begin(slab_t *s, const mpi_type_t *old)
{
    *s = (slab_t){.extent = mpi_type_bounds(old)};
    s->is_failed = !mpi_layout_copy(&old->layout, &s->layout);
}

/* Indices start, start + 1, ... of `n`, in blocks of `length` whose starts are `step` apart. */
static bool slab_blocks(const slab_t *s, MPI_Count start, MPI_Count n, MPI_Count length,
                        MPI_Count step, mpi_layout_t *layout_p)
{
    MPI_Count whole = n / length, rest = n % length, stride = s->extent.ub - s->extent.lb;
    mpi_layout_list_t list = {0};
    mpi_layout_t block = {0}, blocks = {0};
    bool done = mpi_layout_repeat(&s->layout, length, stride, &block) &&
                mpi_layout_repeat(&block, whole, step * stride, &blocks);

    mpi_layout_cleanup(&block);
    if (done && rest > 0) {
        mpi_layout_list_add(&list, &blocks, 0, 1, 0);
        mpi_layout_list_add(&list, &s->layout, whole * step * stride, rest, stride);
        mpi_layout_cleanup(&blocks);
        done = mpi_layout_list_finish(&list, &blocks);
    }
    if (!done) {
        mpi_layout_cleanup(&blocks);
        return false;
    }
    mpi_layout_shift(&blocks, start * stride);
    *layout_p = blocks;
    return true;
}

/* One dimension of `size` indices; `n` of them are taken. */
static void slab_dimension(slab_t *s, MPI_Count size, MPI_Count start, MPI_Count n,
                           MPI_Count length, MPI_Count step)
{
    mpi_layout_t next;

    if (s->is_failed || s->extent.is_too_large)
        return;
    s->is_failed = !slab_blocks(s, start, n, length, step, &next);
    if (s->is_failed)
        return;
    mpi_layout_cleanup(&s->layout);
    s->layout = next;
    xy_extent_wrap(&s->extent, size, start, n, length, step);
}

/* Give the slab to the draft and end it. */
static int slab_finish(slab_t *s, mpi_draft_t *draft, const mpi_type_t *old, MPI_Datatype *newtype)
{
    draft->is_failed = draft->is_failed || s->is_failed;
    mpi_draft_set_extent(draft, old, &s->extent);
    if (draft->is_failed || draft->extent.is_too_large)
        mpi_layout_cleanup(&s->layout);
    else
        draft->type->layout = s->layout;
    return mpi_draft_finish(draft, newtype);
}

static int check_order(int ndims, int order)
{
    if (ndims < 1)
        return mpi_error(NULL, MPI_ERR_DIMS, "there are %d dimensions; at least 1 is needed",
                         ndims);
    if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
        return mpi_error(NULL, MPI_ERR_ARG,
                         "the order is %d; it must be MPI_ORDER_C or MPI_ORDER_FORTRAN",
                         mpi_number_passed(order));
    return MPI_SUCCESS;
}

/* The k-th fastest dimension. */
static int dimension(int ndims, int order, int k)
{
    return order == MPI_ORDER_C ? ndims - 1 - k : k;
}

/* ---- Subarray ---------------------------------------------------------------------------- */

static int check_subarray(int ndims, const MPI_Count *sizes, const MPI_Count *subsizes,
                          const MPI_Count *starts)
{
    int i = xy_subarray_bad(ndims, sizes, subsizes, starts);

    if (i < 0)
        return MPI_SUCCESS;
    return mpi_error(
        NULL, MPI_ERR_ARG,
        "dimension %d: %lld elements from %lld on are not inside the %lld of the array", i,
        (long long)subsizes[i], (long long)starts[i], (long long)sizes[i]);
}

static void record_subarray(mpi_draft_t *draft, int ndims, const MPI_Count *sizes,
                            const MPI_Count *subsizes, const MPI_Count *starts, int order,
                            mpi_type_t *old)
{
    const MPI_Count *arrays[] = {sizes, subsizes, starts};

    mpi_draft_record_int(draft, ndims);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < ndims; i++)
            mpi_draft_record_count(draft, arrays[a][i]);
    mpi_draft_record_int(draft, order);
    mpi_draft_record_type(draft, old);
}

/* Make a subarray datatype; returns an MPI error code. */
static int make_subarray(bool is_large, int ndims, const MPI_Count *sizes,
                         const MPI_Count *subsizes, const MPI_Count *starts, int order,
                         MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    mpi_type_t *old = mpi_type_of(oldtype);
    int error = mpi_type_check_make(0, old, newtype);
    mpi_draft_t draft;
    slab_t slab;

    if (error == MPI_SUCCESS)
        error = check_order(ndims, order);
    if (error == MPI_SUCCESS)
        error = check_subarray(ndims, sizes, subsizes, starts);
    if (error != MPI_SUCCESS)
        return error;
    mpi_draft_begin(&draft, MPI_COMBINER_SUBARRAY, is_large);
    record_subarray(&draft, ndims, sizes, subsizes, starts, order, old);
    slab_begin(&slab, old);
    for (int k = 0; k < ndims; k++) {
        int d = dimension(ndims, order, k);

        slab_dimension(&slab, sizes[d], starts[d], subsizes[d], subsizes[d], 0);
    }
    return slab_finish(&slab, &draft, old, newtype);
}

int impl_type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
                              const int array_of_starts[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    MPI_Count *sizes = mpi_type_widen(array_of_sizes, ndims);
    MPI_Count *subsizes = mpi_type_widen(array_of_subsizes, ndims);
    MPI_Count *starts = mpi_type_widen(array_of_starts, ndims);
    int error;

    if (sizes && subsizes && starts)
        error = make_subarray(false, ndims, sizes, subsizes, starts, order, oldtype, newtype);
    else
        error = mpi_error(NULL, MPI_ERR_NO_MEM, "memory ran out while making a datatype");
    xy_free(sizes);
    xy_free(subsizes);
    xy_free(starts);
    return error;
}

int impl_type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
                                const MPI_Count array_of_subsizes[],
                                const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    return make_subarray(true, ndims, array_of_sizes, array_of_subsizes, array_of_starts, order,
                         oldtype, newtype);
}

/* ---- Distributed array ------------------------------------------------------------------- */

typedef struct {
    int size, rank, ndims, order;
    const MPI_Count *gsizes;
    const int *distribs, *dargs, *psizes;
} darray_t;

/* The block length in dimension i; 0 when the arguments make no sense. */
static MPI_Count darray_block(const darray_t *a, int i)
{
    MPI_Count n = a->gsizes[i], p = a->psizes[i], darg = a->dargs[i];

    if (n < 1 || p < 1)
        return 0;
    if (a->distribs[i] == MPI_DISTRIBUTE_NONE)
        return p == 1 ? n : 0;
    if (a->distribs[i] == MPI_DISTRIBUTE_CYCLIC)
        return darg == MPI_DISTRIBUTE_DFLT_DARG ? 1 : darg > 0 ? darg : 0;
    if (a->distribs[i] != MPI_DISTRIBUTE_BLOCK)
        return 0;
    if (darg == MPI_DISTRIBUTE_DFLT_DARG)
        return (n + p - 1) / p;
    return darg > 0 && darg * p >= n ? darg : 0;
}

/* Check distribution, process grid and rank of a darray; returns an MPI error code. */
static int check_darray(const darray_t *a)
{
    int64_t processes = 1;

    for (int i = 0; i < a->ndims; i++) {
        if (darray_block(a, i) == 0)
            return mpi_error(NULL, MPI_ERR_ARG,
                             "dimension %d: this distribution of %lld over %d is not "
                             "possible",
                             i, (long long)a->gsizes[i], a->psizes[i]);
        processes *= a->psizes[i];
        if (processes > a->size)
            break;
    }
    if (processes != a->size)
        return mpi_error(NULL, MPI_ERR_ARG, "the process grid does not have %d processes", a->size);
    if (a->rank < 0 || a->rank >= a->size)
        return mpi_error(NULL, MPI_ERR_RANK, "the rank is %d; it must be in 0..%d", a->rank,
                         a->size - 1);
    return MPI_SUCCESS;
}

/* Record the arguments of a darray for MPI_Type_get_contents. */
static void record_darray(mpi_draft_t *draft, const darray_t *a, mpi_type_t *old)
{
    const int *arrays[] = {a->distribs, a->dargs, a->psizes};

    mpi_draft_record_int(draft, a->size);
    mpi_draft_record_int(draft, a->rank);
    mpi_draft_record_int(draft, a->ndims);
    for (int i = 0; i < a->ndims; i++)
        mpi_draft_record_count(draft, a->gsizes[i]);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < a->ndims; i++)
            mpi_draft_record_int(draft, arrays[k][i]);
    mpi_draft_record_int(draft, a->order);
    mpi_draft_record_type(draft, old);
}

/* This process's place in dimension i: the grid is numbered in C order, whatever the array is. */
static int darray_coordinate(const darray_t *a, int i)
{
    int below = 1;

    for (int k = i + 1; k < a->ndims; k++)
        below *= a->psizes[k];
    return a->rank / below % a->psizes[i];
}

static void darray_dimension(slab_t *slab, const darray_t *a, int i)
{
    MPI_Count n = a->gsizes[i], length = darray_block(a, i);
    MPI_Count start = darray_coordinate(a, i) * length, step = length * a->psizes[i];
    MPI_Count own = 0;

    if (start < n) {
        MPI_Count rest = (n - start) % step;

        own = (n - start) / step * length + (rest < length ? rest : length);
    }
    slab_dimension(slab, n, start, own, length, step);
}

/* Make a darray datatype; returns an MPI error code. */
static int make_darray(bool is_large, const darray_t *a, MPI_Datatype oldtype,
                       MPI_Datatype *newtype)
{
    mpi_type_t *old = mpi_type_of(oldtype);
    int error = mpi_type_check_make(0, old, newtype);
    mpi_draft_t draft;
    slab_t slab;

    if (error == MPI_SUCCESS)
        error = check_order(a->ndims, a->order);
    if (error == MPI_SUCCESS)
        error = check_darray(a);
    if (error != MPI_SUCCESS)
        return error;
    mpi_draft_begin(&draft, MPI_COMBINER_DARRAY, is_large);
    record_darray(&draft, a, old);
    slab_begin(&slab, old);
    for (int k = 0; k < a->ndims; k++)
        darray_dimension(&slab, a, dimension(a->ndims, a->order, k));
    return slab_finish(&slab, &draft, old, newtype);
}

int impl_type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[],
                            const int array_of_distribs[], const int array_of_dargs[],
                            const int array_of_psizes[], int order, MPI_Datatype oldtype,
                            MPI_Datatype *newtype)
{
    MPI_Count *gsizes = mpi_type_widen(array_of_gsizes, ndims);
    darray_t a = {size,           rank,           ndims, order, gsizes, array_of_distribs,
                  array_of_dargs, array_of_psizes};
    int error;

    if (!gsizes)
        return mpi_error(NULL, MPI_ERR_NO_MEM, "memory ran out while making a datatype");
    error = make_darray(false, &a, oldtype, newtype);
    xy_free(gsizes);
    return error;
}

int impl_type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
                              const int array_of_distribs[], const int array_of_dargs[],
                              const int array_of_psizes[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    darray_t a = {size,           rank,           ndims, order, array_of_gsizes, array_of_distribs,
                  array_of_dargs, array_of_psizes};

    return make_darray(true, &a, oldtype, newtype);
}
