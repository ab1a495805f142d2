/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank has instead of a process of its own: an image of the program, and private copies of
 * the C library's state that programs rely on.
 *
 * Code of the C library that was put in front (libc/) asks mpi_process_self for the rank it
 * works for. Threads that a rank makes belong to it as well.
 */
#ifndef XY_MPI_LAUNCH_LIBC_PROCESS_H
#define XY_MPI_LAUNCH_LIBC_PROCESS_H

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
#include "mpi/launch/image/image.h"

/* A standard stream of a rank. Output collects lines and writes whole ones, protected by one lock
 * for all (stream.c). */
typedef struct {
    mpi_process_t *process;
    FILE *file;         /* what the program reads or prints to */
    int fd;             /* where that comes from, or where whole lines go; -1: closed */
    int copy;           /* where they go as well; -1: nowhere */
    bool is_redirected; /* freopen: the descriptor is the rank's alone, and lines are not collected
                         */
    int orientation;    /* of fwide */
    FILE *wide;         /* input: reads the descriptor as wide characters */
    mbstate_t shift;    /* output: of wide characters */
    bool is_inside_line;
    char *partial; /* the beginning of a line that is not complete */
    size_t partial_size, partial_capacity;
} mpi_stream_t;

/* Functions to call at the end of the rank, last one first. */
typedef enum {
    XMPI_ATEXIT_CXA,
    XMPI_ATEXIT_ON_EXIT,
    XMPI_ATEXIT_THREAD,
    XMPI_ATEXIT_QUICK
} mpi_atexit_kind_t;

typedef struct {
    mpi_atexit_kind_t kind;
    void *function;
    void *argument;
    void *dso;
} mpi_atexit_t;

typedef struct {
    struct random_data random;
    struct drand48_data drand48;
    char random_state[128];
} mpi_random_t;

/* Are there other ranks on its core? */
typedef enum { XMPI_SHARING_UNKNOWN, XMPI_SHARING_ALONE, XMPI_SHARING_CORE } mpi_sharing_t;

struct mpi_process {
    void *owner;              /* the runtime's own object for it */
    xy_fiber_t *const *fiber; /* where the runtime keeps the fiber that runs it */
    int world;
    const mpi_program_t *program;
    char *image;
    int argc;
    char **argv;

    /* Where each variable lives: in the image when it has a copy, in `own` otherwise. */
    void *variables[XMPI_VARIABLES];
    struct {
        FILE *streams[3];
        char **environment;
        char *optarg;
        int optind, opterr, optopt;
        char *tzname[2];
        long timezone;
        int daylight;
    } own;

    mpi_stream_t in, out, err;
    char line[1024];    /* buffer of `out` */
    char **environment; /* the array we own; the program may have put another in its place */
    size_t environment_capacity;

    char *getopt_next; /* inside a group of short options */
    int getopt_first, getopt_last;
    char *strtok_rest;
    mpi_random_t *random; /* made at first use */
    struct tm time;
    char time_text[64];

    xy_vec_t atexit; /* of mpi_atexit_t */
    bool is_exiting, has_ended;
    bool is_away;   /* it runs on a thread of its own */
    bool gives_way; /* it is in a wait of the C library, and other ranks run (block.c) */
    mpi_sharing_t sharing;

    pthread_t thread; /* its worker's */
    pid_t tid;
    unsigned char *affinity; /* what it has asked for, or NULL */
    size_t affinity_size;
    _Atomic int thread_count; /* those it has made and that have not ended */
    int exit_code;

