/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields of statuses as functions, and statuses as Fortran keeps them: an array of integers, or
 * a derived type. All three are eight integers in the same order.
 */
#include <stddef.h>
#include <string.h>

#include "mpi/object/object.h"
#include "mpi/p2p/calls.h"
#include "mpi/runtime/runtime.h"

_Static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint), "same layout");
_Static_assert(sizeof(MPI_F08_status) == sizeof(MPI_Status), "same layout");

/* MPI_STATUS_IGNORE is no status. */
static int check(const void *status)
{
    if (status)
        return MPI_SUCCESS;
    return mpi_error(NULL, MPI_ERR_ARG, "the status is NULL or MPI_STATUS_IGNORE");
}

int part_status_get(const MPI_Status *status, size_t field, int *value)
{
    int error = check(status);

    if (error == MPI_SUCCESS)
        memcpy(value, (const char *)status + field, sizeof(*value));
    return error;
}

int part_status_set(MPI_Status *status, size_t field, int value)
{
    int error = check(status);

    if (error == MPI_SUCCESS)
        memcpy((char *)status + field, &value, sizeof(value));
    return error;
}

int impl_test_cancelled(const MPI_Status *status, int *flag)
{
    int error = check(status);

    if (error == MPI_SUCCESS)
        *flag = mpi_status_is_cancelled(status);
    return error;
}

int impl_status_set_cancelled(MPI_Status *status, int flag)
{
    int error = check(status);

    if (error == MPI_SUCCESS)
        mpi_status_set_cancelled(status, flag != 0);
    return error;
}

int part_status_convert(const void *from, void *to)
{
    int error = check(from);

    if (error == MPI_SUCCESS)
        error = check(to);
    if (error == MPI_SUCCESS)
        memcpy(to, from, sizeof(MPI_Status));
    return error;
}
