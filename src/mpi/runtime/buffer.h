/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of eager messages: pools of workers and of the job, by size class. */
#ifndef XY_MPI_RUNTIME_BUFFER_H
#define XY_MPI_RUNTIME_BUFFER_H

#include <stddef.h>

#include "mpi/runtime/rank.h"

/* At least `bytes`, aligned to 16; NULL: memory ran out (silent). */
void *mpi_buffer_take(mpi_worker_t *worker, size_t bytes);
/* Back to the pool of `worker`, which need not be the one that took it. */
void mpi_buffer_give(mpi_worker_t *worker, void *buffer);
void mpi_buffers_cleanup(mpi_job_t *job); /* of all workers, which do nothing any more */

#endif
