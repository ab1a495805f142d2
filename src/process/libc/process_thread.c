/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a process: plain kernel threads that share the process's environment and streams and
 * run on the process's cores (not on the one of the worker that made them). Where they may enter
 * the runtime, a process that shares its core moves to such a thread, too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "process/libc/affinity.h"
#include "process/libc/block.h"
#include "process/libc/directory.h"
#include "process/libc/interpose.h"
#include "process/libc/process_state.h"
#include "process/libc/turns.h"

typedef struct thread {
    process_t *process;
    void *(*function)(void *);
    void *argument;
    bool is_placed;       /* the program has said where it runs */
    bool has_turns;       /* of a clock (turns.h) */
    _Atomic(void *) turn; /* NULL: not yet */
    pthread_t handle;     /* with a turn */
    pid_t tid;
    char *pointer;               /* the thread pointer; NULL: not known yet */
    struct thread *next, **back; /* of those that run */
} thread_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static thread_t *threads; /* of all processes, under lock */
static pthread_key_t at_end;
static pthread_once_t is_ready = PTHREAD_ONCE_INIT;

bool process_threads_has(process_t *process, pid_t id)
{
    bool is_found = false;

    pthread_mutex_lock(&lock);
    for (const thread_t *t = threads; t != NULL && !is_found; t = t->next)
        is_found = t->process == process && t->tid == id;
    pthread_mutex_unlock(&lock);
    return is_found;
}

/* Nothing of a plug-in that is about to be loaded is in use. */
void process_threads_fill(const process_t *process, const process_program_t *plugin, char *image)
{
    if (plugin->tls_size == 0)
        return;
    pthread_mutex_lock(&lock);
    for (const thread_t *t = threads; t != NULL; t = t->next)
        if (t->process == process && t->pointer != NULL)
            process_image_fill_locals(plugin, image, t->pointer + plugin->tls_from);
    pthread_mutex_unlock(&lock);
}

static void add(thread_t *thread)
{
    pthread_mutex_lock(&lock);
    thread->next = threads;
    thread->back = &threads;
    if (threads != NULL)
        threads->back = &thread->next;
    threads = thread;
    pthread_mutex_unlock(&lock);
}

static void drop(const thread_t *thread)
{
    pthread_mutex_lock(&lock);
    *thread->back = thread->next;
    if (thread->next != NULL)
        thread->next->back = thread->back;
    pthread_mutex_unlock(&lock);
}

static void find_itself(thread_t *thread)
{
    pthread_mutex_lock(&lock);
    thread->tid = gettid();
    thread->pointer = __builtin_thread_pointer();
    pthread_mutex_unlock(&lock);
}

/* ---- Turns ---- */

/* A thread of the caller's process that has not ended; NULL: it has. */
static const thread_t *find(pthread_t handle)
{
    const thread_t *t;

    pthread_mutex_lock(&lock);
    t = threads;
    while (t != NULL &&
           (t->process != process_self || t->turn == NULL || !pthread_equal(t->handle, handle)))
        t = t->next;
    pthread_mutex_unlock(&lock);
    return t;
}

bool process_thread_await_end(pthread_t handle, double seconds)
{
    const thread_t *thread = find(handle);

    return thread == NULL || process_turn_wait(thread, seconds);
}

/* The new thread waits for its turn, which is made now, by the one that has the turn. */
static void make_turn(thread_t *thread, pthread_t handle)
{
    process_self->has_turns = true;
    thread->handle = handle;
    atomic_store(&thread->turn, process_runtime.clock->thread_make(process_self));
}

/* The last turn: others may wait for the end of the thread, or of the last one. */
static void end_turn(const thread_t *thread)
{
    process_turn_settle();
    process_turn_wake(thread, PROCESS_TURN_ALL);
    if (atomic_load(&thread->process->thread_count) == 1)
        process_turn_wake(&thread->process->thread_count, PROCESS_TURN_ALL);
}

