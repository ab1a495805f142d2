/* SPDX-License-Identifier: BSD-3-Clause */
#include "process/libc/block.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "fiber/fiber.h"
#include "process/libc/affinity.h"
#include "process/libc/directory.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"

/* ---- Who may park ---- */

/* Found once per process, when it first matters. */
static bool shares_core(process_t *process)
{
    if (process->is_away)
        return false;
    if (process_runtime.clock != NULL) /* limits are those of its clock, also where it is alone */
        return true;
    if (process->sharing == PROCESS_SHARING_UNKNOWN) {
        process->sharing =
            process_runtime.shares_core != NULL && process_runtime.shares_core(process)
                ? PROCESS_SHARING_CORE
                : PROCESS_SHARING_ALONE;
    }
    return process->sharing == PROCESS_SHARING_CORE;
}

bool process_block_shares_core(void)
{
    return shares_core(process_self);
}

static _Thread_local int held __attribute__((tls_model("initial-exec"))); /* process_block_lock */

static _Thread_local bool thread_gives_way; /* of a thread with turns, as that of a process */

static bool *gives_way(process_t *process)
{
    return process_turn != NULL ? &thread_gives_way : &process->gives_way;
}

/* Interposers, sanitizers and allocators may stand between this library and its own functions, so
 * the caller's address alone does not tell: a process inside the runtime, or one that is yielding
 * already, may be on the stack of a poll. */
static bool can_give_way(process_t *process)
{
    return process_is_in_program(process) && !*gives_way(process) && held == 0;
}

bool process_block_may(const void *caller)
{
    return process_has_turn() && can_give_way(process_self) && !process_interpose_is_own(caller) &&
           !process_locals_is_of_worker(caller) && shares_core(process_self);
}

/* May the caller block while others use the core? The process may be in the call of one of its
 * threads. */
bool process_block_may_join(const void *caller)
{
    const process_t *process = process_self;

    if (process_block_may(caller))
        return true;
    return process_is_main() && !process->is_away && !process->gives_way && held == 0 &&
           process_runtime.may_have_company != NULL && process_runtime.may_have_company(process) &&
           !process_interpose_is_own(caller) && !process_locals_is_of_worker(caller);
}

void process_block_lock(pthread_mutex_t *lock)
{
    held++;
    pthread_mutex_lock(lock);
}

void process_block_unlock(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    held--;
}

int process_descriptor_of(int fd, const void *caller)
{
    const process_t *process = process_self;
    const process_stream_t *stream;

    if (fd < 0 || fd > STDERR_FILENO || process == NULL || process_is_child ||
        process_interpose_is_own(caller))
        return fd;
    if (fd == STDIN_FILENO)
        return process->in.fd;
    stream = fd == STDOUT_FILENO ? &process->out : &process->err;
    return stream->fd;
}

/* ---- Threads that wait for processes ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER;
static process_blocked_t *first, **last = &first;
static int queued, waiting; /* calls that no thread has taken; threads without a call */

/* Wait for the next blocking call to execute and remove it from the queue. */
static process_blocked_t *take(void)
{
    process_blocked_t *block;

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
    process_directory_begin_thread();
    for (;;) {
        process_blocked_t *block = take();
        xy_fiber_t *fiber = block->fiber;

        if (process_directory_is_used())
            process_directory_enter(block->process);
        block->fn(block->arg);
        atomic_store_explicit(&block->is_done, true, memory_order_release);
        if (fiber != NULL)
            xy_fiber_wake(fiber);
    }
    return NULL;
}

/* On the process's cores, deaf to signals: those are for workers and for the program's threads. */
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
    code = process_thread_create_plain(&thread, &attributes, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return code == 0;
}

