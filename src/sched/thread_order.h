/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order of the threads that share a core. Threads are not preempted: one runs until it yields, and
 * a policy chooses the next.
 *
 *   xy_order_queue_t q;
 *   xy_order_queue_init(&q, order, threads);       (threads: an array of the caller)
 *   threads[3].has_collective = true;
 *   xy_order_update(&q, 3);                        (after every change of a thread)
 *   t = xy_order_pick(&q);                         (-1: none; the core may sleep)
 *
 * A thread that becomes eligible is put in front of those that wait, the newest first, unless the
 * order says otherwise. One that was picked goes to the back. A queue belongs to one core and one
 * thread of control at a time; a thread is in one queue only.
 */
#ifndef XY_SCHED_THREAD_ORDER_H
#define XY_SCHED_THREAD_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

enum { XY_ORDER_PRIORITY_MAX = 20 };

typedef struct {
    bool has_collective; /* something of a collective is left for it, now or later */
    bool is_ready;       /* it could do something now */
    bool is_supervisor;  /* of the suspended threads of its core (see `suspend`) */
    bool is_listed;      /* kept by the queue, as all below */
    int8_t base;         /* priority, 0 .. XY_ORDER_PRIORITY_MAX; set it before the first update */
    int8_t current;
    int32_t next, previous;
} xy_order_thread_t;

typedef struct xy_order xy_order_t;

typedef struct {
    const xy_order_t *order;
    xy_order_thread_t *threads;
    int32_t head, tail; /* -1: empty */
    int32_t listed;
} xy_order_queue_t;

struct xy_order {
    const char *name;
    const char *describe; /* half a line */
    bool is_cyclic;      /* without changes, threads are picked in the same order again and again */
    bool has_supervisor; /* a thread of each core looks whether suspended ones must be woken */
    bool is_fifo;        /* a thread that becomes eligible goes to the back, not to the front */
    bool has_priorities; /* otherwise all threads have 0, whatever their base is */
    /* Does this thread stand in the list? */
    bool (*admits)(const xy_order_thread_t *thread);
    /* A listed thread changed; NULL: it stays where it is. */
    void (*changed)(xy_order_queue_t *queue, int32_t thread);
    /* Back into the list after it was picked; NULL: to the tail. */
    void (*requeue)(xy_order_queue_t *queue, int32_t thread);
};

/* All of them, NULL-terminated. */
extern const xy_order_t *const xy_order_all[];

/* `semaphore`, unless a program asks for another one. */
const xy_order_t *xy_order_usual(void);
/* By name. XY_EUSAGE: there is none (said, with the nearest). Any thread. */
xy_status_t xy_order_find(const char *name, const xy_order_t **order_p);

void xy_order_queue_init(xy_order_queue_t *queue, const xy_order_t *order,
                         xy_order_thread_t *threads);
/* The state of a thread changed: list it or take it out. */
void xy_order_update(xy_order_queue_t *queue, int32_t thread);
/* Take a listed thread out, whatever the order says: it left the core. */
void xy_order_remove(xy_order_queue_t *queue, int32_t thread);
/* The next thread, already put back where the order wants it; -1: the list is empty. */
int32_t xy_order_pick(xy_order_queue_t *queue);

#endif