static void uncount(process_t *process)
{
    XY_RUNTIME_CALL(thread_count, process, -1);
    atomic_fetch_sub(&process->thread_count, 1);
}

/* However the thread ends: by return, pthread_exit or cancellation. */
static void forget(void *argument)
{
    thread_t *thread = argument;

    process_keys_end();
    if (process_turn != NULL)
        end_turn(thread);
    drop(thread);
    XY_RUNTIME_CALL(thread_end);
    uncount(thread->process);
    xy_free(thread);
    if (process_turn != NULL)
        process_turns_end_thread();
}

static void make_key(void)
{
    pthread_key_create(&at_end, forget);
}

static bool has_no_threads(void *process)
{
    return atomic_load(&((process_t *)process)->thread_count) == 0;
}

void process_threads_end(process_t *process, int code, bool runs_exit)
{
    unsigned round = 0;

    process_keys_end();
    if (runs_exit)
        process_run_atexit(process, 1u << PROCESS_ATEXIT_THREAD, NULL, code);
    if (process_turns_are_taken())
        process_turn_wait_for(&process->thread_count, has_no_threads, process, INFINITY);
    else if (process_runtime.clock != NULL)
        process_block_look(has_no_threads, process, -1, true);
    while (!has_no_threads(process))
        process_back_off(&round);
    if (runs_exit)
        process_exit(process, code);
    process_end(process, code);
}

static void go_to_directory(const process_t *process)
{
    process_directory_begin_thread();
    if (process_directory_is_used())
        process_directory_enter(process);
}

/* Set up a new thread of a process; returns a copy of its description. */
static thread_t begin(void *argument)
{
    thread_t *own = argument, thread = *own;

    process_self = thread.process;
    find_itself(own);
    pthread_setspecific(at_end, argument);
    XY_RUNTIME_CALL(thread_begin, thread.process);
    process_locals_begin(thread.process);
    go_to_directory(thread.process);
    if (!thread.is_placed)
        process_affinity_apply(thread.process);
    if (own->has_turns) {
        while (atomic_load(&own->turn) == NULL)
            xy_thread_yield();
        process_turns_begin_thread(own->turn);
    }
    return thread;
}

static void *run(void *argument)
{
    thread_t thread = begin(argument);

    return thread.function(thread.argument);
}

int process_thread_without_signals(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    sigset_t all, before;
    int code;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&thread, NULL, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == 0)
        pthread_detach(thread);
    return code;
}

int process_thread_create_plain(pthread_t *handle, const pthread_attr_t *attributes,
                                void *(*function)(void *), void *argument)
{
    static int (*first)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    process_t *process = process_self;
    int code;

    if (first == NULL)
        *(void **)&first = dlsym(RTLD_DEFAULT, "pthread_create");
    process_self = NULL;
    code = first(handle, attributes, function, argument);
    process_self = process;
    return code;
}

/* ---- A process on a thread of its own ---- */

/* Thread main: run a process away from its worker until it comes back or ends. */
static void *carry(void *argument)
{
    process_t *process = argument;

    process_locals_switch(process);
    process->is_away = true;
    process->thread = pthread_self();
    process->tid = gettid();
    go_to_directory(process);
    process_affinity_apply(process);
    if (process_sanitizer_has_stacks())
        process_sanitizer_switch(process);
    process_runtime.carry(process, process_locals_follow);
    process_self = process_main =
        NULL; /* the code that runs when the thread ends is not the process's */
    return NULL;
}

xy_status_t process_carry(process_t *process)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int code = pthread_attr_init(&attributes);

    if (code == 0) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        code = process_thread_create_plain(&thread, &attributes, carry, process);
        pthread_attr_destroy(&attributes);
    }
    if (code != 0)
        return xy_fail_errno(code, "a thread for a rank beside threads of others", "start");
    return XY_OK;
}

