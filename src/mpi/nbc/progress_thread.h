/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress threads: one fiber per rank that executes the rank's part of its nonblocking
 * collectives, on a worker that the placement chose.
 *
 * The places of threads, and the order of those on one core, may differ between communicators and
 * between collectives. Threads of the same place, order and priority are a family; it is made when
 * the first collective asks for it. The threads of a family on one worker share it in their order
 * (sched/thread_order.h), the same tables that the simulated node uses: the one that ends its turn
 * picks the next. At most one of them is ready at any time, so that they take turns with ranks and
 * other families of the worker. A turn does all ready operations of its thread.
 *
 * No thread polls forever: when no operation became ready during the polling time of an idle
 * worker, no thread has the turn, and the worker may sleep; the next ready operation starts a
 * thread again. Fibers are made on first use.
 */
#ifndef XY_MPI_NBC_PROGRESS_THREAD_H
#define XY_MPI_NBC_PROGRESS_THREAD_H

#include "mpi/nbc/nbc.h"
#include "sched/sched.h"

typedef struct nbc_thread nbc_thread_t;
typedef struct nbc_core nbc_core_t;

struct nbc_thread {
    mpi_worker_t *worker;
    nbc_core_t *core;
    int index; /* among those of its core */
    xy_fiber_t *fiber;
    struct nbc_entry *entries;         /* the worker's, oldest first */
    _Atomic(struct nbc_entry *) inbox; /* new ones, left by any thread, most recent first */
    _Atomic int ready;                 /* operations that became ready, less those done */
    _Atomic bool is_posted;            /* in its worker's mailbox */
    nbc_thread_t *next_post;
};

/* The threads of one family on one worker. All but `all` belongs to the worker. */
struct nbc_core {
    xy_order_queue_t queue;
    xy_order_thread_t *states; /* [count + 1]: the last is the supervisor of suspended ones */
    nbc_thread_t **threads;    /* [count] */
    int count;
    int busy;         /* with a collective */
    int ready;        /* with an operation to do now */
    bool is_known;    /* in the worker's list */
    bool is_running;  /* a thread has the turn */
    int idle_turns;   /* in a row that found nothing to do */
    double idle_from; /* when the clock was first looked at since */
    uint64_t turns, vain;
    nbc_core_t *next; /* of its worker */
};

struct nbc_family {
    nbc_way_t way;
    nbc_thread_t *threads; /* [size of the job] */
    nbc_core_t *cores;     /* [workers of the job] */
    /* Calls of each collective that it served. */
    _Atomic uint64_t calls[XY_COLL_COUNT];
    nbc_family_t *next;
};

/* The family of a way, made if there is none yet; NULL: no memory (reported). Any thread. */
nbc_family_t *nbc_family_find(const nbc_way_t *way);
void nbc_families_cleanup(mpi_job_t *job);

/* `schedule` has operations for the thread, in `queue` of its executor. Before they become ready;
 * any thread. */
void nbc_thread_add(nbc_thread_t *thread, nbc_schedule_t *schedule, int queue);
/* One of them became ready. Any thread. */
void nbc_thread_post(nbc_thread_t *thread);
/* Called by the worker's poll function when `posts` is not empty. */
void nbc_threads_news(mpi_worker_t *worker);

#endif
