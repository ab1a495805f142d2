/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/datatype/represent.h"

#include "mpi/datatype/calls.h"
#include "mpi/datatype/datatype.h"
#include "mpi/datatype/type_build.h"

size_t mpi_type_measure(const mpi_type_t *type, mpi_type_size_fn fn, const void *arg)
{
    const mpi_type_t *part;
    size_t bytes = 0, times, size;

    if (type->is_predefined)
        return fn(type, arg);
    for (size_t i = 0; mpi_type_part(type, i, &part, &times); i++) {
        if (part->size == 0 || times == 0)
            continue;
        size = mpi_type_measure(part, fn, arg);
        if (size == 0)
            return 0;
        bytes += times * size;
    }
    return bytes;
}

/* Do all elements have the size there that they have here? */
static bool is_same(const mpi_type_t *type, mpi_type_size_fn fn, const void *arg)
{
    const mpi_type_t *part;
    size_t times;

    if (type->is_predefined)
        return type->size == 0 || fn(type, arg) == (size_t)type->extent;
    for (size_t i = 0; mpi_type_part(type, i, &part, &times); i++)
        if (!is_same(part, fn, arg))
            return false;
    return true;
}

/* ---- The constructors again ---- */

/* Make a datatype of listed blocks or an array part again from its recorded arguments. */
static int make_blocks(const mpi_contents_t *c, MPI_Datatype old, MPI_Datatype *made)
{
    const int *i = c->an_int;

    switch (c->combiner) {
    case MPI_COMBINER_INDEXED:
        return impl_type_indexed(i[0], i + 1, i + 1 + i[0], old, made);
    case MPI_COMBINER_HINDEXED:
        return impl_type_create_hindexed(i[0], i + 1, c->an_aint, old, made);
    case MPI_COMBINER_INDEXED_BLOCK:
        return impl_type_create_indexed_block(i[0], i[1], i + 2, old, made);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return impl_type_create_hindexed_block(i[0], i[1], c->an_aint, old, made);
    case MPI_COMBINER_SUBARRAY:
        return impl_type_create_subarray(i[0], i + 1, i + 1 + i[0], i + 1 + 2 * i[0],
                                         i[1 + 3 * i[0]], old, made);
    case MPI_COMBINER_DARRAY:
        return impl_type_create_darray(i[0], i[1], i[2], i + 3, i + 3 + i[2], i + 3 + 2 * i[2],
                                       i + 3 + 3 * i[2], i[3 + 4 * i[2]], old, made);
    default:
        return MPI_ERR_TYPE;
    }
}

/* Make a datatype again from its recorded arguments and other old types. */
static int make(const mpi_contents_t *c, const MPI_Datatype *old, MPI_Datatype *made)
{
    const int *i = c->an_int;

    switch (c->combiner) {
    case MPI_COMBINER_DUP:
        return part_type_contiguous(false, 1, old[0], made);
    case MPI_COMBINER_CONTIGUOUS:
        return part_type_contiguous(false, i[0], old[0], made);
    case MPI_COMBINER_VECTOR:
        return part_type_vector(false, MPI_COMBINER_VECTOR, i[0], i[1], i[2], old[0], made);
    case MPI_COMBINER_HVECTOR:
        return part_type_vector(false, MPI_COMBINER_HVECTOR, i[0], i[1], c->an_aint[0], old[0],
                                made);
    case MPI_COMBINER_STRUCT:
        return impl_type_create_struct(i[0], i + 1, c->an_aint, old, made);
    case MPI_COMBINER_RESIZED:
        return part_type_resized(false, old[0], c->an_aint[0], c->an_aint[1], made);
    default:
        return make_blocks(c, old[0], made);
    }
}

static mpi_type_t *resize_predefined(const mpi_type_t *type, mpi_type_size_fn fn, const void *arg)
{
    MPI_Datatype made;

    if (part_type_contiguous(false, (int)fn(type, arg), MPI_BYTE, &made) != MPI_SUCCESS)
        return NULL;
    return mpi_type_of(made);
}

static void release_all(MPI_Datatype *types, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mpi_type_release(mpi_type_held(types[i]));
    xy_free(types);
}

mpi_type_t *mpi_type_resize_elements(mpi_type_t *type, mpi_type_size_fn fn, const void *arg)
{
    const mpi_contents_t *c = &type->contents;
    MPI_Datatype *parts, made = MPI_DATATYPE_NULL;
    size_t n = 0;

    if (is_same(type, fn, arg)) {
        mpi_type_hold(type);
        return type;
    }
    if (type->is_predefined)
        return resize_predefined(type, fn, arg);
    if (c->counts > 0)
        return NULL;
    parts = xy_calloc(c->types, sizeof(*parts));
    for (; parts != NULL && n < c->types; n++) {
        mpi_type_t *part = mpi_type_resize_elements(mpi_type_held(c->a_type[n]), fn, arg);

        if (part == NULL)
            break;
        parts[n] = part->handle;
    }
    if (parts != NULL && n == c->types && make(c, parts, &made) != MPI_SUCCESS)
        made = MPI_DATATYPE_NULL;
    if (parts != NULL)
        release_all(parts, n);
    return made != MPI_DATATYPE_NULL ? mpi_type_held(made) : NULL;
}

mpi_type_t *mpi_type_with_extent(const mpi_type_t *type, MPI_Aint extent)
{
    MPI_Datatype made;

    if (part_type_resized(false, type->handle, 0, extent, &made) != MPI_SUCCESS)
        return NULL;
    return mpi_type_held(made);
}
