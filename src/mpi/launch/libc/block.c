/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/launch/libc/block.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "fiber/fiber.h"
#include "mpi/launch/libc/affinity.h"
#include "mpi/launch/libc/directory.h"
#include "mpi/launch/libc/interpose.h"
#include "mpi/launch/libc/process.h"

/* ---- Who may park ---- */

/* Found once per rank, when it first matters. */
static bool shares_core(mpi_process_t *process)
{
    if (process->is_away)
        return false;
    if (mpi_process_runtime.clock !=
        NULL) /* limits are those of its clock, also where it is alone */
        return true;
    if (process->sharing == XMPI_SHARING_UNKNOWN) {
        process->sharing =
            mpi_process_runtime.shares_core != NULL && mpi_process_runtime.shares_core(process)
                ? XMPI_SHARING_CORE
                : XMPI_SHARING_ALONE;
    }
    return process->sharing == XMPI_SHARING_CORE;
}

bool mpi_block_shares_core(void)
{
    return shares_core(mpi_process_self);
}

static _Thread_local int held __attribute__((tls_model("initial-exec"))); /* mpi_block_lock */

/* Interposers, sanitizers and allocators may stand between this library and its own functions, so
 * the caller's address alone does not tell: a rank inside the runtime, or one that is giving way
 * already, may be on the stack of a poll. */
static bool can_give_way(const mpi_process_t *process)
{
    return mpi_process_is_in_program(process) && !process->gives_way && held == 0;
}

bool mpi_block_may(const void *caller)
{
    return mpi_process_is_rank() && can_give_way(mpi_process_self) &&
           !mpi_interpose_is_own(caller) && !mpi_locals_is_of_worker(caller) &&
           shares_core(mpi_process_self);
}

/* What the rank is in may be the call of one of its threads. */
bool mpi_block_may_join(const void *caller)
{
    const mpi_process_t *process = mpi_process_self;

    if (mpi_block_may(caller))
        return true;
    return mpi_process_is_rank() && !process->is_away && !process->gives_way && held == 0 &&
           mpi_process_runtime.may_have_company != NULL &&
           mpi_process_runtime.may_have_company(process) && !mpi_interpose_is_own(caller) &&
           !mpi_locals_is_of_worker(caller);
}

void mpi_block_lock(pthread_mutex_t *lock)
{
    held++;
    pthread_mutex_lock(lock);
}

void mpi_block_unlock(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    held--;
}

int mpi_descriptor_of(int fd, const void *caller)
{
    const mpi_process_t *process = mpi_process_self;
    const mpi_stream_t *stream;

    if (fd < 0 || fd > STDERR_FILENO || process == NULL || mpi_process_is_child ||
        mpi_interpose_is_own(caller))
        return fd;
    if (fd == STDIN_FILENO)
        return process->in.fd;
    stream = fd == STDOUT_FILENO ? &process->out : &process->err;
    return stream->fd;
}

/* ---- Threads that wait for ranks ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER;
static mpi_blocked_t *first, **last = &first;
static int queued, waiting; /* calls that no thread has taken; threads without a call */

static mpi_blocked_t *take(void)
{
    mpi_blocked_t *block;

    pthread_mutex_lock(&lock);
    while (first == NULL) {
        waiting++;
        pthread_cond_wait(&has_work, &lock);
        waiting--;
    }
    block = first;
    first = block->next;
    if (first == NULL)
        last = &first;
    queued--;
    pthread_mutex_unlock(&lock);
    return block;
}

/* The block lies on the stack of the fiber: it is gone once that runs again. */
static void *serve(void *unused)
{
    (void)unused;
    mpi_directory_begin_thread();
    for (;;) {
        mpi_blocked_t *block = take();
        xy_fiber_t *fiber = block->fiber;

        if (mpi_directory_is_used())
            mpi_directory_enter(block->process);
        block->fn(block->arg);
        atomic_store_explicit(&block->is_done, true, memory_order_release);
        if (fiber != NULL)
            xy_fiber_wake(fiber);
    }
    return NULL;
}

