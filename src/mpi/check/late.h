/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives from any source that take their message late: when no rank can do anything else, all
 * candidate messages have arrived, and an ambiguous choice is visible.
 *
 * The order of MPI is kept. A rank's receives take messages of one source in the order in which
 * both were made, so a receive that could take the same message as a late one before it is late,
 * too, and a message that one of them could take is not seen by later ones nor by a probe.
 */
#ifndef XY_MPI_CHECK_LATE_H
#define XY_MPI_CHECK_LATE_H

#include "mpi/p2p/p2p.h"

xy_status_t check_late_begin(int ranks);
/* True: `request` is late, and the caller does nothing more with it. */
bool check_late_receive(mpi_rank_t *self, mpi_request_t *request);
/* Is there a late receive of `to` that takes the message? */
bool check_late_takes(const mpi_rank_t *to, const xy_envelope_t *envelope);
/* A message has come for the rank, or it has begun a late receive: if all messages are there that
 * it could take, it gets one. On its worker. */
void check_late_arrive(mpi_rank_t *rank);
/* False: it is not a late one. */
bool check_late_cancel(mpi_rank_t *self, mpi_request_t *request);
/* The message that a probe sees; NULL: none so far. `waits`: then it parks until there is one. */
mpi_message_t *check_late_probe(mpi_rank_t *self, const xy_envelope_t *envelope, bool waits);

/* No rank can do anything else: one of this worker, or this one, gets its message, on the worker.
 * False: there is none. *readies_p: a rank can move now; it may have to wait for more. */
bool check_late_match(const mpi_worker_t *worker, bool *readies_p);
bool check_late_match_of(mpi_rank_t *rank, bool *readies_p);
/* Would that give it one? On its worker, or while that sleeps. */
bool check_late_can_match(const mpi_rank_t *rank);

/* Is it a receive, or with NULL a probe, that is late? And is no message there that it could take?
 */
bool check_late_has(const mpi_rank_t *rank, const mpi_request_t *request);
bool check_late_waits(const mpi_rank_t *rank, const mpi_request_t *request);

#endif
