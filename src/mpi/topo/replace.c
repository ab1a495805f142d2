/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem_replace: a communicator reordered by what was counted while the program ran. */
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"
#include "mpi/topo/reorder_comm.h"
#include "xylem_mpi.h"

static xy_status_t take_counted(const mpi_comm_t *comm, int r, const int *index, xy_vec_t *entries)
{
    mpi_rank_t *rank = &mpi_job->ranks[mpi_group_world(comm->group, r)];
    xy_status_t st = mpi_monitor_begin(rank);

    return st == XY_OK ? mpi_monitor_take(rank, (uint32_t)r, index, entries) : st;
}

/* The leader runs while all members wait for it: it may read and change what is theirs. */
static xy_status_t counted_pattern(void *const *args, int size, xy_vec_t *entries)
{
    const mpi_comm_t *comm = args[0];
    int *index = mpi_group_index(comm->group);
    xy_status_t st = index != NULL ? XY_OK : XY_ENOMEM;

    for (int r = 0; r < size && st == XY_OK; r++)
        st = take_counted(comm, r, index, entries);
    xy_free(index);
    return st;
}

static xy_status_t counted_own(const void *arg, int rank, xy_vec_t *entries)
{
    const mpi_comm_t *comm = arg;
    int *index = mpi_group_index(comm->group);
    xy_status_t st = index != NULL ? take_counted(comm, rank, index, entries) : XY_ENOMEM;

    xy_free(index);
    return st;
}

/* A member that has no copy of its topology comes along: the others wait for it. */
static int replace(MPI_Comm handle, MPI_Comm *newcomm)
{
    mpi_comm_t *comm = mpi_comm_of(handle), *made = NULL;
    mpi_topology_t *topology;
    int code;

    if (!comm)
        return mpi_comm_refuse(handle);
    if (!newcomm)
        return mpi_error_null(comm, "newcomm");
    if (comm->remote)
        return mpi_error(comm, MPI_ERR_COMM, "%s is an intercommunicator", mpi_comm_name(comm));
    topology = comm->topology ? mpi_topology_copy(comm->topology, (uintptr_t)comm->topology) : NULL;
    code = mpi_comm_reorder(comm, comm->size, &(mpi_pattern_t){counted_pattern, counted_own, comm},
                            &topology, &made);
    if (code != MPI_SUCCESS) {
        mpi_topology_release(topology);
        return code;
    }
    if (!topology && comm->topology) {
        mpi_comm_release(made);
        return mpi_error_memory(comm, "a topology");
    }
    made->topology = topology;
    *newcomm = mpi_comm_handle(made);
    return MPI_SUCCESS;
}

int xylem_replace(MPI_Comm comm, MPI_Comm *newcomm)
{
    mpi_rank_t *self = mpi_enter("xylem_replace", __builtin_return_address(0));

    return mpi_leave(self, replace(comm, newcomm));
}
