/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries of datatypes: size, bounds, name, constructor.
 */
#include <limits.h>
#include <string.h>

#include "mpi/datatype/calls.h"
#include "mpi/datatype/type_build.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

const char *mpi_type_name(const mpi_type_t *type)
{
    return type->name[0] ? type->name : "a derived datatype";
}

/* The type behind the handle, or NULL with the error raised in *error_p. */
static const mpi_type_t *type_or_error(MPI_Datatype handle, int *error_p)
{
    const mpi_type_t *type = mpi_type_of(handle);

    *error_p = type ? MPI_SUCCESS
                    : mpi_error(NULL, MPI_ERR_TYPE, "%s",
                                handle == MPI_DATATYPE_NULL ? "the datatype is MPI_DATATYPE_NULL"
                                                            : "this is not a datatype");
    return type;
}

/* ---- Size -------------------------------------------------------------------------------- */

int impl_type_size(MPI_Datatype datatype, int *size)
{
    int error;
    const mpi_type_t *type = type_or_error(datatype, &error);

    if (type)
        *size = type->size > INT_MAX ? MPI_UNDEFINED : (int)type->size;
    return error;
}

int impl_type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
    int error;
    const mpi_type_t *type = type_or_error(datatype, &error);

    if (type)
        *size = (MPI_Count)type->size;
    return error;
}

/* ---- Bounds ------------------------------------------------------------------------------ */

int impl_type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    int error;
    const mpi_type_t *type = type_or_error(datatype, &error);

    if (type) {
        *lb = type->lb;
        *extent = type->extent;
    }
    return error;
}

int impl_type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    int error;
    const mpi_type_t *type = type_or_error(datatype, &error);

    if (type) {
        *lb = type->lb;
        *extent = type->extent;
    }
    return error;
}

int impl_type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent)
{
    int error;
    const mpi_type_t *type = type_or_error(datatype, &error);

    if (type) {
        *true_lb = type->true_lb;
        *true_extent = type->true_extent;
    }
    return error;
}

int impl_type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    int error;
    const mpi_type_t *type = type_or_error(datatype, &error);

    if (type) {
        *true_lb = type->true_lb;
        *true_extent = type->true_extent;
    }
    return error;
}

int impl_type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;

    return impl_type_get_extent(datatype, &lb, extent);
}

int impl_type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;

    return impl_type_get_extent(datatype, displacement, &extent);
}

int impl_type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint lb = 0, extent = 0;
    int error = impl_type_get_extent(datatype, &lb, &extent);

    if (error == MPI_SUCCESS)
        *displacement = lb + extent;
    return error;
}

/* ---- Names ------------------------------------------------------------------------------- */

int impl_type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{
    bool is_null = datatype == MPI_DATATYPE_NULL; /* has a name, like all null handles */
    int error = MPI_SUCCESS;
    const mpi_type_t *type = is_null ? NULL : type_or_error(datatype, &error);
    const char *name = "MPI_DATATYPE_NULL";

    if (!is_null && !type)
        return error;
    if (type) {
        const char *given = type->is_predefined ? mpi_env_name(type) : NULL;

        name = given ? given : type->name;
    }
    *resultlen = snprintf(type_name, MPI_MAX_OBJECT_NAME, "%s", name);
    return MPI_SUCCESS;
}

int impl_type_set_name(MPI_Datatype datatype, const char *type_name)
{
    mpi_type_t *type = mpi_type_of(datatype);

    if (!type)
        return mpi_error(NULL, MPI_ERR_TYPE, "this is not a datatype");
    /* All ranks of the process share the predefined types: their new names are of this rank. */
    if (type->is_predefined)
        return mpi_env_set_name(type, type_name) ? MPI_SUCCESS : mpi_error_memory(NULL, "a name");
    snprintf(type->name, sizeof type->name, "%s", type_name);
    return MPI_SUCCESS;
}

/* ---- How it was made --------------------------------------------------------------------- */

int impl_type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses,
                           int *num_datatypes, int *combiner)
{
    int error;
    const mpi_type_t *type = type_or_error(datatype, &error);

    if (!type)
        return error;
    if (type->contents.counts > 0)
        return mpi_error(NULL, MPI_ERR_TYPE,
                         "the datatype was made with large counts; ask "
                         "MPI_Type_get_envelope_c");
    *num_integers = (int)type->contents.ints;
    *num_addresses = (int)type->contents.aints;
    *num_datatypes = (int)type->contents.types;
    *combiner = type->contents.combiner;
    return MPI_SUCCESS;
}

