/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a rank: plain kernel threads that share the rank's environment and streams and run on
 * the rank's cores (not on the one of the worker that made them). They must not call MPI.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <threads.h>
#include <unistd.h>

#include "mpi/launch/libc/affinity.h"
#include "mpi/launch/libc/block.h"
#include "mpi/launch/libc/end_job.h"
#include "mpi/launch/libc/interpose.h"
#include "mpi/launch/libc/process.h"

typedef struct thread {
    mpi_process_t *process;
    void *(*function)(void *);
    int (*c11_function)(void *);
    void *argument;
    bool is_placed; /* the program has said where it runs */
    pid_t tid;
    struct thread *next, **back; /* of those that run */
} thread_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static thread_t *threads; /* of all ranks, under lock */
static pthread_key_t at_end;
static pthread_once_t is_ready = PTHREAD_ONCE_INIT;

bool mpi_threads_has(mpi_process_t *process, pid_t id)
{
    bool is_found = false;

    pthread_mutex_lock(&lock);
    for (const thread_t *t = threads; t != NULL && !is_found; t = t->next)
        is_found = t->process == process && t->tid == id;
    pthread_mutex_unlock(&lock);
    return is_found;
}

static void add(thread_t *thread)
{
    thread->tid = gettid();
    pthread_mutex_lock(&lock);
    thread->next = threads;
    thread->back = &threads;
    if (threads != NULL)
        threads->back = &thread->next;
    threads = thread;
    pthread_mutex_unlock(&lock);
}

/* However the thread ends: by return, pthread_exit or cancellation. */
static void forget(void *argument)
{
    thread_t *thread = argument;

    pthread_mutex_lock(&lock);
    *thread->back = thread->next;
    if (thread->next != NULL)
        thread->next->back = thread->back;
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub(&thread->process->thread_count, 1);
    xy_free(thread);
}

static void make_key(void)
{
    pthread_key_create(&at_end, forget);
}

void mpi_threads_end_rank(mpi_process_t *process, int code, bool runs_exit)
{
    unsigned round = 0;

    if (runs_exit)
        mpi_process_run_atexit(process, 1u << XMPI_ATEXIT_THREAD, NULL, code);
    while (atomic_load(&process->thread_count) > 0)
        mpi_rank_back_off(&round);
    if (runs_exit)
        mpi_process_exit(process, code);
    mpi_finish_rank(process, code & 0377);
}

/* Where the rank has asked to be, or on all its cores. */
static void place(const mpi_process_t *process)
{
    if (process->affinity != NULL)
        sched_setaffinity(0, process->affinity_size, (const cpu_set_t *)process->affinity);
    else if (process->cores != NULL)
        sched_setaffinity(0, sizeof(cpu_set_t), process->cores);
}

static thread_t begin(void *argument)
{
    thread_t thread = *(thread_t *)argument;

    mpi_process_self = thread.process;
    add(argument);
    pthread_setspecific(at_end, argument);
    mpi_thread_owner = thread.process->rank;
    mpi_locals_begin(thread.process);
    if (!thread.is_placed)
        place(thread.process);
    return thread;
}

static void *run(void *argument)
{
    thread_t thread = begin(argument);

    return thread.function(thread.argument);
}

static int run_c11(void *argument)
{
    thread_t thread = begin(argument);

    return thread.c11_function(thread.argument);
}

static bool has_affinity(const pthread_attr_t *attributes)
{
    cpu_set_t set;

    /* All cores: nothing was chosen. */
    return attributes != NULL && pthread_attr_getaffinity_np(attributes, sizeof(set), &set) == 0 &&
           CPU_COUNT(&set) < CPU_SETSIZE;
}

static void count(mpi_process_t *process)
{
    pthread_once(&is_ready, make_key);
    atomic_fetch_add(&process->thread_count, 1);
}

static void cancel(thread_t *thread)
{
    atomic_fetch_sub(&thread->process->thread_count, 1);
    xy_free(thread);
}

void mpi_threads_setup(void)
{
    mpi_caller_set_threads((int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                                    void *))mpi_interpose_next("pthread_create"));
}

XY_INTERPOSE int pthread_create(pthread_t *handle, const pthread_attr_t *attributes,
                                void *(*function)(void *), void *argument)
{
    static XY_NEXT(int, next, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *));
    mpi_process_t *process = mpi_process_self;
    thread_t *thread;
    int code;

    if (process == NULL)
        return XY_CALL_NEXT(next, "pthread_create")(handle, attributes, function, argument);
    thread = xy_malloc(sizeof(*thread));
    if (thread == NULL)
        return EAGAIN;
    *thread = (thread_t){.process = process,
                         .function = function,
                         .argument = argument,
                         .is_placed = has_affinity(attributes)};
    count(process);
    code = XY_CALL_NEXT(next, "pthread_create")(handle, attributes, run, thread);
    if (code != 0)
        cancel(thread);
    return code;
}

XY_INTERPOSE int thrd_create(thrd_t *handle, int (*function)(void *), void *argument)
{
    static XY_NEXT(int, next, (thrd_t *, int (*)(void *), void *));
    mpi_process_t *process = mpi_process_self;
    thread_t *thread;
    int code;

    if (process == NULL)
        return XY_CALL_NEXT(next, "thrd_create")(handle, function, argument);
    thread = xy_malloc(sizeof(*thread));
    if (thread == NULL)
        return thrd_nomem;
    *thread = (thread_t){.process = process, .c11_function = function, .argument = argument};
    count(process);
    code = XY_CALL_NEXT(next, "thrd_create")(handle, run_c11, thread);
    if (code != thrd_success)
        cancel(thread);
    return code;
}
