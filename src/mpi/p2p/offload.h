/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of large messages on communication cores.
 *
 * A nonblocking call that finds its partner offloads the copy to a communication core and returns;
 * both requests complete when that core has notified their workers. A waiting rank helps with the
 * chunks (parallel.h). Blocking calls copy themselves.
 */
#ifndef XY_MPI_P2P_OFFLOAD_H
#define XY_MPI_P2P_OFFLOAD_H

#include "mpi/p2p/request.h"

enum { XMPI_OFFLOAD_FROM = 64 << 10 }; /* bytes from which on it is worth telling another core */

/* Is a copy of `bytes`, found on behalf of `worker`, worth offloading? A helper (gate.h) always
 * does so: it must not keep the worker waiting. */
static inline bool mpi_offload_is_worth(const mpi_worker_t *worker, uint64_t bytes)
{
    return bytes >= XMPI_OFFLOAD_FROM || xy_worker_self() != worker->base;
}

/* The communication core that serves `worker`: always the same one, so a gate has one helper. */
int mpi_offload_server(int worker);
/* Offload it: `receive` knows its completion and is no longer posted, `sender` has its description.
 */
void mpi_offload_copy(mpi_worker_t *worker, mpi_request_t *receive, mpi_request_t *sender);
/* A large message has gone to worker `target`: a communication core shall match it if the ranks
 * there compute. */
void mpi_offload_match(mpi_worker_t *worker, int target);
/* On a communication core: make the copies that it found as a helper. */
void mpi_offload_progress(mpi_worker_t *worker);

/* Handlers of packets. */
void mpi_packet_copy(mpi_worker_t *worker, int from, mpi_packet_t *packet);
void mpi_packet_match(mpi_worker_t *worker, int from, mpi_packet_t *packet);

#endif
