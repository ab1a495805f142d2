/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of datatypes. Predefined types are shared by all ranks: their attributes are in the
 * environment of each rank. */
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

/* On success *attributes_p is where the attributes of the type hang. */
static int type_find(MPI_Datatype handle, mpi_attributes_t ***attributes_p)
{
    mpi_type_t *type = mpi_type_of(handle);
    mpi_attributes_t **found = type ? type_attributes(type) : NULL;

    if (!type)
        return mpi_error(NULL, MPI_ERR_TYPE, "the datatype is %s",
                         handle == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : "not a datatype");
    if (!found)
        return mpi_error_memory(NULL, "an attribute");
    *attributes_p = found;
    return MPI_SUCCESS;
}

static int type_set(MPI_Datatype handle, int number, void *value)
{
    mpi_attributes_t **attributes;
    int code = type_find(handle, &attributes);

    if (code != MPI_SUCCESS)
        return code;
    return mpi_attribute_set(NULL, XMPI_ATTR_TYPE, handle, attributes, number, value);
}

static int type_get(MPI_Datatype handle, int number, void *value_p, int *flag)
{
    mpi_attributes_t **attributes;
    int code = type_find(handle, &attributes);

    if (code != MPI_SUCCESS)
        return code;
    return mpi_attribute_get(NULL, XMPI_ATTR_TYPE, *attributes, number, value_p, flag);
}

static int type_delete(MPI_Datatype handle, int number)
{
    mpi_attributes_t **attributes;
    int code = type_find(handle, &attributes);

    if (code != MPI_SUCCESS)
        return code;
    return mpi_attribute_remove(NULL, XMPI_ATTR_TYPE, handle, *attributes, number);
}

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                            MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                            void *extra_state)
{
    mpi_rank_t *self = mpi_enter("MPI_Type_create_keyval", __builtin_return_address(0));
    mpi_keyval_t filled = {.kind = XMPI_ATTR_TYPE, .extra_state = extra_state};

    filled.copy.type = type_copy_attr_fn;
    filled.delete.type = type_delete_attr_fn;
    return mpi_leave(self, mpi_keyval_create(filled, type_keyval));
}
XY_MPI_ALIAS(Type_create_keyval)

int PMPI_Type_free_keyval(int *type_keyval)
{
    mpi_rank_t *self = mpi_enter("MPI_Type_free_keyval", __builtin_return_address(0));

    return mpi_leave(self, mpi_keyval_free(XMPI_ATTR_TYPE, type_keyval));
}
XY_MPI_ALIAS(Type_free_keyval)

int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val)
{
    mpi_rank_t *self = mpi_enter("MPI_Type_set_attr", __builtin_return_address(0));

    return mpi_leave(self, type_set(datatype, type_keyval, attribute_val));
}
XY_MPI_ALIAS(Type_set_attr)

int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)
{
    mpi_rank_t *self = mpi_enter("MPI_Type_get_attr", __builtin_return_address(0));

    return mpi_leave(self, type_get(datatype, type_keyval, attribute_val, flag));
}
XY_MPI_ALIAS(Type_get_attr)

int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval)
{
    mpi_rank_t *self = mpi_enter("MPI_Type_delete_attr", __builtin_return_address(0));

    return mpi_leave(self, type_delete(datatype, type_keyval));
}
XY_MPI_ALIAS(Type_delete_attr)
