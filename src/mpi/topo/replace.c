/* SPDX-License-Identifier: BSD-3-Clause */
/* xylem_replace: a communicator reordered by what was counted while the program ran. */
#include <string.h>

#include "mpi/comm/comm.h"
#include "mpi/object/object.h"
#include "mpi/runtime/runtime.h"
#include "mpi/topo/reorder.h"
#include "xylem_mpi.h"

/* The leader runs while all members wait for it: it may read and change what is theirs. */
static xy_status_t counted_pattern(void *const *args, int size, xy_vec_t *entries)
{
    const mpi_comm_t *comm = args[0];
    int *index = mpi_group_index(comm->group);
    xy_status_t st = index != NULL ? XY_OK : XY_ENOMEM;

    for (int r = 0; r < size && st == XY_OK; r++) {
        mpi_rank_t *rank = &mpi_job->ranks[mpi_group_world(comm->group, r)];

        st = mpi_monitor_begin(rank);
        if (st == XY_OK)
            st = mpi_monitor_take(rank, (uint32_t)r, index, entries);
    }
    xy_free(index);
    return st;
}

/* Numbers that a topology keeps. */
static size_t count_ints(const mpi_topology_t *t)
{
    if (t->kind == MPI_CART)
        return 3 * (size_t)t->cart.ndims;
    if (t->kind == MPI_GRAPH)
        return (size_t)t->graph.nnodes + (size_t)t->graph.index[t->graph.nnodes - 1];
    return ((size_t)t->dist.indegree + (size_t)t->dist.outdegree) * (t->dist.is_weighted ? 2 : 1);
}

/* Let a list of the original be the same list of the copy. */
static void move_list(mpi_topology_t *copy, const mpi_topology_t *t, int **list)
{
    if (*list)
        *list = copy->storage + (*list - t->storage);
}

/* NULL for NULL, and when memory ran out. */
static mpi_topology_t *copy_topology(const mpi_topology_t *t)
{
    mpi_topology_t *copy = t ? mpi_topology_new(t->kind, count_ints(t)) : NULL;

    if (!copy)
        return NULL;
    memcpy(copy, t, sizeof *t + count_ints(t) * sizeof(int));
    copy->references = 1;
    if (t->kind == MPI_CART) {
        move_list(copy, t, &copy->cart.dims);
        move_list(copy, t, &copy->cart.periods);
        move_list(copy, t, &copy->cart.coords);
    } else if (t->kind == MPI_GRAPH) {
        move_list(copy, t, &copy->graph.index);
        move_list(copy, t, &copy->graph.edges);
    } else {
        move_list(copy, t, &copy->dist.sources);
        move_list(copy, t, &copy->dist.destinations);
        move_list(copy, t, &copy->dist.source_weights);
        move_list(copy, t, &copy->dist.destination_weights);
    }
    return copy;
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
    topology = copy_topology(comm->topology);
    code = mpi_comm_reorder(comm, comm->size, counted_pattern, comm, &topology, &made);
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