    uintptr_t thread_pointer; /* of the thread that it has left */
    char *thread_locals;      /* while the rank does not run; NULL: it has none */
    char *library_locals;     /* the same of the first `libraries` libraries and plug-ins */
    int libraries;
    xy_vec_t plugins;        /* of const mpi_program_t *: those that are private */
    char *dl_error;          /* for dlerror; or NULL */
    char *dl_error_read;     /* what dlerror returned last */
    void *(*malloc)(size_t); /* the program's, where it defines one; or NULL */
    void *(*realloc)(void *, size_t);
    const cpu_set_t *cores;    /* for the threads it makes */
    const char *last_frame;    /* of the program are the frames above it, when it has ended */
    struct mpi_device *device; /* what it has with CUDA (device_cuda.c); NULL: nothing */
    void *device_context;      /* the current one, while the rank does not run; or NULL */
    struct mpi_storage *device_storage; /* of its runtime (device_storage.c); NULL: nothing */
    bool has_bound_device;              /* its own was made the current one (mpi_device_bind) */
    /* The rank has ended, and nothing of it is used any more: called last. NULL: nothing to do. */
    void (*ended)(mpi_process_t *process);
    int directory; /* a descriptor of its working directory, if it has one of its own: */
    uint64_t directory_number;         /* not 0, and no other has had the same (directory.c) */
    pthread_mutex_t openmp[2];         /* the unnamed locks of OpenMP (openmp.c) */
    struct mpi_keys *keys;             /* of thread-specific data (keys.c); NULL: none */
    struct mpi_key_values *key_values; /* and the rank's own values; NULL: none */
    void *sanitizer_stack; /* what the address sanitizer keeps of it while it does not run */
};

extern _Thread_local mpi_process_t *mpi_process_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The process whose fiber runs on this thread; NULL: none does. Threads that a process makes, and
 * handlers of signals, have a process without being its fiber. */
extern _Thread_local mpi_process_t *mpi_process_main
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

extern pid_t mpi_process_pid __attribute__((visibility("hidden"))); /* of the job */
/* This is a process that a rank made with fork. */
extern bool mpi_process_is_child __attribute__((visibility("hidden")));

/* Is the caller the fiber of a rank (and not a thread that one made)? */
static inline bool mpi_process_is_rank(void)
{
    return mpi_process_self != NULL && mpi_process_self == mpi_process_main;
}

/* Is it in the program's own code, and not in a call of the runtime? */
static inline bool mpi_process_is_in_program(const mpi_process_t *process)
{
    return mpi_process_runtime.is_inside == NULL || !mpi_process_runtime.is_inside(process);
}

/* What has to be done when a worker goes on with another rank, besides thread-local variables. */
enum { XMPI_SWITCH_DEVICES = 1, XMPI_SWITCH_DIRECTORIES = 2 };
extern _Atomic unsigned mpi_switch_more __attribute__((visibility("hidden")));

#define XMPI_PROCESS_VARIABLE(process, type, which) (*(type *)(process)->variables[which])

typedef struct {
    const mpi_program_t *program;
    int index; /* of the image among those of its program */
    int world;
    int argc;
    char **argv;
    char *const *environment; /* strings are shared; they must live as long as the process */
    const cpu_set_t *cores;
} mpi_process_config_t;

/* Build it: image placed and fixed, streams open, constructors not run. `process` is zeroed memory
 * of the caller. */
xy_status_t mpi_process_init(mpi_process_t *process, const mpi_process_config_t *config);
/* Free what it has; it has ended. Its image is left, its memory is zeroed. */
void mpi_process_cleanup(mpi_process_t *process);
/* The body of a rank's fiber: constructors, main, exit. */
void mpi_process_run(void *process);
/* Run exit functions and destructors, flush, end the rank. From its fiber or its threads. */
void mpi_process_exit(mpi_process_t *process, int code) __attribute__((noreturn));
/* End it at once. */
void mpi_process_exit_now(mpi_process_t *process, int code) __attribute__((noreturn));
/* The rank ends with this exit code, when its own code has done what it does at the end. */
void mpi_process_end(mpi_process_t *process, int code) __attribute__((noreturn));
/* The calling thread works for no rank from now on: the C library's functions are its own. */
void mpi_process_forget(void);
/* Call the functions of one kind; of one shared object when `dso` is not NULL. */
void mpi_process_run_atexit(mpi_process_t *process, unsigned kinds, const void *dso, int code);

/* For mpi_program_config_t. The main function of an image (start_main.c); and the streams of the
 * C++ runtime, where there is one, made ready to be copied (cxx_runtime.c). */
void *mpi_process_capture_main(void *entry);
void mpi_process_prepare_cxx(void);

