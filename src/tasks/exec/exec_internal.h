/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the real task engine. All is protected by `lock` unless its comment says
 * otherwise.
 *
 *   exec.c         the platform that policies see, making and unmaking
 *   exec_work.c    workers: taking, running and ending tasks
 *   exec_copies.c  copies of data: in caches, which are a model, and out of core
 *   exec_place.c   data that exchange their addresses
 *   exec_store.c   a file: threads that read and write, buffers
 *   exec_record.c  what happens, kept until the end
 */
#ifndef XY_TASKS_EXEC_EXEC_INTERNAL_H
#define XY_TASKS_EXEC_EXEC_INTERNAL_H

#include <pthread.h>

#include "fiber/fiber.h"
#include "tasks/exec/exec.h"

enum { EXEC_STORE_THREADS = 2, EXEC_BATCH_MAX = 64, EXEC_SPARES = 32 };

/* Something that happened, in seconds since the start. */
typedef enum { EXEC_TASK, EXEC_TRANSFER, EXEC_MEMORY, EXEC_DECISION, EXEC_WAIT } exec_event_t;

typedef struct {
    double end;
    union {
        double start;
        uint64_t used; /* EXEC_MEMORY */
    } u;
    exec_event_t event;
    int32_t what, from, to; /* a task, a datum or a memory; `from` is also the worker */
} exec_record_t;

/* Records in the order of their ends, written by one thread at a time. */
typedef struct exec_page exec_page_t;
typedef struct {
    exec_page_t *first, *last, *reading; /* reading: while they are reported */
    int32_t count, told;                 /* in the last page; of those in the page being read */
    double end;                          /* of the last record */
    bool is_cut;                         /* memory ran out */
} exec_log_t;

/* Where a datum lies (exec_place.c). */
typedef struct {
    int32_t user; /* worker that alone used the place since it was written; -1: none, -2: several */
    bool is_dead; /* no task will read what is there */
    uint64_t given; /* tasks that `user` must have run before another worker may write there */
} exec_place_t;

/* A task of a batch waits until a worker has run so many tasks. */
typedef struct {
    int32_t task, worker;
    uint64_t ran;
} exec_gate_t;

typedef struct exec_tasks exec_tasks_t;

/* The reason for which the fiber of a worker is parked. */
typedef enum {
    EXEC_RUNS,             /* it is not parked */
    EXEC_WAITS_FOR_CHANGE, /* there is nothing to do until `epoch` differs from `seen` */
    EXEC_WAITS_FOR_TASKS,  /* others must run theirs before `awaited`, a task of its batch */
} exec_wait_t;

typedef struct {
    exec_tasks_t *engine;
    int32_t number, memory;
    xy_worker_t *host; /* the thread that it lives on, and its only fiber there */
    xy_fiber_t *fiber;
    xy_task_pipeline_t pipeline;
    /* Written with every task, so far from the ends, where the lines of other workers begin. */
    exec_log_t log; /* of this thread alone */
    double begun;   /* when the task that runs began, if recorded; 0: not known */
    xy_op_id_t batch[EXEC_BATCH_MAX];
    void **buffers; /* [EXEC_BATCH_MAX][most accesses of a task] */
    int32_t batch_count;
    exec_gate_t *gates; /* of the batch, in its order; NULL: places are not exchanged */
    int32_t gate, gate_count;
    int32_t spares[EXEC_SPARES]; /* ring of data that were dead when the cache gave them up */
    uint32_t spare_count;
    uint64_t taken;       /* tasks */
    _Atomic uint64_t ran; /* likewise; written by its own thread */
    double busy, waited;  /* seconds in tasks, and between tasks of a batch for other workers */
    double mean;          /* seconds of a task, lately */
    double ended;         /* when it last had nothing to run any more */
    uint32_t seen;        /* epoch in which it last found nothing to do */
    int32_t awaited;
    _Atomic exec_wait_t wait; /* written by its own thread; FOR_CHANGE under the lock */
} exec_worker_t;

/* Something to read from or write to the file. */
typedef struct {
    int32_t data;
    bool is_write;
    double start; /* when a thread took it */
} exec_request_t;

struct exec_tasks {
    xy_task_engine_t base; /* `own` of a copy: out of core its buffer */
    const xy_task_exec_t *how;
    xy_status_t status; /* the first failure */
    bool is_recording;  /* there is an observer */
    double start, now;
    int32_t running; /* workers that run tasks */
    int32_t idle;    /* workers that wait for a change */
    xy_pool_t *pool; /* of the workers */

