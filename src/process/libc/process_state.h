/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a process: an image of the program, and private copies of the C library's state that
 * programs rely on.
 *
 * Code of the C library that was put in front (libc/) asks process_self for the process it
 * works for. Threads that a process makes belong to it as well.
 */
#ifndef XY_PROCESS_LIBC_PROCESS_H
#define XY_PROCESS_LIBC_PROCESS_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <wchar.h>

#include "fiber/fiber.h"
#include "process/image/image.h"

/* A standard stream of a process. Output collects lines and writes whole ones, protected by one
 * lock for all (stream.c). */
typedef struct {
    process_t *process;
    FILE *file;         /* the program's stream */
    int fd;             /* where that comes from, or where whole lines go; -1: closed */
    int copy;           /* where they go as well; -1: nowhere */
    bool is_redirected; /* freopen: the descriptor is the process's alone, and lines are not
                         * collected
                         */
    int orientation;    /* of fwide */
    FILE *wide;         /* input: reads the descriptor as wide characters */
    mbstate_t shift;    /* output: of wide characters */
    bool is_inside_line;
    char *partial; /* the beginning of a line that is not complete */
    size_t partial_size, partial_capacity;
} process_stream_t;

/* Functions to call at the end of the process, last one first. */
typedef enum {
    PROCESS_ATEXIT_CXA,
    PROCESS_ATEXIT_ON_EXIT,
    PROCESS_ATEXIT_THREAD,
    PROCESS_ATEXIT_QUICK
} process_atexit_kind_t;

typedef struct {
    process_atexit_kind_t kind;
    void *function;
    void *argument;
    void *dso;
} process_atexit_t;

typedef struct {
    struct random_data random;
    struct drand48_data drand48;
    char random_state[128];
} process_random_t;

/* Are there other processes on its core? */
typedef enum {
    PROCESS_SHARING_UNKNOWN,
    PROCESS_SHARING_ALONE,
    PROCESS_SHARING_CORE
} process_sharing_t;

struct process {
    void *owner;              /* the runtime's own object for it */
    xy_fiber_t *const *fiber; /* where the runtime keeps the fiber that runs it */
    int number;
    const process_program_t *program;
    char *image;
    int argc;
    char **argv;

    /* Where each variable lives: in the image when it has a copy, in `own` otherwise. */
    void *variables[PROCESS_VARIABLES];
    struct {
        FILE *streams[3];
        char **environment;
        char *optarg;
        int optind, opterr, optopt;
        char *tzname[2];
        long timezone;
        int daylight;
    } own;

    process_stream_t in, out, err;
    char line[1024];    /* buffer of `out` */
    char **environment; /* the array we own; the program may have put another in its place */
    size_t environment_capacity;

    char *getopt_next; /* inside a group of short options */
    int getopt_first, getopt_last;
    char *strtok_rest;
    process_random_t *random; /* made at first use */
    struct tm time;
    char time_text[64];

    xy_vec_t atexit; /* of process_atexit_t */
    bool is_exiting, has_ended;
    bool is_away;   /* it runs on a thread of its own */
    bool gives_way; /* it is in a wait of the C library, and other processes run (block.c) */
    bool has_turns; /* it has made a thread that a clock gives turns (turns.h) */
    process_sharing_t sharing;

    pthread_t thread; /* its worker's */
    pid_t tid;
    unsigned char *affinity; /* set by the process, or NULL */
    size_t affinity_size;
    _Atomic int thread_count; /* its threads that have not ended */
    int exit_code;