/* ---- Sanitizers (sanitizer.c) ---- */
/* Look for the runtime of one; when the launcher starts. */
void mpi_sanitizer_setup(void);
bool mpi_sanitizer_is_there(void);
bool mpi_sanitizer_has_stacks(void); /* and wants to know of switches */
bool mpi_sanitizer_watches_threads(void);
/* The calling thread is about to run ranks. */
void mpi_sanitizer_enter(void);
/* Memory of the launcher that refers to blocks of ranks: these are not lost. */
void mpi_sanitizer_add_root(const void *from, size_t size);
/* Where a call comes from: the code in front of the runtime, where the call comes through it. */
const void *mpi_sanitizer_caller(const void *caller);
/* `next` runs on this thread from now on; only where the sanitizer wants to know. */
void mpi_sanitizer_switch(mpi_process_t *next);
/* The rank that runs here ends; its frames are left as they are. */
void mpi_sanitizer_end(const mpi_process_t *process);
/* The calling thread runs on its own stack again. */
void mpi_sanitizer_leave(void);

/* ---- Environment (environment.c) ---- */
xy_status_t mpi_environment_init(mpi_process_t *process, char *const *environment);
char *mpi_environment_get(mpi_process_t *process, const char *name, size_t length);
/* Put "NAME=value" in (not copied). 0, or -1 with errno. */
int mpi_environment_put(mpi_process_t *process, char *entry, size_t length);
void mpi_environment_remove(mpi_process_t *process, const char *name, size_t length);

/* ---- Streams (stream.c) ---- */
typedef enum { XMPI_TAG_NONE, XMPI_TAG_RANK, XMPI_TAG_STREAM } mpi_tag_t;

enum { XMPI_INPUT_NONE = -1, XMPI_INPUT_ALL = -2 };

typedef struct {
    mpi_tag_t tag;           /* of lines */
    bool has_time;           /* before the tag */
    bool is_merged;          /* standard error becomes standard output */
    const char *directory;   /* of files that lines go to as well (stream_files.c), or NULL */
    const char *patterns[2]; /* of files that output and error go to, or NULL */
    int process;             /* of the job */
    const char *host;        /* its name there; NULL: this one's */
    int input;               /* the rank that reads standard input; XMPI_INPUT_NONE, ALL */
} mpi_streams_config_t;

/* Descriptors 0 to 2 that the caller has closed are opened on nothing: what is opened next must not
 * become somebody's input or output. First of all. */
void mpi_streams_reserve(void);
void mpi_streams_setup(const mpi_streams_config_t *config);
/* Descriptors of output that a process has: also of one that is no rank here (children.c). */
xy_status_t mpi_stream_route(const mpi_streams_config_t *config, mpi_process_t *process);
xy_status_t mpi_streams_begin(mpi_process_t *process);
/* The standard input of a rank: a descriptor, -1 on failure (reported). With XMPI_INPUT_ALL each
 * has its own, which is filled from the call of mpi_input_share on (input_share.c). */
int mpi_streams_input(int rank);
int mpi_input_of_all(void);
xy_status_t mpi_input_share(void);
xy_status_t mpi_streams_open(mpi_process_t *process);
/* Output has come: write whole lines, keep the rest. 0, or the error that lost it (reported). */
int mpi_stream_take(mpi_stream_t *stream, const char *bytes, size_t size);
/* Write what is incomplete, too. */
int mpi_stream_flush(mpi_stream_t *stream);
/* Both streams of a rank that runs on this thread. */
void mpi_streams_flush(mpi_process_t *process);
void mpi_streams_close(mpi_process_t *process);
/* Those of all ranks, from anywhere but a signal handler; a stream in use is left alone. */
void mpi_streams_flush_all(mpi_process_t *processes, int count);
/* Was output lost? The job has failed then. */
bool mpi_streams_failed(void);
/* The rank's, in place of the C library's own. */
FILE *mpi_stream_of(mpi_process_t *process, FILE *file);
/* The standard stream of this rank that `file` is, or NULL. */
mpi_stream_t *mpi_stream_find(mpi_process_t *process, const FILE *file);
/* freopen of one of them. */
FILE *mpi_stream_reopen(mpi_stream_t *stream, const char *path, const char *mode);

