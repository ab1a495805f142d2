/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Dims_create: the most nearly cubic grid. */
#include "base/base.h"
#include "mpi/object/object.h"
#include "mpi/topo/calls.h"

int impl_dims_create(int nnodes, int ndims, int *dims)
{
    int free_dims = 0, rest = nnodes;

    if (ndims < 0 || (ndims > 0 && !dims))
        return mpi_error(NULL, MPI_ERR_DIMS, "the number of dimensions is %d", ndims);
    if (nnodes < 1)
        return mpi_error(NULL, MPI_ERR_ARG, "the number of nodes is %d", nnodes);
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0)
            return mpi_error(NULL, MPI_ERR_DIMS, "dims[%d] is %d", i, dims[i]);
        if (dims[i] > 0 && rest % dims[i] != 0)
            return mpi_error(NULL, MPI_ERR_DIMS,
                             "%d nodes cannot be divided by the dimensions that are set", nnodes);
        if (dims[i] > 0)
            rest /= dims[i];
        free_dims += dims[i] == 0;
    }
    if (free_dims == 0 && rest != 1)
        return mpi_error(NULL, MPI_ERR_DIMS, "the dimensions that are set do not make %d nodes",
                         nnodes);
    xy_grid_factor(nnodes, ndims, dims);
    return MPI_SUCCESS;
}
