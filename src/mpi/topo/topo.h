/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual topologies, neighbourhood collectives, and communicators reordered for the machine.
 *
 *   topology.h   who is whose neighbour in a communicator
 *   neighbor.h   collectives between neighbours, made of messages
 *   reorder_comm.h    ranks renumbered so that partners are near each other
 *
 * A topology never changes; the communicators of one rank that were duplicated from one another
 * share it. Reordering is a collective call, made where a topology is created with `reorder`.
 */
#ifndef XY_MPI_TOPO_TOPO_H
#define XY_MPI_TOPO_TOPO_H

#include "mpi/topo/neighbor.h"     /* neighbourhood collectives */
#include "mpi/topo/reorder_comm.h" /* ranks numbered so that partners are near each other */
#include "mpi/topo/topology.h"     /* neighbours */

extern const mpi_layer_t mpi_topo_layer;

#endif