/* ---- Thread-local variables (thread_locals.c) ---- */
xy_status_t mpi_locals_init(mpi_process_t *process);
/* `next` runs on this thread from now on. */
void mpi_locals_switch(mpi_process_t *next);
/* The rank of this thread continues on another one; or it has ended, and its variables are gone. */
void mpi_locals_leave(void);
void mpi_locals_drop(void);
/* The rank `process` has come from another thread to this one with its stack from `low` to `high`:
 * addresses there that count from the thread pointer become those of this thread. */
void mpi_locals_follow(void *process, void *low, void *high);
/* This thread runs code of the image for the first time: its block gets the initial values. */
void mpi_locals_fill(const mpi_program_t *program, char *image);
/* The same on a new thread of a rank, for the program and its plug-ins. */
void mpi_locals_begin(const mpi_process_t *process);
/* How many bytes the host has set aside, and what they are aligned to. */
size_t mpi_locals_reserve(size_t *align_p);
/* Does code of a library lie there whose thread-local variables stay with the worker: an allocator,
 * or a driver of GPUs? It must not give way to another rank: that one would come into it again, on
 * the same thread. */
bool mpi_locals_is_of_worker(const void *code);
/* Find the libraries whose thread-local variables must follow the rank; after loading. */
xy_status_t mpi_locals_setup(void);
/* The same when a rank has loaded more: a private plug-in, or (NULL) shared libraries. */
xy_status_t mpi_locals_extend(const mpi_program_t *plugin);

/* ---- Programs with a malloc of their own (own_malloc.c) ---- */
/* After the image is there. */
void mpi_own_malloc_find(mpi_process_t *process);
typedef ssize_t (*mpi_read_line_fn)(char **line, size_t *size, int delimiter, FILE *file);
ssize_t mpi_own_malloc_line(mpi_read_line_fn read_line, char **line, size_t *size, int delimiter,
                            FILE *file);

/* ---- Keys of thread-specific data (keys.c) ---- */
/* The thread or the rank that calls ends: call the functions for its values. */
void mpi_keys_end(void);

/* ---- OpenMP (openmp.c) ---- */
/* For the symbols of programs: `found`, or a function with the rank's lock. */
void *mpi_openmp_substitute(const char *name, void *found);

/* ---- Threads (thread.c) ---- */
/* The rank has loaded a plug-in: its thread-local variables get their initial values in the threads
 * that the rank has. */
void mpi_threads_fill(const mpi_process_t *process, const mpi_program_t *plugin, char *image);
/* pthread_create for threads that belong to no rank. */
int mpi_thread_create_plain(pthread_t *handle, const pthread_attr_t *attributes,
                            void *(*function)(void *), void *argument);
/* Start a thread that takes no signals: they are for the ranks. Returns what pthread_create does.
 */
int mpi_thread_without_signals(void *(*function)(void *), void *argument);
/* Continue a rank on a thread of its own: from its worker, which it leaves; one that has not
 * begun; and it is about to leave that thread. */
xy_status_t mpi_process_detach(mpi_process_t *process);
xy_status_t mpi_process_carry(mpi_process_t *process);
void mpi_process_attach(void);

/* ---- Signals (signals.c) ---- */
/* Faults name the rank; SIGINT and others end the job, unless ranks handle them. `processes` are
 * all there may be. */
void mpi_signals_setup(mpi_process_t *processes, int count);
/* The rank of this number is over: the next one has no handlers. */
void mpi_signals_forget(int rank);

/* ---- dlopen and dlsym (dl.c) ---- */
/* Messages can be read with dlerror from now on, where a rank has asked. */
void mpi_dl_setup(void);
/* One program or plug-in is loaded at a time. */
extern pthread_mutex_t mpi_loading __attribute__((visibility("hidden")));
/* What the calling thread reports from now on goes to `text`; NULL: to the user again. */
void mpi_report_catch(char *text, size_t room);
/* Has it been caught? For those who report themselves. */
bool mpi_report_is_caught(const char *message);

#endif
