/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heap of a job: how malloc grows, and when it gives memory back.
 *
 *   process_heap_setup();                              (before the workers start)
 *   xy_pool_config_t c = {.rest = process_heap_rest};  (each worker, before it sleeps)
 *
 * The heap is the C library's. Settings of the user take precedence: another malloc, MALLOC_
 * variables, GLIBC_TUNABLES, or mallopt in a process.
 */
#ifndef XY_PROCESS_LIBC_HEAP_H
#define XY_PROCESS_LIBC_HEAP_H

#include "fiber/fiber.h"

void process_heap_setup(void);
/* Give memory back if processes have freed much since the last time. From a worker; does not park.
 * Returns after how many seconds it is to be called again; 0: it need not. */
double process_heap_rest(xy_worker_t *worker);

#endif
