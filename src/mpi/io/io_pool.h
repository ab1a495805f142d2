/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that read and write while ranks continue. They begin with the first task and end with the
 * job; a few are enough, as the kernel does the work. While a task is under way the job is not
 * stuck, whatever its ranks wait for.
 */
#ifndef XY_MPI_IO_IO_POOL_H
#define XY_MPI_IO_IO_POOL_H

typedef struct io_task {
    void (*run)(struct io_task *task); /* frees it; does not park */
    struct io_task *next;
} io_task_t;

/* Any thread. On the calling thread, at once, where no thread can be had. */
void io_pool_submit(io_task_t *task);
/* fn(arg) on such a thread; the calling rank parks until it is complete. In virtual time: at once.
 */
void io_pool_call(void (*fn)(void *arg), void *arg);
/* At the end of the job: all tasks are complete. */
void io_pool_cleanup(void);

#endif
