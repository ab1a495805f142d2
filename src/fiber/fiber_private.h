/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the component. Unless its comment says otherwise, a field belongs to the
 * worker: only its thread touches it (or the creating thread, before the pool runs).
 */
#ifndef XY_FIBER_FIBER_PRIVATE_H
#define XY_FIBER_FIBER_PRIVATE_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "fiber/fiber.h"

enum {
    FIBER_PARKED,
    FIBER_READY,
    FIBER_RUNNING,
    FIBER_SLEEPING,
    FIBER_ENDED,
    FIBER_AWAY, /* a visitor that waits */
};

/* Special kinds of parks. */
enum {
    FIBER_SIGNALLED = 1, /* ready came before park */
    FIBER_VISITS = 2,    /* it runs on a thread that is not its worker's (visit.c) */
};

/* Worker's `asleep` word, which is also the futex. */
enum {
    FIBER_AWAKE,
    FIBER_ASLEEP,       /* until it is rung: counted in the pool's `sleepers` */
    FIBER_ASLEEP_TIMED, /* until it is rung or its next timer: not counted */
    FIBER_ABSENT,       /* it runs the program's code; a ring wakes a visitor, which polls */
};

/* A stack of a slab: usable from low to high, its guard below low. `next` links free ones. */
typedef struct fiber_stack {
    struct fiber_stack *next;
    char *guard, *low, *high;
    unsigned valgrind_id;
    bool used_before;
} fiber_stack_t;

typedef struct fiber_slab {
    struct fiber_slab *next;
    char *base; /* of the mapping */
    size_t bytes;
    char *first; /* its first guard */
    int count;
    fiber_stack_t stacks[];
} fiber_slab_t;

/* The stacks of one worker. */
typedef struct {
    fiber_slab_t *slabs;
    fiber_stack_t *free;
    size_t size; /* usable bytes of a stack */
    int made;    /* stacks in all slabs */
} fiber_stacks_t;

struct xy_fiber {
    /* First line: read by any thread, rarely written. */
    xy_fiber_head_t head;
    _Atomic(xy_fiber_t *) mail_next; /* the waker's, while in a mailbox; NULL otherwise */
    xy_fiber_fn fn;
    void *arg;
    fiber_stack_t *stack; /* NULL: an adopted thread's, or a root */
    char *high;
    void *tsan;

    /* Second line: what a switch touches. */
    _Alignas(XY_FIBER_LINE) void *context; /* NULL: has not run yet */
    xy_fiber_t *next, *prev; /* READY: in a ready list; AWAY: of the visitors that wait */
    uint8_t state, priority;
    uint8_t list;                /* number of the ready list, while FIBER_READY */
    uint8_t special;             /* FIBER_SIGNALLED, FIBER_VISITS */
    bool is_held;                /* its owner will call xy_fiber_release */
    char *low;                   /* of its stack: a switch checks that it has not run over it */
    xy_fiber_t *child, *sibling; /* in the timer heap */
    int64_t deadline;            /* ns of CLOCK_MONOTONIC */

    _Alignas(XY_FIBER_LINE) uint64_t deadline_order;

    /* Used by visitors (visit.c). */
    _Atomic uint32_t call; /* state of its thread's wait; the futex */
    xy_fiber_t *before;    /* the fiber that ran here when it came in */
    xy_fiber_t *home;      /* a detached one: the context of its thread */
};
_Static_assert(sizeof(xy_fiber_t) == 3 * XY_FIBER_LINE, "a switch touches one line of each fiber");
_Static_assert(offsetof(xy_fiber_t, head) == 0, "fiber_inline.h reads the head");

typedef struct {
    uint32_t nonempty; /* bit p: list p has fibers */
    xy_fiber_t *first[XY_FIBER_PRIORITIES];
    xy_fiber_t *last[XY_FIBER_PRIORITIES];
} fiber_queue_t;