    uintptr_t thread_pointer; /* of the thread that it has left */
    char *thread_locals;      /* while the process does not run; NULL: it has none */
    struct { /* offsets there: from `from` to `to` all are zeros but for the used ones */
        size_t from, to, used_from, used_to;
    } zeros;
    char *library_locals; /* the same of the first `libraries` libraries and plug-ins */
    int libraries;
    xy_vec_t plugins;        /* of const process_program_t *: those that are private */
    char *dl_error;          /* for dlerror; or NULL */
    char *dl_error_read;     /* the last text returned by dlerror */
    void *(*malloc)(size_t); /* the program's, where it defines one; or NULL */
    void *(*realloc)(void *, size_t);
    const cpu_set_t *cores;        /* for the threads it makes */
    const char *last_frame;        /* of the program are the frames above it, when it has ended */
    struct process_device *device; /* its state with CUDA (device_cuda.c); NULL: none */
    void *device_context;          /* the current one, while the process does not run; or NULL */
    struct process_storage *device_storage; /* of its runtime (device_storage.c); NULL: nothing */
    bool has_bound_device; /* its own was made the current one (process_device_bind) */
    /* The process has ended, and nothing of it is used any more: called last. NULL: nothing to do.
     */
    void (*ended)(process_t *process);
    int directory; /* a descriptor of its working directory, if it has one of its own: */
    uint64_t directory_number;             /* not 0, and no other has had the same (directory.c) */
    pthread_mutex_t openmp[2];             /* the unnamed locks of OpenMP (openmp.c) */
    struct process_keys *keys;             /* of thread-specific data (keys.c); NULL: none */
    struct process_key_values *key_values; /* and the process's own values; NULL: none */
    void *sanitizer_stack; /* its stack as the address sanitizer keeps it while it does not run */
};

extern _Thread_local process_t *process_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The process whose fiber runs on this thread; NULL: none does. Threads that a process makes, and
 * handlers of signals, have a process without being its fiber. */
extern _Thread_local process_t *process_main
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The calling thread of a process as the clock knows it (turns.h); NULL: it has no turns, or is the
 * fiber of a process. */
extern _Thread_local void *process_turn
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

extern pid_t process_pid __attribute__((visibility("hidden"))); /* of the job */
/* This is a child of the host: a process has called fork. */
extern bool process_is_child __attribute__((visibility("hidden")));

/* Is the caller the fiber of a process (and not a thread that one made)? */
static inline bool process_is_main(void)
{
    return process_self != NULL && process_self == process_main;
}

/* The same, or a thread that takes turns with it? Its waits let others run. */
static inline bool process_has_turn(void)
{
    return process_is_main() || (process_turn != NULL && process_self != NULL);
}

/* Is it in the program's own code, and not in a call of the runtime? */
static inline bool process_is_in_program(const process_t *process)
{
    return process_runtime.is_inside == NULL || !process_runtime.is_inside(process);
}

/* Steps of a switch to another process, besides thread-local variables. */
enum { PROCESS_SWITCH_DEVICES = 1, PROCESS_SWITCH_DIRECTORIES = 2 };
extern _Atomic unsigned process_switch_more __attribute__((visibility("hidden")));

#define PROCESS_VARIABLE(process, type, which) (*(type *)(process)->variables[which])

typedef struct {
    const process_program_t *program;
    int index; /* of the image among those of its program */
    int number;
    int argc;
    char **argv;
    char *const *environment; /* strings are shared; they must live as long as the process */
    const cpu_set_t *cores;
} process_config_t;

/* Build it: image placed and fixed, streams open, constructors not run. `process` is zeroed memory
 * of the caller. */
xy_status_t process_init(process_t *process, const process_config_t *config);
/* Free what it has; it has ended. Its image is left, its memory is zeroed. */
void process_cleanup(process_t *process);
/* The body of a process's fiber: constructors, main, exit. */
void process_run(void *process);
/* Run exit functions and destructors, flush, end the process. From its fiber or its threads. */
void process_exit(process_t *process, int code) __attribute__((noreturn));
/* End it at once. */
void process_exit_now(process_t *process, int code) __attribute__((noreturn));
/* The process ends with this exit code, when its own code has done what it does at the end. */
void process_end(process_t *process, int code) __attribute__((noreturn));
/* The calling thread works for no process from now on: the C library's functions are its own. */
void process_forget(void);
/* Call the functions of one kind; of one shared object when `dso` is not NULL. */
void process_run_atexit(process_t *process, unsigned kinds, const void *dso, int code);

/* For process_program_config_t. The main function of an image (start_main.c); and the streams of
 * the C++ runtime, where there is one, made ready to be copied (cxx_runtime.c). */
void *process_capture_main(void *entry);
void process_prepare_cxx(void);

