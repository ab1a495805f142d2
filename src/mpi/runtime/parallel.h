/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work cut into chunks, shared with idle workers.
 *
 * A worker with a large copy or a collective to do opens a job: any idle worker (a communication
 * core, a worker whose ranks all wait) takes the next chunk. The job lives in the worker's own
 * slot, which is never freed; a chunk is taken by a compare-and-swap on (generation, chunk), so
 * that a helper with an outdated view takes nothing.
 */
#ifndef XY_MPI_RUNTIME_PARALLEL_H
#define XY_MPI_RUNTIME_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll/coll.h"
#include "mpi/runtime/rank.h"

enum { XMPI_CHUNK = XY_DIRECT_PIECE }; /* bytes of a copy that make one chunk */

/* Do chunk `chunk` of `arg`. Runs on any worker, several at once; does not park. */
typedef void (*mpi_chunk_fn)(void *arg, int64_t chunk);

/* Do all chunks, with the help of idle workers; they are done when it returns. Jobs nest: only
 * the outermost of a worker is shared. Called on a worker. */
void mpi_parallel_run(mpi_chunk_fn fn, void *arg, int64_t chunks);

/* Called by an idle worker: take chunks of another worker's open job. False: there was none. */
bool mpi_parallel_help(int worker);

/* memcpy, in chunks that others may take. */
void mpi_copy(void *to, const void *from, size_t bytes);

xy_status_t mpi_parallel_init(int workers);
void mpi_parallel_cleanup(void);

#endif