/* On the rank's cores, deaf to signals: those are for workers and for the program's threads. */
static bool start_thread(const cpu_set_t *cores)
{
    enum { STACK = 1 << 20 };
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    int code;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (cores != NULL && CPU_COUNT(cores) > 0)
        pthread_attr_setaffinity_np(&attributes, sizeof(*cores), cores);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = mpi_thread_create_plain(&thread, &attributes, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return code == 0;
}

/* Take it back; false: a thread has it already. */
static bool withdraw(const mpi_blocked_t *block)
{
    bool is_found = false;

    pthread_mutex_lock(&lock);
    for (mpi_blocked_t **at = &first; *at != NULL && !is_found;)
        if (*at == block) {
            *at = block->next;
            is_found = true;
            queued--;
        } else {
            at = &(*at)->next;
        }
    if (is_found) {
        last = &first;
        while (*last != NULL)
            last = &(*last)->next;
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

bool mpi_block_start(mpi_blocked_t *block)
{
    bool has_thread;

    block->fiber =
        mpi_process_runtime.clock == NULL ? *mpi_process_self->fiber : NULL; /* it looks */
    block->process = mpi_process_self;
    block->next = NULL;
    atomic_init(&block->is_done, false);
    pthread_mutex_lock(&lock);
    *last = block;
    last = &block->next;
    has_thread = waiting >= ++queued;
    if (has_thread)
        pthread_cond_signal(&has_work);
    pthread_mutex_unlock(&lock);
    return has_thread || start_thread(mpi_process_self->cores) || !withdraw(block);
}

/* Fibers change between the two: what runs in a poll on this rank's stack must not do so again. */
static void begin_to_give_way(mpi_process_t *process)
{
    XY_RUNTIME_CALL(yields, process);
    process->gives_way = true;
}

static void end_giving_way(mpi_process_t *process)
{
    process->gives_way = false;
    XY_RUNTIME_CALL(continues, process);
}

/* ---- Waiting in virtual time ---- */

bool mpi_block_has_threads(void)
{
    return atomic_load(&mpi_process_self->thread_count) > 0;
}

typedef struct {
    bool (*is_over)(void *arg);
    void *arg;
    double seconds; /* negative: no limit */
    bool is_outside;
    int looks; /* at what is done in real time */
} wait_t;

enum {
    REAL_PAUSE = 100000,
    STILL = 1000
}; /* ns between two looks, and looks: a tenth of a second */

static bool is_limited(const wait_t *w)
{
    return w->seconds >= 0;
}

/* It waits no longer in real time than in its own. */
static void pause_in_real_time(wait_t *w)
{
    static XY_NEXT(int, next, (const struct timespec *, struct timespec *));
    const struct timespec pause = {0, REAL_PAUSE};

    if (!w->is_outside || (is_limited(w) && w->looks * (1e-9 * REAL_PAUSE) >= w->seconds))
        return;
    if (w->looks < INT_MAX)
        w->looks++;
    XY_CALL_NEXT(next, "nanosleep")(&pause, NULL);
}

/* How long until the next look: short at first, and then a small part of what has passed. What is
 * done in real time, however long it takes, takes as little as can be. */
static double until_next_look(const wait_t *w, double waited)
{
    const double least = 1e-6, most = 1e-3;
    double step = waited / 1000;

    if (is_limited(w))
        return fmin(fmax(step, least), w->seconds - waited);
    return w->is_outside ? least : fmin(fmax(step, least), most);
}

/* Virtual time stands still while the kernel works for a rank: most calls return soon, and runs are
 * the same. What takes longer waits perhaps for another rank, whose turn comes with each look. */
static bool wait_in_virtual_time(mpi_process_t *process, wait_t *w)
{
    const mpi_process_clock_t *clock = mpi_process_runtime.clock;
    double begin = clock->now(process);

    for (int i = 0; w->is_outside && i < STILL; i++) {
        if (w->is_over(w->arg))
            return true;
        pause_in_real_time(w);
    }
    while (!w->is_over(w->arg)) {
        double waited = clock->now(process) - begin;

        if (is_limited(w) && waited >= w->seconds)
            return false;
        clock->sleep(process, until_next_look(w, waited), true);
        pause_in_real_time(w);
    }
    return true;
}

bool mpi_block_look(bool (*is_over)(void *arg), void *arg, double seconds, bool is_outside)
{
    mpi_process_t *process = mpi_process_self;
    wait_t w = {.is_over = is_over, .arg = arg, .seconds = seconds, .is_outside = is_outside};
    bool is_in_time;

    begin_to_give_way(process);
    is_in_time = wait_in_virtual_time(process, &w);
    end_giving_way(process);
    return is_in_time;
}

static bool is_block_done(void *arg)
{
    mpi_blocked_t *block = arg;

    return atomic_load_explicit(&block->is_done, memory_order_acquire);
}

void mpi_block_wait(mpi_blocked_t *block)
{
    mpi_process_t *process = mpi_process_self;

    if (mpi_process_runtime.clock != NULL) {
        mpi_block_look(is_block_done, block, -1, true);
        return;
    }
    begin_to_give_way(process);
    do
        xy_fiber_park_outside();
    while (!is_block_done(block));
    end_giving_way(process);
}

void mpi_block_run(void (*fn)(void *), void *arg)
{
    mpi_blocked_t block = {.fn = fn, .arg = arg};

    if (mpi_block_start(&block))
        mpi_block_wait(&block);
    else
        fn(arg);
}

typedef struct {
    long number;
    const long *arguments;
    long result;
    int error;
} call_t;

static void make_call(void *arg)
{
    call_t *call = arg;
    const long *a = call->arguments;

    call->result = syscall(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
    call->error = errno;
}

long mpi_block_call(long number, const long arguments[6])
{
    call_t call = {.number = number, .arguments = arguments};

    mpi_block_run(make_call, &call);
    if (call.result < 0)
        errno = call.error;
    return call.result;
}

/* ---- Time ---- */

void mpi_rank_yield(void)
{
    static XY_NEXT(int, next, (void));
    mpi_process_t *process = mpi_process_self;

    if (!can_give_way(process)) {
        XY_CALL_NEXT(next, "sched_yield")();
        return;
    }
    begin_to_give_way(process);
    if (mpi_process_runtime.clock != NULL)
        mpi_process_runtime.clock->look(process);
    else
        xy_fiber_yield();
    end_giving_way(process);
}

static void sleep_in_place(double seconds)
{
    static XY_NEXT(int, next, (const struct timespec *, struct timespec *));
    double whole = floor(seconds);
    struct timespec pause = {.tv_sec = (time_t)whole, .tv_nsec = (long)(1e9 * (seconds - whole))};

    XY_CALL_NEXT(next, "nanosleep")(&pause, NULL);
}

void mpi_rank_sleep(double seconds)
{
    mpi_process_t *process = mpi_process_self;
    const mpi_process_clock_t *clock = mpi_process_runtime.clock;
    bool parks = can_give_way(process);

    XY_RUNTIME_CALL(acts);
    if (!parks && clock == NULL)
        sleep_in_place(seconds);
    else if (!parks)
        clock->sleep(process, seconds, false);
    if (!parks)
        return;
    begin_to_give_way(process);
    if (clock != NULL)
        clock->sleep(process, seconds, true);
    else
        xy_fiber_sleep(seconds);
    end_giving_way(process);
}

void mpi_rank_back_off(unsigned *round)
{
    enum { YIELDS = 64, LONGEST = 10 };
    unsigned n = (*round)++;

    if (n < YIELDS)
        mpi_rank_yield();
    else
        mpi_rank_sleep(1e-6 * (double)(1u << (n - YIELDS < LONGEST ? n - YIELDS : LONGEST)));
}

double mpi_seconds_until(clockid_t clock, const struct timespec *deadline)
{
    struct timespec now;

    mpi_clock_gettime(clock, &now);
    return (double)(deadline->tv_sec - now.tv_sec) +
           1e-9 * (double)(deadline->tv_nsec - now.tv_nsec);
}