/* ---- Sanitizers (sanitizer.c) ---- */
/* Look for the runtime of one; when the launcher starts. */
void process_sanitizer_setup(void);
bool process_sanitizer_is_there(void);
bool process_sanitizer_has_stacks(void); /* and wants to know of switches */
bool process_sanitizer_watches_threads(void);
/* The calling thread is about to run processes. */
void process_sanitizer_enter(void);
/* Memory of the launcher that refers to blocks of processes: these are not lost. */
void process_sanitizer_add_root(const void *from, size_t size);
/* Where a call comes from: the code in front of the runtime, where the call comes through it. */
const void *process_sanitizer_caller(const void *caller);
/* `next` runs on this thread from now on; only where the sanitizer wants to know. */
void process_sanitizer_switch(process_t *next);
/* The process that runs here ends; its frames are left as they are. */
void process_sanitizer_end(const process_t *process);
/* The calling thread runs on its own stack again; and the process, whose stack it had, will
 * continue on another thread. */
void process_sanitizer_leave(void);
void process_sanitizer_give(process_t *process);

/* ---- Environment (environment_list.c) ---- */
xy_status_t process_environment_init(process_t *process, char *const *environment);
char *process_environment_get(process_t *process, const char *name, size_t length);
/* Put "NAME=value" in (not copied). 0, or -1 with errno. */
int process_environment_put(process_t *process, char *entry, size_t length);
void process_environment_remove(process_t *process, const char *name, size_t length);

/* ---- Streams (stream.c) ---- */
typedef enum { PROCESS_TAG_NONE, PROCESS_TAG_NUMBER, PROCESS_TAG_STREAM } process_tag_t;

enum { PROCESS_INPUT_NONE = -1, PROCESS_INPUT_ALL = -2 };

typedef struct {
    process_tag_t tag;       /* of lines */
    bool has_time;           /* before the tag */
    bool is_merged;          /* standard error becomes standard output */
    const char *directory;   /* of files that lines go to as well (stream_files.c), or NULL */
    const char *patterns[2]; /* of files that output and error go to, or NULL */
    int process;             /* of the job */
    const char *host;        /* its name there; NULL: this one's */
    int input;               /* the process that reads standard input; PROCESS_INPUT_NONE, ALL */
} process_streams_config_t;

/* Descriptors 0 to 2 that the caller has closed are opened on nothing: what is opened next must not
 * become somebody's input or output. First of all. */
void process_streams_reserve(void);
void process_streams_setup(const process_streams_config_t *config);
/* Descriptors of output that a process has: also of one that is no process here (children.c). */
xy_status_t process_stream_route(const process_streams_config_t *config, process_t *process);
xy_status_t process_streams_begin(process_t *process);
/* The standard input of a process: a descriptor, -1 on failure (reported). With PROCESS_INPUT_ALL
 * each has its own, which is filled from the call of process_input_share on (input_share.c). */
int process_streams_input(int which);
int process_input_of_all(void);
xy_status_t process_input_share(void);
xy_status_t process_streams_open(process_t *process);
/* Output has come: write whole lines, keep the rest. 0, or the error that lost it (reported). */
int process_stream_take(process_stream_t *stream, const char *bytes, size_t size);
/* Write what is incomplete, too. */
int process_stream_flush(process_stream_t *stream);
/* Both streams of a process that runs on this thread. */
void process_streams_flush(process_t *process);
void process_streams_close(process_t *process);
/* Flush the streams of all processes, from anywhere but a signal handler; a stream in use is left
 * alone. */
void process_streams_flush_all(process_t *processes, int count);
/* Was output lost? The job has failed then. */
bool process_streams_failed(void);
/* The process's, in place of the C library's own. */
FILE *process_stream_of(process_t *process, FILE *file);
/* The standard stream of this process that `file` is, or NULL. */
process_stream_t *process_stream_find(process_t *process, const FILE *file);
/* freopen of one of them. */
FILE *process_stream_reopen(process_stream_t *stream, const char *path, const char *mode);

/* ---- Thread-local variables (thread_locals.c) ---- */
xy_status_t process_locals_init(process_t *process);
/* `next` runs on this thread from now on. */
void process_locals_switch(process_t *next);
void process_switch_all(process_t *previous, process_t *next, unsigned more)
    __attribute__((cold, visibility("hidden")));

/* The fiber of `next` is about to run on this worker, where that of `previous` has run (NULL: none
 * has): what is private to a process changes hands. `next` is NULL for a fiber of the runtime: what
 * is private to the last process stays where it is. */
