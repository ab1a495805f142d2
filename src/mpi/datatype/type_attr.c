/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of datatypes. Predefined types are shared by all ranks: their attributes are in the
 * environment of each rank. */
#include "mpi/datatype/calls.h"
#include "mpi/datatype/type_build.h"
#include "mpi/object/object.h"

const mpi_attributes_t *mpi_attributes_of_type(const mpi_type_t *type)
{
    mpi_attributes_t **shared;

    if (!type->is_predefined)
        return type->attributes;
    shared = mpi_attributes_shared(type, false);
    return shared ? *shared : NULL;
}

/* Where the attributes of a type hang. NULL: memory ran out. */
static mpi_attributes_t **type_attributes(mpi_type_t *type)
{
    return type->is_predefined ? mpi_attributes_shared(type, true) : &type->attributes;
}

/* Where the attributes of the type hang; NULL: the error *code_p was raised. */
static mpi_attributes_t **type_find(MPI_Datatype handle, int *code_p)
{
    mpi_type_t *type = mpi_type_of(handle);
    mpi_attributes_t **found = type ? type_attributes(type) : NULL;

    if (!type)
        *code_p = mpi_error(NULL, MPI_ERR_TYPE, "the datatype is %s",
                            handle == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : "not a datatype");
    else if (!found)
        *code_p = mpi_error_memory(NULL, "an attribute");
    return found;
}

int impl_type_set_attr(MPI_Datatype handle, int number, void *value)
{
    int code = MPI_SUCCESS;
    mpi_attributes_t **attributes = type_find(handle, &code);

    return attributes ? mpi_attribute_set(NULL, XMPI_ATTR_TYPE, handle, attributes, number, value)
                      : code;
}

int impl_type_get_attr(MPI_Datatype handle, int number, void *value_p, int *flag)
{
    int code = MPI_SUCCESS;
    mpi_attributes_t **attributes = type_find(handle, &code);

    return attributes ? mpi_attribute_get(NULL, XMPI_ATTR_TYPE, *attributes, number, value_p, flag)
                      : code;
}

int impl_type_delete_attr(MPI_Datatype handle, int number)
{
    int code = MPI_SUCCESS;
    mpi_attributes_t **attributes = type_find(handle, &code);

    return attributes ? mpi_attribute_remove(NULL, XMPI_ATTR_TYPE, handle, *attributes, number)
                      : code;
}

int impl_type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                            MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                            void *extra_state)
{
    mpi_keyval_t filled = {.kind = XMPI_ATTR_TYPE, .extra_state = extra_state};

    filled.copy.type = type_copy_attr_fn;
    filled.delete.type = type_delete_attr_fn;
    return mpi_keyval_create(filled, type_keyval);
}