xy_status_t process_detach(process_t *process)
{
    xy_status_t st;

    process_locals_leave();
    st = process_carry(process);
    if (st != XY_OK)
        return st;
    if (process_sanitizer_has_stacks())
        process_sanitizer_leave();
    process_self = process_main = NULL;
    return XY_OK;
}

void process_attach(void)
{
    process_self->is_away = false;
    process_locals_leave();
    if (process_sanitizer_has_stacks())
        process_sanitizer_leave();
}

static bool has_affinity(const pthread_attr_t *attributes)
{
    cpu_set_t set;

    /* All cores: nothing was chosen. */
    return attributes != NULL && pthread_attr_getaffinity_np(attributes, sizeof(set), &set) == 0 &&
           CPU_COUNT(&set) < CPU_SETSIZE;
}

static void count(process_t *process)
{
    pthread_once(&is_ready, make_key);
    atomic_fetch_add(&process->thread_count, 1);
    XY_RUNTIME_CALL(thread_count, process, 1);
}

static void cancel(thread_t *thread)
{
    drop(thread);
    uncount(thread->process);
    xy_free(thread);
}

/* The argument with which ThreadSanitizer begins its threads, as far as it matters. */
typedef struct {
    void *(*function)(void *);
    void *argument;
} start_t;

/* Its function, where it stands in front, must be the first on a new thread: before it, no code
 * that it watches may run. Then the program's is in the argument. */
static start_t *start_of_sanitizer(void *(*function)(void *), void *argument)
{
    Dl_info info;

    if (!process_sanitizer_watches_threads() || dladdr((void *)function, &info) == 0 ||
        info.dli_fname == NULL || strstr(info.dli_fname, "libtsan") == NULL)
        return NULL;
    return argument;
}

XY_INTERPOSE int pthread_create(pthread_t *handle, const pthread_attr_t *attributes,
                                void *(*function)(void *), void *argument)
{
    process_t *process = process_self;
    start_t *start;
    thread_t *thread;
    int code;

    if (process == NULL)
        return XY_NEXT(pthread_create)(handle, attributes, function, argument);
    start = start_of_sanitizer(function, argument);
    thread = xy_malloc(sizeof(*thread));
    if (thread == NULL)
        return EAGAIN;
    *thread = (thread_t){.process = process,
                         .function = start != NULL ? start->function : function,
                         .argument = start != NULL ? start->argument : argument,
                         .is_placed = has_affinity(attributes),
                         .has_turns = process_runtime.clock != NULL && process_has_turn() &&
                                      process_turns_can_have(__builtin_return_address(0))};
    count(process);
    add(thread);
    if (start != NULL)
        *start = (start_t){run, thread};
    code = XY_NEXT(pthread_create)(handle, attributes, start != NULL ? function : run,
                                   start != NULL ? argument : thread);
    if (code != 0)
        cancel(thread);
    else if (thread->has_turns)
        make_turn(thread, *handle);
    return code;
}

/* The C library's threads of C11 are those of POSIX; thrd_join finds the int in the pointer. */
typedef struct {
    int (*function)(void *);
    void *argument;
} c11_start_t;

static void *run_c11(void *argument)
{
    c11_start_t start = *(c11_start_t *)argument;

    xy_free(argument);
    return (void *)(intptr_t)start.function(start.argument);
}

XY_INTERPOSE int thrd_create(thrd_t *handle, int (*function)(void *), void *argument)
{
    c11_start_t *start;
    int code;

    if (process_self == NULL)
        return XY_NEXT(thrd_create)(handle, function, argument);
    start = xy_malloc(sizeof(*start));
    if (start == NULL)
        return thrd_nomem;
    *start = (c11_start_t){function, argument};
    code = pthread_create(handle, NULL, run_c11, start);
    if (code != 0)
        xy_free(start);
    return code == 0 ? thrd_success : code == ENOMEM || code == EAGAIN ? thrd_nomem : thrd_error;
}
