/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heap of a job: how malloc grows, and when it gives memory back.
 *
 *   mpi_heap_setup();                              (before the workers start)
 *   mpi_job_config_t c = {.rest = mpi_heap_rest};  (each worker, before it sleeps)
 *
 * The heap is the C library's. Nothing is set, and nothing is given back, where the user has chosen
 * otherwise: another malloc, MALLOC_ variables, GLIBC_TUNABLES, or mallopt in a rank.
 */
#ifndef XY_MPI_LAUNCH_LIBC_HEAP_H
#define XY_MPI_LAUNCH_LIBC_HEAP_H

#include "fiber/fiber.h"

void mpi_heap_setup(void);
/* Give memory back if ranks have freed much since the last time. From a worker; does not park.
 * Returns after how many seconds it is to be called again; 0: it need not. */
double mpi_heap_rest(xy_worker_t *worker);

#endif
