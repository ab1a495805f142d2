/* SPDX-License-Identifier: BSD-3-Clause */
/* The topologies' part of the runtime: they go with their communicator and with its duplicates. */
#include "mpi/topo/topo.h"

static void comm_duplicate(const mpi_comm_t *from, mpi_comm_t *to)
{
    mpi_topology_hold(from->topology);
    to->topology = from->topology;
}

static void comm_end(mpi_comm_t *comm)
{
    mpi_topology_release(comm->topology);
}

static void end(mpi_job_t *job)
{
    (void)job;
    mpi_reorder_cleanup();
}

const mpi_layer_t mpi_topo_layer = {
    .job_end = end, .comm_duplicate = comm_duplicate, .comm_end = comm_end};
