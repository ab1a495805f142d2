/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbourhood collectives: what a rank sends to its neighbours in the topology of a communicator,
 * and what it gets from them.
 *
 * Each block is a message. On a grid, what goes down arrives from above, also where both neighbours
 * of a periodic dimension are the same rank, or the rank itself; in graphs the n-th edge from one
 * rank to another meets the n-th on the other side.
 */
#ifndef XY_MPI_TOPO_NEIGHBOR_H
#define XY_MPI_TOPO_NEIGHBOR_H

#include "mpi/coll/coll.h"
#include "mpi/datatype/datatype.h"

/* One side: where the block of each neighbour is. */
typedef struct {
    const void *buffer;
    int64_t count;               /* of a block, when `counts` has none */
    coll_vector_t counts;        /* or one for each */
    coll_vector_t displacements; /* in extents, or in bytes with `types`; none: one after another */
    MPI_Datatype type;
    const MPI_Datatype *types; /* or one for each */
    bool is_one;               /* all neighbours get the same block */
} mpi_blocks_t;

/* Exchange with all neighbours; request NULL: wait. */
int mpi_neighbor_exchange(mpi_rank_t *self, MPI_Comm comm, const mpi_blocks_t *send,
                          const mpi_blocks_t *receive, MPI_Request *request);

#endif
