/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting what was received: whole items of a type, and its basic elements.
 *
 * A message may end inside an item. Then the item's parts are followed, in the order of the type
 * map, which is the order in which its constructor was given them; only struct has parts of more
 * than one type.
 */
#include <limits.h>

#include "mpi/datatype/calls.h"
#include "mpi/datatype/type_build.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"

bool mpi_type_part(const mpi_type_t *type, size_t i, const mpi_type_t **part_p, size_t *times_p)
{
    const mpi_contents_t *c = &type->contents;

    if (c->combiner != MPI_COMBINER_STRUCT) {
        *part_p = mpi_type_held(c->a_type[0]);
        *times_p = (*part_p)->size > 0 ? type->size / (*part_p)->size : 0;
        return i == 0;
    }
    if (i >= c->types)
        return false;
    *part_p = mpi_type_held(c->a_type[i]);
    *times_p = (size_t)(c->counts > 0 ? c->a_count[1 + i] : c->an_int[1 + i]);
    return true;
}

/* Bytes of the first of the two elements of a predefined pair. */
static size_t pair_value_size(const mpi_type_t *type)
{
    bool is_equal = type->basic == XMPI_BASIC_2INT || type->basic == XMPI_BASIC_2FLOAT ||
                    type->basic == XMPI_BASIC_2DOUBLE;

    return is_equal ? type->size / 2 : type->size - sizeof(int);
}

/* Elements in the first `bytes` of one item; -1 when they end inside an element. */
static int64_t elements_in_part(const mpi_type_t *type, size_t bytes)
{
    const mpi_type_t *part;
    int64_t elements = 0;
    size_t times;

    if (type->is_predefined) {
        if (bytes == 0)
            return 0;
        return type->elements == 2 && bytes == pair_value_size(type) ? 1 : -1;
    }
    for (size_t i = 0; bytes > 0 && mpi_type_part(type, i, &part, &times); i++) {
        size_t whole = part->size > 0 ? bytes / part->size : 0;

        whole = whole < times ? whole : times;
        elements += (int64_t)(whole * part->elements);
        bytes -= whole * part->size;
        if (whole < times && bytes > 0 && part->size > 0) {
            int64_t rest = elements_in_part(part, bytes);

            return rest < 0 ? -1 : elements + rest;
        }
    }
    return elements;
}

int64_t mpi_type_elements(const mpi_type_t *type, size_t bytes)
{
    size_t whole, rest;
    int64_t more;

    if (type->size == 0)
        return bytes == 0 ? 0 : -1;
    whole = bytes / type->size;
    rest = bytes % type->size;
    more = rest > 0 ? elements_in_part(type, rest) : 0;
    return more < 0 ? -1 : (int64_t)(whole * type->elements) + more;
}

/* The reverse: bytes of the first `elements` of one item. */
static size_t bytes_in_part(const mpi_type_t *type, size_t elements)
{
    const mpi_type_t *part;
    size_t bytes = 0, times;

    if (type->is_predefined)
        return elements == 0 ? 0 : pair_value_size(type);
    for (size_t i = 0; elements > 0 && mpi_type_part(type, i, &part, &times); i++) {
        size_t whole = part->elements > 0 ? elements / part->elements : 0;

        whole = whole < times ? whole : times;
        bytes += whole * part->size;
        elements -= whole * part->elements;
        if (whole < times && elements > 0 && part->elements > 0)
            return bytes + bytes_in_part(part, elements);
    }
    return bytes;
}

static int check_status(const MPI_Status *status, const mpi_type_t *type)
{
    if (!type)
        return mpi_error(NULL, MPI_ERR_TYPE, "this is not a datatype");
    if (status == MPI_STATUS_IGNORE)
        return mpi_error(NULL, MPI_ERR_ARG, "the status is MPI_STATUS_IGNORE");
    return MPI_SUCCESS;
}

int impl_get_count_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    const mpi_type_t *type = mpi_type_of(datatype);
    int error = check_status(status, type);
    uint64_t bytes;

    if (error != MPI_SUCCESS)
        return error;
    bytes = mpi_status_bytes(status);
    if (type->size == 0)
        *count = bytes == 0 ? 0 : MPI_UNDEFINED;
    else
        *count = bytes % type->size == 0 ? (MPI_Count)(bytes / type->size) : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int to_int(MPI_Count count)
{
    return count > INT_MAX ? MPI_UNDEFINED : (int)count;
}

int impl_get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    MPI_Count n;
    int error = impl_get_count_c(status, datatype, &n);

    if (error == MPI_SUCCESS)
        *count = to_int(n);
    return error;
}

int impl_get_elements_c(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    const mpi_type_t *type = mpi_type_of(datatype);
    int error = check_status(status, type);
    int64_t elements;

    if (error != MPI_SUCCESS)
        return error;
    elements = mpi_type_elements(type, mpi_status_bytes(status));
    *count = elements < 0 ? MPI_UNDEFINED : elements;
    return MPI_SUCCESS;
}

int impl_get_elements(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    MPI_Count n;
    int error = impl_get_elements_c(status, datatype, &n);

    if (error == MPI_SUCCESS)
        *count = to_int(n);
    return error;
}

int impl_status_set_elements(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    const mpi_type_t *type = mpi_type_of(datatype);
    int error = check_status(status, type);
    size_t whole, rest;

    if (error != MPI_SUCCESS)
        return error;
    if (count < 0)
        return mpi_error(NULL, MPI_ERR_COUNT, "the count is %lld; it must not be negative",
                         (long long)count);
    whole = type->elements > 0 ? (size_t)count / type->elements : 0;
    rest = type->elements > 0 ? (size_t)count % type->elements : 0;
    mpi_status_set_bytes(status, whole * type->size + bytes_in_part(type, rest));
    return MPI_SUCCESS;
}
