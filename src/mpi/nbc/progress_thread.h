/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress threads: one fiber per rank that executes the rank's part of its nonblocking
 * collectives, on a worker that the placement chose.
 *
 * The threads of one worker share it in an order (sched/order.h), the same tables that the
 * simulated node uses: the one that ends its turn picks the next and hands over. At most one of
 * them is ready at any time, so that on a worker with ranks they take turns with those. A turn does
 * all that is ready for its thread.
 *
 * No thread polls for ever: when no operation became ready for as long as an idle worker looks for
 * work, no thread has the turn, and the worker may sleep; the next operation that becomes ready
 * starts it again. Fibers are made when they are first needed.
 */
#ifndef XY_MPI_NBC_PROGRESS_THREAD_H
#define XY_MPI_NBC_PROGRESS_THREAD_H

#include "mpi/nbc/nbc.h"
#include "sched/sched.h"

typedef struct nbc_thread nbc_thread_t;

xy_status_t nbc_threads_init(mpi_job_t *job, const mpi_job_config_t *config);
void nbc_threads_cleanup(mpi_job_t *job);

/* `schedule` has operations for the thread, in `queue` of its executor. Before they become ready;
 * any thread. */
void nbc_thread_add(nbc_thread_t *thread, nbc_schedule_t *schedule, int queue);
/* One of them became ready. Any thread. */
void nbc_thread_post(nbc_thread_t *thread);
/* Called by the worker's poll function when `posts` is not empty. */
void nbc_threads_news(mpi_worker_t *worker);

#endif
