/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/bindings/services.h"

#include "mpi/datatype/datatype.h"
#include "mpi/topo/topo.h"

/* The communicator behind a handle, for any thread of the rank; NULL: it is none. */
static const mpi_comm_t *find(MPI_Comm comm)
{
    mpi_rank_t *self = mpi_self ? NULL : mpi_enter_any_thread("MPI_Alltoallw", NULL);
    const mpi_comm_t *object = mpi_comm_of_owner(comm);

    mpi_leave_any(self, MPI_SUCCESS);
    return object;
}

static long peers(MPI_Comm comm)
{
    const mpi_comm_t *object = find(comm);

    if (!object)
        return 0;
    return object->remote ? object->remote->size : object->size;
}

static long degree(MPI_Comm comm, bool is_out)
{
    const mpi_comm_t *object = find(comm);
    int in = 0, out = 0;

    if (object && object->topology)
        mpi_topology_degrees(object, &in, &out);
    return is_out ? out : in;
}

static MPI_User_function *op_set_function(MPI_Op op, MPI_User_function *fn)
{
    MPI_User_function *before = mpi_op_of(op)->fn;

    mpi_op_of(op)->fn = fn;
    return before;
}

const mpi_services_t xylem_mpi_services = {
    .handle_to_int = mpi_handle_to_int,
    .handle_from_int = mpi_handle_from_int,
    .op_set_through = mpi_op_set_through,
    .op_set_function = op_set_function,
    .errhandler_set_through = mpi_errhandler_set_through,
    .keyval_set_through = mpi_keyval_set_through,
    .keyval_set_language = mpi_keyval_set_language,
    .attributes_language = mpi_attributes_language,
    .idup_set_place = mpi_comm_idup_set_place,
    .peers = peers,
    .degree = degree,
    .query_cuda_support = mpi_device_is_supported,
};
