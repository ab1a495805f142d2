/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries of a window, and data kept with it: attributes, name, group, error handler. */
#include <string.h>

#include "mpi/rma/calls.h"
#include "mpi/rma/rma.h"

/* ---- Attributes ---- */

/* The base is the value itself; of the others programs get the address. */
static int predefined_get(mpi_win_t *win, int number, void *value_p, int *flag)
{
    const void *value = NULL;

    if (value_p == NULL)
        return mpi_error_null(win->comm, "attribute_val");
    switch (number) {
    case MPI_WIN_BASE:
        value = win->base;
        break;
    case MPI_WIN_SIZE:
        value = &win->bytes;
        break;
    case MPI_WIN_DISP_UNIT:
        value = &win->unit;
        break;
    case MPI_WIN_CREATE_FLAVOR:
        value = &win->flavor;
        break;
    default:
        value = &win->model;
        break;
    }
    memcpy(value_p, &value, sizeof(value));
    *flag = 1;
    return MPI_SUCCESS;
}

int impl_win_get_attr(mpi_win_t *win, int win_keyval, void *attribute_val, int *flag)
{
    if (win_keyval >= MPI_WIN_BASE && win_keyval <= MPI_WIN_MODEL)
        return predefined_get(win, win_keyval, attribute_val, flag);
    return mpi_attribute_get(win->comm, XMPI_ATTR_WIN, win->attributes, win_keyval, attribute_val,
                             flag);
}

int impl_win_set_attr(MPI_Win handle, int win_keyval, void *attribute_val)
{
    mpi_win_t *win = mpi_win_of(handle);

    if (win == NULL)
        return mpi_win_refuse(handle);
    return mpi_attribute_set(win->comm, XMPI_ATTR_WIN, handle, &win->attributes, win_keyval,
                             attribute_val);
}

int impl_win_delete_attr(MPI_Win handle, int win_keyval)
{
    mpi_win_t *win = mpi_win_of(handle);

    if (win == NULL)
        return mpi_win_refuse(handle);
    return mpi_attribute_remove(win->comm, XMPI_ATTR_WIN, handle, win->attributes, win_keyval);
}

/* ---- Name, group ---- */

int impl_win_set_name(mpi_win_t *win, const char *win_name)
{
    size_t length;

    length = strnlen(win_name, sizeof(win->name) - 1); /* longer names are cut */
    memcpy(win->name, win_name, length);
    win->name[length] = '\0';
    strcpy(win->comm->name, length > 0 ? win->name : "a window"); /* for reports */
    return MPI_SUCCESS;
}

int impl_win_get_name(MPI_Win handle, char *win_name, int *resultlen)
{
    const mpi_win_t *win = mpi_win_of(handle);
    const char *name = win != NULL ? win->name : "MPI_WIN_NULL";

    if (win == NULL && handle != MPI_WIN_NULL)
        return mpi_win_refuse(handle);
    strcpy(win_name, name);
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}

int impl_win_get_group(mpi_win_t *win, MPI_Group *group)
{
    mpi_group_hold(win->comm->group, 1);
    return mpi_group_give(win->comm, win->comm->group, group);
}

/* ---- Error handlers ---- */

int impl_win_set_errhandler(mpi_win_t *win, MPI_Errhandler errhandler)
{
    return mpi_errhandler_set(win->comm, XMPI_HANDLER_WIN, errhandler);
}

int impl_win_get_errhandler(mpi_win_t *win, MPI_Errhandler *errhandler)
{
    return mpi_errhandler_get(win->comm, errhandler);
}

int impl_win_call_errhandler(mpi_win_t *win, int errorcode)
{
    mpi_error_raise(win->comm, errorcode, "the program raised this error");
    return MPI_SUCCESS;
}

/* ---- Memory of others ---- */

/* Find the place that a query of `rank` returns. MPI_PROC_NULL means the lowest rank that has
 * memory, also one of another process, so that all members get the same part or none. NULL: there
 * is no such rank. */
static const rma_place_t *find_place(const mpi_win_t *win, int rank)
{
    static const rma_place_t none = {NULL, 0, 1};

    if (rank != MPI_PROC_NULL)
        return (unsigned)rank < (unsigned)win->size ? &win->shared->places[rank] : NULL;
    for (int r = 0; r < win->size; r++)
        if (rma_place_of(win, r)->size > 0)
            return &win->shared->places[r];
    return &none;
}

int impl_win_shared_query_c(mpi_win_t *win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                            void *baseptr)
{
    const rma_place_t *place;

    if (baseptr == NULL)
        return mpi_error_null(win->comm, "baseptr");
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return mpi_error(win->comm, MPI_ERR_RMA_FLAVOR,
                         "%s is dynamic: the ranks know the addresses that they attach",
                         win->comm->name);
    place = find_place(win, rank);
    if (place == NULL)
        return mpi_error(win->comm, MPI_ERR_RANK, "the rank is %d; the window has ranks 0 to %d",
                         mpi_number_passed(rank), win->size - 1);
    *size = place->size;
    *disp_unit = place->unit;
    memcpy(baseptr, &place->base, sizeof(place->base));
    return MPI_SUCCESS;
}

int impl_win_shared_query(mpi_win_t *win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    MPI_Aint wide;
    int error = impl_win_shared_query_c(win, rank, size, &wide, baseptr);

    if (error == MPI_SUCCESS)
        *disp_unit = (int)wide;
    return error;
}
