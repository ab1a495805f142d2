/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual topologies: who is whose neighbour in a communicator. A topology is immutable and shared
 * by the communicators of its rank that were duplicated from one another.
 *
 *   const mpi_topology_t *topology = comm->topology;
 *   if (topology && topology->kind == MPI_CART)
 *       ... topology->cart.dims[d] ...
 */
#ifndef XY_MPI_TOPO_TOPOLOGY_H
#define XY_MPI_TOPO_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/comm/comm.h"

typedef struct mpi_topology {
    long references; /* of one rank: plain */
    int kind;        /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */
    union {
        struct {
            int ndims;
            int *dims, *periods, *coords; /* coords: of this rank */
        } cart;
        struct {
            int nnodes;
            int *index, *edges; /* as the program gave them */
        } graph;
        struct { /* of this rank */
            int indegree, outdegree;
            bool is_weighted;
            int *sources, *destinations;
            int *source_weights, *destination_weights; /* NULL when not weighted */
        } dist;
    };
    int storage[]; /* memory of the pointers above */
} mpi_topology_t;

static inline void mpi_topology_hold(mpi_topology_t *topology)
{
    if (topology)
        topology->references++;
}
/* A topology of `kind` with room for `ints` numbers; NULL: memory ran out (silent). */
mpi_topology_t *mpi_topology_new(int kind, size_t ints);
void mpi_topology_release(mpi_topology_t *topology); /* NULL is fine; the last frees */

/* How many bytes it has, its numbers included; and a copy of such bytes, wherever they lie, which
 * were at `was_at` in the process that they come from. NULL: memory ran out (silent). */
size_t mpi_topology_bytes(const mpi_topology_t *topology);
mpi_topology_t *mpi_topology_copy(const void *bytes, uintptr_t was_at);

/* The rank `steps` from the calling one along a dimension of the grid, or MPI_PROC_NULL. */
int mpi_topology_shift(const mpi_comm_t *comm, int direction, long steps);

/* The neighbours of the calling rank in the order of neighbourhood collectives (MPI_PROC_NULL at
 * open ends of a grid): counts first, then the lists into arrays of that length. */
void mpi_topology_degrees(const mpi_comm_t *comm, int *in_p, int *out_p);
void mpi_topology_neighbors(const mpi_comm_t *comm, int *sources, int *destinations);

/* The communicator behind `handle` when it has a topology of `kind`; NULL: not so, which is raised,
 * and *code_p is the error. */
mpi_comm_t *mpi_topology_comm(MPI_Comm handle, int kind, int *code_p);

#endif