    pthread_mutex_t lock;
    _Atomic uint32_t epoch; /* counts changes; read without the lock by idle workers */

    exec_worker_t *workers;
    _Atomic int32_t *before; /* [ops] predecessors that are not over; without the lock. The policy
                                may know of a predecessor before it is */
    exec_place_t *places;    /* [data]; NULL: they are not exchanged */

    /* Out of core. */
    pthread_cond_t asked; /* there is a request, or the end has come */
    exec_request_t *requests;
    int32_t request_first, request_count, request_room; /* a ring: one per datum at most */
    int32_t in_flight;                                  /* requests not yet over */
    bool is_closing;
    pthread_t store_threads[EXEC_STORE_THREADS];
    int store_started;
    void *free_buffers; /* chained through their first bytes, all of `buffer_bytes` */
    uint64_t buffer_bytes;

    exec_log_t log; /* transfers and memories; workers have their own */

    /* Workers that wait for tasks of others. Read after every task, so it has a line alone. */
    _Alignas(XY_FIBER_LINE) _Atomic int32_t blocked;
};

/* exec_record.c. None but exec_tell is called unless e->is_recording. */
/* Around a task; `next` is what the worker runs after it, or -1. The end is recorded before others
 * are notified. */
void exec_record_begin(exec_worker_t *w);
void exec_record_end(const exec_tasks_t *e, exec_worker_t *w, xy_op_id_t op, xy_op_id_t next);
void exec_record_pause(exec_worker_t *w, exec_event_t event, double start, double end);
void exec_record_transfer(exec_tasks_t *e, int32_t data, int32_t from, int32_t to, double start);
void exec_record_memory(exec_tasks_t *e, int32_t memory);
/* After the run: tell the observer all of it in the order of the ends. XY_ENOMEM (reported): not
 * all was kept. */
xy_status_t exec_tell(exec_tasks_t *e, const xy_task_observer_t *observer);
void exec_record_cleanup(exec_tasks_t *e);

/* exec_work.c */
void exec_worker_main(void *arg); /* a fiber; the argument is its exec_worker_t */
bool exec_poll(xy_worker_t *host);
/* Wake all workers: something changed. */
void exec_wake(exec_tasks_t *e);
/* Remember the first failure; all workers then end. */
void exec_fail(exec_tasks_t *e, xy_status_t status);

/* exec_copies.c */
/* In core, and with a file. */
extern const xy_task_driver_t exec_cache_driver, exec_store_driver;
/* A request is complete. */
void exec_arrived(exec_tasks_t *e, const exec_request_t *request);
/* All tasks are complete: ask for what is not at home to be brought there (see exec_store_stop). */
void exec_flush(exec_tasks_t *e);

/* exec_place.c */
xy_status_t exec_places_init(exec_tasks_t *e); /* ENOMEM in silence */
void exec_places_cleanup(exec_tasks_t *e);
/* Functions of the driver. The task is ready: what it only writes is dead. */
void exec_places_ready(xy_task_engine_t *base, xy_op_id_t op);
void exec_place_given_up(xy_task_engine_t *base, int32_t memory, int32_t data);
/* A task is about to write the datum, which the cache does not hold: find it a better place. */
void exec_place_exchange(xy_task_engine_t *base, int32_t memory, int32_t data);
/* The worker takes the task as the next of its batch. */
void exec_places_use(exec_tasks_t *e, exec_worker_t *w, xy_op_id_t op);
/* May the task of this number in the batch begin? Without the lock. */
bool exec_places_are_free(const exec_tasks_t *e, exec_worker_t *w, int32_t task);

/* exec_store.c */
xy_status_t exec_store_start(exec_tasks_t *e);
/* Returns when all requests are complete; after a failure, when those in progress are. */
void exec_store_stop(exec_tasks_t *e);
void exec_store_request(exec_tasks_t *e, int32_t data, bool is_write);
/* A buffer for the datum; NULL: memory ran out, which is remembered. */
void *exec_buffer_take(exec_tasks_t *e, int32_t data);
void exec_buffer_give(exec_tasks_t *e, int32_t data, void *buffer);

static inline exec_tasks_t *exec_of(xy_task_engine_t *base)
{
    return (exec_tasks_t *)base;
}

static inline bool exec_is_over(const exec_tasks_t *e)
{
    return e->base.left == 0 || e->status != XY_OK ||
           (e->how->stop != NULL && atomic_load_explicit(e->how->stop, memory_order_acquire));
}

#endif