/* Take it back; false: a thread has it already. */
static bool withdraw(const process_blocked_t *block)
{
    bool is_found = false;

    pthread_mutex_lock(&lock);
    for (process_blocked_t **at = &first; *at != NULL && !is_found;)
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

bool process_block_start(process_blocked_t *block)
{
    bool has_thread;

    block->fiber = process_runtime.clock == NULL ? *process_self->fiber : NULL; /* it looks */
    block->process = process_self;
    block->next = NULL;
    atomic_init(&block->is_done, false);
    pthread_mutex_lock(&lock);
    *last = block;
    last = &block->next;
    has_thread = waiting >= ++queued;
    if (has_thread)
        pthread_cond_signal(&has_work);
    pthread_mutex_unlock(&lock);
    return has_thread || start_thread(process_self->cores) || !withdraw(block);
}

/* Fibers change between the two: what runs in a poll on this process's stack must not do so again.
 */
void process_block_begin_wait(process_t *process)
{
    XY_RUNTIME_CALL(yields, process);
    *gives_way(process) = true;
}

void process_block_end_wait(process_t *process)
{
    *gives_way(process) = false;
    XY_RUNTIME_CALL(continues, process);
}

/* ---- Waiting in virtual time ---- */

bool process_block_has_threads(void)
{
    return atomic_load(&process_self->thread_count) > 0 && !process_self->has_turns;
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
    const struct timespec pause = {0, REAL_PAUSE};

    if (!w->is_outside || (is_limited(w) && w->looks * (1e-9 * REAL_PAUSE) >= w->seconds))
        return;
    if (w->looks < INT_MAX)
        w->looks++;
    XY_NEXT(nanosleep)(&pause, NULL);
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

/* Virtual time stands still while the kernel works for a process: most calls return soon, and runs
 * are the same. What takes longer waits perhaps for another process, whose turn comes with each
 * look. */
static bool wait_in_virtual_time(process_t *process, wait_t *w)
{
    const process_clock_t *clock = process_runtime.clock;
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

bool process_block_look(bool (*is_over)(void *arg), void *arg, double seconds, bool is_outside)
{
    process_t *process = process_self;
    wait_t w = {.is_over = is_over, .arg = arg, .seconds = seconds, .is_outside = is_outside};
    bool is_in_time;

    process_block_begin_wait(process);
    is_in_time = wait_in_virtual_time(process, &w);
    process_block_end_wait(process);
    return is_in_time;
}

static bool is_block_done(void *arg)
{
    process_blocked_t *block = arg;

    return atomic_load_explicit(&block->is_done, memory_order_acquire);
}

void process_block_wait(process_blocked_t *block)
{
    process_t *process = process_self;

    if (process_runtime.clock != NULL) {
        process_block_look(is_block_done, block, -1, true);
        return;
    }
    process_block_begin_wait(process);
    do
        xy_fiber_park_outside();
    while (!is_block_done(block));
    process_block_end_wait(process);
}

void process_block_run(void (*fn)(void *), void *arg)
{
    process_blocked_t block = {.fn = fn, .arg = arg};

    if (process_block_start(&block))
        process_block_wait(&block);
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

long process_block_call(long number, const long arguments[6])
{
    call_t call = {.number = number, .arguments = arguments};

    process_block_run(make_call, &call);
    if (call.result < 0)
        errno = call.error;
    return call.result;
}

/* ---- Time ---- */

void process_yield(void)
{
    process_t *process = process_self;

    if (!can_give_way(process)) {
        XY_NEXT(sched_yield)();
        return;
    }
    process_block_begin_wait(process);
    if (process_runtime.clock != NULL)
        process_runtime.clock->look(process);
    else
        xy_fiber_yield();
    process_block_end_wait(process);
}

static void sleep_in_place(double seconds)
{
    double whole = floor(seconds);
    struct timespec pause = {.tv_sec = (time_t)whole, .tv_nsec = (long)(1e9 * (seconds - whole))};

    XY_NEXT(nanosleep)(&pause, NULL);
}

void process_sleep(double seconds)
{
    process_t *process = process_self;
    const process_clock_t *clock = process_runtime.clock;
    bool parks = can_give_way(process);

    XY_RUNTIME_CALL(acts);
    if (!parks && clock == NULL)
        sleep_in_place(seconds);
    else if (!parks)
        clock->sleep(process, seconds, false);
    if (!parks)
        return;
    process_block_begin_wait(process);
    if (clock != NULL)
        clock->sleep(process, seconds, true);
    else
        xy_fiber_sleep(seconds);
    process_block_end_wait(process);
}

void process_back_off(unsigned *round)
{
    enum { YIELDS = 64, LONGEST = 10 };
    unsigned n = (*round)++;

    if (n < YIELDS)
        process_yield();
    else
        process_sleep(1e-6 * (double)(1u << (n - YIELDS < LONGEST ? n - YIELDS : LONGEST)));
}

double process_seconds_until(clockid_t clock, const struct timespec *deadline)
{
    struct timespec now;

    process_clock_gettime(clock, &now);
    return (double)(deadline->tv_sec - now.tv_sec) +
           1e-9 * (double)(deadline->tv_nsec - now.tv_nsec);
}
