/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages with --check: an engine in front of the one that moves messages (message.c, or the job
 * in virtual time) examines them first. Its notes about a rank are touched by the worker of that
 * rank only.
 *
 * Sends wait for their receivers, and receives from any source wait until no rank can do anything
 * else (late.h): then all candidate messages have arrived.
 */
#ifndef XY_MPI_CHECK_ENGINE_H
#define XY_MPI_CHECK_ENGINE_H

#include "mpi/p2p/p2p.h"

/* After the job is made, before ranks run. */
xy_status_t check_engine_begin(int ranks);
/* The job has ended: what was a mistake only if it came to this is a finding. */
void check_engine_finish(void);

/* Does the send wait only because of --check? */
bool check_engine_is_forced(const mpi_request_t *send);
/* Let one such go that meets a rank of the worker, on the worker: ranks wait for each other because
 * of it, for ever. `stuck[rank]`: is it one of them? `cause`: as revive of mpi_reviver_t has it.
 * False: there is none. */
bool check_engine_release(const mpi_worker_t *worker, const bool *stuck, const char *cause);
/* Do what other workers have ordered (cores.h). True: something was done. */
bool check_engine_serve(const mpi_worker_t *worker);

/* A random number below `limit`, and whether there are any: --check=shuffle. */
bool check_shuffles(void);
unsigned check_random(unsigned limit);
/* The same of the n-th choice of a rank, whatever happens elsewhere. */
unsigned check_random_of(int rank, unsigned n, unsigned limit);

#endif
