/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbourhood collectives: exchanges of a rank with its neighbours in the topology of a
 * communicator.
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
    int64_t count;               /* of every block, when `counts` is empty */
    coll_vector_t counts;        /* the count of each neighbour's block */
    coll_vector_t displacements; /* in extents, or bytes with `types`; empty: contiguous blocks */
    MPI_Datatype type;
    const MPI_Datatype *types; /* of each neighbour's block; NULL: `type` */
    bool is_one;               /* all neighbours get the same block */
    bool is_vector;            /* the program has to give counts and displacements */
} mpi_blocks_t;

/* Exchange with all neighbours; request NULL: wait; persistent: when MPI_Start says so. */
int mpi_neighbor_exchange(mpi_rank_t *self, MPI_Comm comm, const mpi_blocks_t *send,
                          const mpi_blocks_t *receive, MPI_Request *request, bool is_persistent);

#endif