int impl_type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers,
                             MPI_Count *num_addresses, MPI_Count *num_large_counts,
                             MPI_Count *num_datatypes, int *combiner)
{
    int error;
    const mpi_type_t *type = type_or_error(datatype, &error);

    if (!type)
        return error;
    *num_integers = (MPI_Count)type->contents.ints;
    *num_addresses = (MPI_Count)type->contents.aints;
    *num_large_counts = (MPI_Count)type->contents.counts;
    *num_datatypes = (MPI_Count)type->contents.types;
    *combiner = type->contents.combiner;
    return MPI_SUCCESS;
}

/* Return the recorded arguments of a datatype; types in them are new handles of the program. */
static int get_contents(MPI_Datatype datatype, const MPI_Count room[4], int *integers,
                        MPI_Aint *addresses, MPI_Count *counts, MPI_Datatype *datatypes)
{
    int error;
    const mpi_type_t *type = type_or_error(datatype, &error);
    const mpi_contents_t *c;

    if (!type)
        return error;
    c = &type->contents;
    if (c->combiner == MPI_COMBINER_NAMED)
        return mpi_error(NULL, MPI_ERR_TYPE, "%s is predefined and has no contents", type->name);
    if (room[0] < (MPI_Count)c->ints || room[1] < (MPI_Count)c->aints ||
        room[2] < (MPI_Count)c->counts || room[3] < (MPI_Count)c->types)
        return mpi_error(NULL, MPI_ERR_ARG,
                         "the arrays are too short: %zu integers, %zu addresses, %zu large "
                         "counts and %zu datatypes are needed",
                         c->ints, c->aints, c->counts, c->types);
    for (size_t i = 0; i < c->ints; i++)
        integers[i] = c->an_int[i];
    for (size_t i = 0; i < c->aints; i++)
        addresses[i] = c->an_aint[i];
    for (size_t i = 0; i < c->counts; i++)
        counts[i] = c->a_count[i];
    for (size_t i = 0; i < c->types; i++)
        datatypes[i] = mpi_type_give(mpi_type_held(c->a_type[i]));
    return MPI_SUCCESS;
}

int impl_type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
                           int max_datatypes, int array_of_integers[],
                           MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
{
    MPI_Count room[4] = {max_integers, max_addresses, 0, max_datatypes};

    return get_contents(datatype, room, array_of_integers, array_of_addresses, NULL,
                        array_of_datatypes);
}

int impl_type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes,
                             int array_of_integers[], MPI_Aint array_of_addresses[],
                             MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[])
{
    MPI_Count room[4] = {max_integers, max_addresses, max_large_counts, max_datatypes};

    return get_contents(datatype, room, array_of_integers, array_of_addresses,
                        array_of_large_counts, array_of_datatypes);
}

/* ---- Types by property ------------------------------------------------------------------- */

int impl_type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    static const struct {
        int class, size;
        MPI_Datatype type;
    } known[] = {
        {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
        {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
        {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, 2, MPI_REAL2},
        {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
        {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
        {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},   {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
        {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].class == typeclass && known[i].size == size) {
            *datatype = known[i].type;
            return MPI_SUCCESS;
        }
    return mpi_error(NULL, MPI_ERR_ARG, "there is no datatype of class %d with %d bytes",
                     mpi_number_passed(typeclass), size);
}

int impl_type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                              MPI_Datatype *pair_type)
{
    int error;
    static const struct {
        MPI_Datatype value, index, pair;
    } known[] = {
        {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
        {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
        {MPI_LONG, MPI_INT, MPI_LONG_INT},
        {MPI_INT, MPI_INT, MPI_2INT},
        {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
        {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
        {MPI_REAL, MPI_REAL, MPI_2REAL},
        {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
        {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
    };

    if (!type_or_error(value_type, &error) || !type_or_error(index_type, &error))
        return error;
    *pair_type = MPI_DATATYPE_NULL; /* the answer for a pair that does not exist */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].value == value_type && known[i].index == index_type)
            *pair_type = known[i].pair;
    return MPI_SUCCESS;
}