static inline void process_switch(process_t *previous, process_t *next)
{
    unsigned more = atomic_load_explicit(&process_switch_more, memory_order_relaxed);

    if (next == NULL)
        process_main = NULL;
    else if (__builtin_expect(more != 0, 0))
        process_switch_all(previous, next, more);
    else
        process_locals_switch(next);
}
/* The process of this thread continues on another one; or it has ended, and its variables are gone.
 */
void process_locals_leave(void);
/* The process waits here, and continues on another thread. */
void process_locals_give(process_t *process);
void process_locals_drop(void);
/* The process `process` has come from another thread to this one with its stack from `low` to
 * `high`: addresses there that count from the thread pointer become those of this thread. */
void process_locals_follow(void *process, void *low, void *high);
/* This thread runs code of the image for the first time: its block gets the initial values. */
void process_locals_fill(const process_program_t *program, char *image);
/* The same on a new thread of a process, for the program and its plug-ins. */
void process_locals_begin(const process_t *process);
/* How many bytes the host has set aside, and what they are aligned to. */
size_t process_locals_reserve(size_t *align_p);
/* Does code of a library lie there whose thread-local variables stay with the worker: an allocator,
 * or a driver of GPUs? It must not yield to another process: that one would come into it again, on
 * the same thread. */
bool process_locals_is_of_worker(const void *code);
/* Find the libraries whose thread-local variables must follow the process; after loading. */
xy_status_t process_locals_setup(void);
/* The same when a process has loaded more: a private plug-in, or (NULL) shared libraries. */
xy_status_t process_locals_extend(const process_program_t *plugin);

/* ---- Programs with a malloc of their own (own_malloc.c) ---- */
/* After the image is there. */
void process_own_malloc_find(process_t *process);
typedef ssize_t (*process_read_line_fn)(char **line, size_t *size, int delimiter, FILE *file);
ssize_t process_own_malloc_line(process_read_line_fn read_line, char **line, size_t *size,
                                int delimiter, FILE *file);

/* ---- Keys of thread-specific data (keys.c) ---- */
/* The thread or the process that calls ends: call the functions for its values. */
void process_keys_end(void);

/* ---- OpenMP (openmp.c) ---- */
/* For the symbols of programs: `found`, or a function with the process's lock. */
void *process_openmp_substitute(const char *name, void *found);

/* ---- Threads (process_thread.c) ---- */
/* The process has loaded a plug-in: its thread-local variables get their initial values in the
 * threads that the process has. */
void process_threads_fill(const process_t *process, const process_program_t *plugin, char *image);
/* pthread_create for threads that belong to no process. */
int process_thread_create_plain(pthread_t *handle, const pthread_attr_t *attributes,
                                void *(*function)(void *), void *argument);
/* Start a thread that takes no signals: they are for the processes. Returns what pthread_create
 * does.
 */
int process_thread_without_signals(void *(*function)(void *), void *argument);
/* Continue a process on a thread of its own: from its worker, which it leaves; one that has not
 * begun; and it is about to leave that thread. */
xy_status_t process_detach(process_t *process);
xy_status_t process_carry(process_t *process);
void process_attach(void);
/* A process that waits leaves the calling thread, whose fiber it is; and has come to the calling
 * one, with its stack from `low` to `high`, as in process_locals_follow. */
void process_give(process_t *process);
void process_take(void *process, void *low, void *high);

/* ---- Signals (signals.c) ---- */
/* Faults name the process; SIGINT and others end the job, unless processes handle them. `processes`
 * are all there may be. */
void process_signals_setup(process_t *processes, int count);
/* The process of this number has ended: the next one has no handlers. */
void process_signals_forget(int which);

/* ---- dlopen and dlsym (dl.c) ---- */
/* Messages can be read with dlerror from now on, where a process has asked. */
void process_dl_setup(void);
/* One program or plug-in is loaded at a time. */
extern pthread_mutex_t process_loading __attribute__((visibility("hidden")));
/* Reports of the calling thread go to `text` from now on; NULL: to the user again. */
void process_report_catch(char *text, size_t room);
/* Has it been caught? For those who report themselves. */
bool process_report_is_caught(const char *message);

/* May dladdr make an index of the symbols of each file that it is asked about? For many questions
 * at once, while memory can be allocated: never in a signal handler. Off at first. */
void process_index_symbols(bool is_on);

#endif