/* Data shared by visitors and the worker's own thread; under `lock` but for `poller`. */
typedef struct {
    _Alignas(XY_FIBER_LINE) _Atomic uint32_t lock; /* 0 free, 1 taken, 2 and threads sleep for it */
    _Atomic int queued;                            /* threads that want it */
    _Atomic(xy_fiber_t *) poller;                  /* the visitor that a ring wakes */
    bool is_out;                                   /* the worker's thread runs the program's code */
    xy_fiber_t *first, *last;                      /* visitors that wait, linked by next and prev */
} fiber_share_t;

typedef struct fiber_chunk {
    struct fiber_chunk *next;
} fiber_chunk_t;

struct xy_worker {
    xy_worker_head_t head; /* .current and .mail: see fiber_inline.h */

    /* The fields that a switch touches. */
    _Alignas(XY_FIBER_LINE) xy_fiber_t *dead; /* ended, left at the next switch */
    void (*switched)(xy_worker_t *w, xy_fiber_t *previous, xy_fiber_t *fiber);
    bool (*_Atomic poll)(xy_worker_t *w);
    xy_fiber_t *last;   /* ran last and has not ended */
    xy_fiber_t *timers; /* the root of the timer heap */
    uint64_t timer_order;
    uint32_t ticks;
    bool is_stopped;
    bool is_shared; /* threads visit (visit.c); set once */
    fiber_queue_t ready;

    xy_pool_t *pool;
    void *user;
    int64_t spin_ns;     /* the least: what was configured */
    int64_t spin_now_ns; /* in use now: see fiber_spin_adapt */
    int hurried;         /* so many waits to come begin with a sleep: see yield_core */
    void (*idle)(xy_worker_t *w, xy_idle_t what, xy_fiber_t *fiber);
    double (*rest)(xy_worker_t *w);
    int index, cpu;
    fiber_stacks_t stacks;
    xy_fiber_t *free_fibers; /* by next */
    fiber_chunk_t *chunks;
    fiber_share_t share;
    pthread_t thread;
    void *signal_stack;
    stack_t signal_stack_before;
    xy_fiber_t root; /* the thread's own context; also the letter that says: stop */
    xy_fiber_t adopted;
};
_Static_assert(offsetof(xy_worker_t, head) == 0, "fiber_inline.h reads the head");

/* Large enough for every kernel; cpu_set_t is not. */
typedef union {
    cpu_set_t set;
    unsigned char bytes[1024];
} fiber_cpuset_t;

struct xy_pool {
    xy_pool_config_t config;
    xy_worker_t *workers;
    void *memory; /* of the pool and its workers */
    bool is_adopted;
    int started;                    /* threads of xy_pool_start */
    fiber_cpuset_t affinity_before; /* of the thread that became worker 0 */
    bool is_pinned;

    /* Low half: workers asleep without a timer; high half: how often one of them woke. */
    _Alignas(XY_FIBER_LINE) _Atomic uint64_t sleepers;
    _Atomic bool is_stuck_said;
    _Atomic int outside; /* fibers that a thread which is no worker will wake */
    _Alignas(XY_FIBER_LINE) _Atomic long live; /* fibers that have not ended */
    _Atomic bool is_stopping;
};

/* fiber_stack.c */
xy_status_t fiber_stack_get(fiber_stacks_t *stacks, fiber_stack_t **stack_p);
void fiber_stack_put(fiber_stacks_t *stacks, fiber_stack_t *stack);
void fiber_stacks_cleanup(fiber_stacks_t *stacks);
bool fiber_stacks_contain(const fiber_stacks_t *stacks, const void *address);

/* fiber.c */
void fiber_recycle(xy_worker_t *w, xy_fiber_t *fiber);

/* timer.c: a heap of sleeping fibers, earliest first, equal ones in order of arrival. */
int64_t fiber_now_ns(void);
void fiber_timer_add(xy_worker_t *w, xy_fiber_t *fiber, int64_t deadline);
void fiber_timer_expire(xy_worker_t *w); /* make ready whose time has come */

