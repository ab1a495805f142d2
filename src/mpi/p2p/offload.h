/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of large messages on communication cores.
 *
 * A nonblocking call that finds its partner leaves the copy to a communication core and returns;
 * both requests complete when that core has told their workers. A rank that waits helps with the
 * pieces (parallel.h). Blocking calls copy themselves: they have nothing better to do.
 */
#ifndef XY_MPI_P2P_OFFLOAD_H
#define XY_MPI_P2P_OFFLOAD_H

#include "mpi/p2p/request.h"
#include "mpi/runtime/packet.h"

enum { XMPI_COPY_LEFT = 64 << 10 }; /* bytes from which on it is worth telling another core */

/* Is a copy of `bytes`, found on behalf of `worker`, left to a communication core? A guest always
 * does so: it must not keep the worker waiting. */
static inline bool mpi_copy_is_left(const mpi_worker_t *worker, uint64_t bytes)
{
    return __builtin_expect(worker->delegates, 0) &&
           (bytes >= XMPI_COPY_LEFT || xy_worker_self() != worker->base);
}

/* Leave it: `receive` knows its completion and is no longer posted, `sender` has its description.
 */
void mpi_copy_leave(mpi_worker_t *worker, mpi_request_t *receive, mpi_request_t *sender);
/* A large message has gone to worker `target`: a communication core shall look after it. */
void mpi_copy_announce(mpi_worker_t *worker, int target);
/* On a communication core: make the copies that it found as a guest. */
void mpi_copies_make(mpi_worker_t *worker);

/* From a buffer into that of `receive` (p2p.c). */
void mpi_copy_message(mpi_request_t *receive, const void *buffer, int64_t count, mpi_type_t *type);

void mpi_packet_copy(mpi_worker_t *worker, int from, mpi_packet_t *packet);
void mpi_packet_look(mpi_worker_t *worker, int from, mpi_packet_t *packet);

#endif
