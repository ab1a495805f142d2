/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of callbacks that processes need from the runtime above them.
 *
 *   static const process_runtime_t mine = {.name = "mytool", .noun = "process", .end = end};
 *
 *   process_runtime = mine;
 *
 * The runtime owns the threads, decides who runs, and ends the job. It sets the table once, before
 * it makes a process; each function may be NULL, which stands for "nothing to do" and "false". If
 * the table is never set, every replaced function behaves as the C library's own.
 */
#ifndef XY_PROCESS_OPS_OPS_H
#define XY_PROCESS_OPS_OPS_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct process process_t;

/* A clock other than the machine's: of a simulated run. Processes run one at a time then. */
typedef struct {
    double (*now)(process_t *self); /* seconds since the job began */
    /* `self` does nothing for so long. `parks`: others run meanwhile; otherwise the time is charged
     * to it, for callers that must not yield. */
    void (*sleep)(process_t *self, double seconds, bool parks);
    /* `self` looked for something that has not happened yet: others run. */
    void (*look)(process_t *self);
    /* Threads of `self` take turns as well (libc/turns.h). The one that has the turn makes one;
     * thread_begin, on the thread, returns when it has its first turn, and thread_end gives the
     * last one back. `here` is the calling thread, or the process itself; it leaves its turn until
     * another one wakes it, or for so many seconds (INFINITY: no limit). */
    void *(*thread_make)(process_t *self);
    void (*thread_begin)(void *thread);
    void (*thread_end)(void *thread);
    void *(*here)(process_t *self);
    void (*block)(process_t *self, double seconds);
    void (*wake)(process_t *self, void *other);
    const bool *reads_real_time; /* while true, the clock itself reads one of the C library's */
} process_clock_t;

typedef struct {
    /* ---- Names, for reports and for the loader ---- */
    const char *name;    /* of the command, in front of messages */
    const char *noun;    /* of a process: "process" */
    const char *library; /* the file that this code is linked into begins so */
    const char *library_reason;
    const char *own_files; /* part of the paths of files whose frames a stack does not show */
    /* Functions of that library that tools stand in front of begin so; such a tool is private. */
    const char *tool_prefix, *tool_reason;
    /* A variable of programs and libraries whose address the runtime wants to know; a library that
     * defines it cannot be shared. */
    const char *block, *block_reason;

    /* ---- Scheduling ---- */
    const process_clock_t *clock; /* NULL: real time */
    int (*count)(void);           /* processes of the job so far */
    /* May other processes run on the core of `self`? Asked once. And may some come while it waits
     * for one of its threads? */
    bool (*shares_core)(const process_t *self);
    bool (*may_have_company)(const process_t *self);
    /* Is `self` in a call of the runtime, where it must not yield? */
    bool (*is_inside)(const process_t *self);
    /* `self` is about to yield in a function of the C library, and continues. */
    void (*yields)(process_t *self);
    void (*continues)(process_t *self);
    /* Does the runtime count what a process does beside polling? Then `acts` is called when it
     * looks at a clock. */
    const _Atomic bool *watches;
    void (*acts)(void);

    /* ---- Beginning and end ---- */
    void (*begin)(process_t *self); /* on its fiber, before constructors */
    /* Its exit code is known. Returns where the process ends alone; a job that failed ends here. */
    void (*end)(process_t *self, int code);
    void (*leave)(process_t *self); /* nothing of it runs any more; its fiber ends next */
    /* The calling thread works for no process from now on. */
    void (*forget)(void);
    void (*abort)(int code); /* end the job; a message was printed */
    void (*flush)(void);     /* the process of the operating system is about to end */

    /* ---- Threads ---- */
    void (*thread_count)(process_t *self, int change); /* any thread */
    void (*thread_begin)(process_t *self);             /* on the new thread */
    void (*thread_end)(void);
    /* Run the fiber of `self` on the calling thread until it returns home; moved(self, low, high)
     * is called with its stack first. */
    void (*carry)(process_t *self, void (*moved)(void *self, void *low, void *high));

    /* ---- Faults ---- */
    /* The process that the calling thread works for, which may be none that runs there; and the
     * same for a fault at `address`. NULL: none. */
    process_t *(*current)(void);
    process_t *(*owner_of_fault)(const void *address);
    /* The name of the runtime's call that `self` is in, with the address behind it in the program;
     * or NULL. */
    const char *(*call_of)(const process_t *self, const void **site_p);
    /* In a copy of the job: the calling thread works for `self` on another stack; call a function
     * that does not return on that of `self`. Returns if that is not possible. */
    void (*visit)(const process_t *self, void (*function)(void));
    /* Was the address protected by the runtime, which has now made it accessible? Stores and loads
     * to it fault from the call of `begin` on, unless the program handles faults itself. */
    bool (*is_guarded)(const void *address, bool is_child, const void *(*find_site)(void *),
                       void *context);
    void (*guards_allow)(bool is_allowed, void (*begin)(void));
    /* From a signal handler: process `number` has crashed at "ring.c:12" or ""; the job ends with
     * `code`, now, or by a signal afterwards. */
    void (*note_crash)(int number, const char *place, const char *message);
    void (*end_now)(int code);
    void (*end_by_signal)(int code);
    /* "solve at ring.c:25" for the byte at `offset` of a file. */
    void (*describe_frame)(const Dl_info *info, size_t offset, char *text, size_t size);

    /* ---- Symbols ---- */
    /* The function that programs get instead of `found`; or `found`. */
    void *(*substitute)(const char *name, void *found);
    /* May `name` be a function that must not run? The function in front of it in a private library
     * (its soname, or the name of its file), or NULL; and in front of `found` in a shared one. */
    bool (*may_refuse)(const char *name);
    void *(*refuse)(const char *library, const char *name);
    void *(*refuse_shared)(const char *name, void *found);
    /* The file that stands in for a library of this name, whatever the dynamic linker would find,
     * in fresh memory; NULL: none does. */
    char *(*stand_in)(const char *name);
    /* A plug-in of `self` has the variable `block`. */
    void (*found_block)(process_t *self, char *address);
    /* A driver of GPUs is in use. For a runtime that copies memory of devices: may the caller's
     * default stream have work that it has not waited for? And wait until there is none; other
     * processes run meanwhile. Both are NULL outside of processes. */
    void (*uses_device)(bool (*has_work)(void), void (*wait)(void));
} process_runtime_t;

extern process_runtime_t process_runtime __attribute__((visibility("hidden")));

/* One line on standard error, "NAME: ...", with one write. Safe in signal handlers. */
void process_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Call a function of the table that returns nothing, where there is one. */
#define XY_RUNTIME_CALL(function, ...)                                                             \
    do {                                                                                           \
        if (process_runtime.function != NULL)                                                      \
            process_runtime.function(__VA_ARGS__);                                                 \
    } while (0)

#endif