/* sleep.c */
uint32_t fiber_fence_init(void); /* 1: rings must fence */
/* Until a ring, the next timer, or `deadline` (0: none). */
void fiber_worker_sleep(xy_worker_t *w, int64_t deadline);
static inline bool fiber_poll(xy_worker_t *w)
{
    bool (*poll)(xy_worker_t *) = atomic_load_explicit(&w->poll, memory_order_relaxed);

    return poll != NULL && poll(w);
}

/* The worker slept for so long: how long to poll the next time. */
void fiber_spin_adapt(xy_worker_t *w, int64_t slept_ns);

void fiber_fence(void);
void fiber_fence_by_rings(xy_worker_t *w); /* from now on */
/* Until `deadline`; 0: none. `mask` tells waits apart, and means nothing. */
void fiber_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline, uint32_t mask);
void fiber_futex_wake(_Atomic uint32_t *word);
void fiber_thread_sleep(double seconds); /* the kernel's: sleep of a rank lets others run */

/* still.c */
#define FIBER_ANY_MASK     UINT32_MAX
#define FIBER_VISITOR_MASK UINT32_C(0x7669736b) /* of a visitor that waits */
bool fiber_threads_are_still(void);             /* all of the process but this one, for ever */

/* visit.c */
extern _Thread_local xy_fiber_t *fiber_detached; /* that runs on this thread of its own, or NULL */
void fiber_visitor_park(xy_worker_t *w, xy_fiber_t *self);
void fiber_visitor_yield(xy_worker_t *w, xy_fiber_t *self);
void fiber_visitor_sleep(xy_worker_t *w, xy_fiber_t *self, double seconds);
void fiber_visitor_ready(xy_worker_t *w, xy_fiber_t *fiber);
/* Do those that do not wait here wait for ever in other ways, and nothing has come for the one that
 * asks, whose `word` is `value` then? True at most once. */
bool fiber_waits_elsewhere(xy_pool_t *pool, _Atomic uint32_t *word, uint32_t value);
/* ns after which one that waits asks whether all do, at first and at last. */
#define FIBER_ASK_FIRST INT64_C(100000000)
#define FIBER_ASK_MOST  INT64_C(1600000000)
void fiber_visitor_ring(xy_worker_t *w); /* the worker is absent: wake the visitor that polls */
/* The worker's own thread is idle: let visitors in for a moment; while it sleeps; and come back. */
void fiber_share_breathe(xy_worker_t *w);
void fiber_share_unlock(xy_worker_t *w);
void fiber_share_lock(xy_worker_t *w);

/* worker.c */
void fiber_mail_drain(xy_worker_t *w);
/* A fiber that nothing runs yet; the caller has the worker. */
xy_status_t fiber_make(xy_worker_t *worker, xy_fiber_fn fn, void *arg, xy_fiber_t **fiber_p);
void fiber_worker_prepare(xy_fiber_t *fiber);               /* it can be switched to */
void fiber_worker_desert(xy_worker_t *w, xy_fiber_t *self); /* to the worker's own context */
void fiber_arrive(xy_worker_t *w, void *fake);              /* after a switch of visit.c */
void fiber_worker_loop(xy_worker_t *w); /* on the thread's own stack, until stopped */

/* pool.c */
void fiber_thread_stack(char **low_p, char **high_p); /* of the calling thread */

/* overflow.c */
xy_status_t fiber_overflow_init(xy_worker_t *w);
void fiber_overflow_enter(xy_worker_t *w); /* on the worker's thread */
void fiber_overflow_leave(xy_worker_t *w);
void fiber_overflow_cleanup(xy_worker_t *w);
/* A switch has found `fiber`, which runs, with its stack pointer `sp` below its stack. Returns when
 * the program has stacks of its own (coroutines). */
void fiber_overflow_check(xy_worker_t *w, xy_fiber_t *fiber, const char *sp) __attribute__((cold));

#endif
