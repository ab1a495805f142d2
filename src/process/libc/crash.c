/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * After a fault the heap may be broken, and the thread may hold any lock: of the allocator, of a
 * stream, of the dynamic linker. So nothing here takes one.
 *
 * A copy of the process, made by a system call alone, unwinds the stack: the unwinder may fault on
 * a broken one. It asks _dl_find_object, which has no lock, for the files that the addresses lie
 * in, writes addresses without lines, and becomes a new launcher that reads the lines: a process
 * with a heap of its own (crash_lines.c). Whatever has come after a second is printed.
 */
#include "process/libc/crash.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "process/libc/interpose.h"
#include "process/libc/process_state.h"
#include "process/libc/signals.h"

enum { FRAMES_MOST = 256, LINE_SIZE = 400, TEXT_SIZE = 1 << 14, PATH_SIZE = 4096 };
enum { CALL_STACK = 1 << 20 }; /* bytes that reading lines may need */

/* Between what the copy writes and the lines of the new process. */
static const char separator[] = "\f";

/* ---- Before a crash ---- */

static char executable[PATH_SIZE]; /* of the launcher */
static char search_path[PATH_SIZE] = "LD_LIBRARY_PATH=";

/* The unwinder, which the C library's backtrace() uses as well. */
static struct {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
    _Unwind_Ptr (*ip)(struct _Unwind_Context *);
} unwinder;

/* The frames that were found, in memory that copies of the process share with it: what a copy has
 * found is still there when a broken stack has ended it. */
static struct {
    int count;
    void *frames[FRAMES_MOST];
} * found;

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *unused)
{
    (void)unused;
    if (found->count == FRAMES_MOST)
        return _URC_END_OF_STACK;
    found->frames[found->count] = (void *)unwinder.ip(context);
    found->count++;
    return _URC_NO_REASON;
}

/* The first use of the unwinder looks functions up. */
static void load_unwinder(void)
{
    void *library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    void *memory =
        mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (library == NULL || memory == MAP_FAILED)
        return;
    found = memory;
    *(void **)&unwinder.backtrace = dlsym(library, "_Unwind_Backtrace");
    *(void **)&unwinder.ip = dlsym(library, "_Unwind_GetIP");
    if (unwinder.backtrace == NULL || unwinder.ip == NULL)
        found = NULL;
    else
        unwinder.backtrace(note_frame, NULL);
}

void process_crash_setup(void)
{
    const char *directories = getenv("LD_LIBRARY_PATH");
    size_t room = sizeof(search_path) - strlen(search_path);
    ssize_t n = readlink("/proc/self/exe", executable, sizeof(executable) - 1);

    executable[n > 0 ? n : 0] = '\0';
    if (directories != NULL && strlen(directories) < room)
        memcpy(search_path + strlen(search_path), directories, strlen(directories) + 1);
    load_unwinder();
}

bool process_crash_is_set_up(void)
{
    return executable[0] != '\0';
}

static struct {
    _Atomic int thread; /* that reports; 0: none */
    int faults;         /* of this thread, that of the report included */
    bool is_said;
    int code; /* that the job ends with */
    const void *pc;
} report;

/* ---- In the copy ---- */

static struct {
    const void *pc, *caller; /* of the runtime's call that the process is in, or NULL */
    void *frames[FRAMES_MOST];
    int count;
    bool shows_own;         /* there is no process: functions of this library are shown */
    const process_t *other; /* its stack may have the frames, if this one has none; or NULL */
    int out;                /* where the lines go */
    char offsets[FRAMES_MOST][24];
    char *arguments[2 * FRAMES_MOST + 3];
} copy;

/* An address in a file. */
typedef struct {
    const char *path;
    size_t offset; /* from the lowest address of the file in memory */
} place_t;

/* Files of the runtime, whose frames a program's stack does not show. */
static bool is_of_runtime(const char *path)
{
    return process_runtime.own_files != NULL && strstr(path, process_runtime.own_files) != NULL;
}

/* Libraries whose functions say nothing about the program's own. */
static bool is_system(const char *path)
{
    static const char *const names[] = {"libc.so",   "ld-linux",   "libgcc_s.so", "libstdc++.so",
                                        "libm.so",   "libpthread", "libasan",     "libtsan.so",
                                        "libubsan.", "linux-vdso", NULL};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

    for (int i = 0; names[i] != NULL; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The file of the dynamic linker that has an address; "": the executable, which is the launcher. */
static bool find_file(const void *address, const char **path, const void **base)
{
#if defined(DLFO_STRUCT_HAS_EH_DBASE)
    struct dl_find_object object;

    if (_dl_find_object((void *)(uintptr_t)address, &object) != 0 || object.dlfo_link_map == NULL)
        return false;
    *path = object.dlfo_link_map->l_name;
    *base = object.dlfo_map_start;
    return true;
#else
    Dl_info info; /* may wait for the dynamic linker's lock */

    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return false;
    *path = info.dli_fname;
    *base = info.dli_fbase;
    return true;
#endif
}

/* Is `base` that of the library that this file belongs to? */
static bool is_own(const void *base)
{
    const char *path;
    const void *own;

    return find_file((const void *)(uintptr_t)process_crash_setup, &path, &own) && base == own;
}

/* Where it is, if it is code that is shown: of the program, its libraries included. */
static bool locate(const void *address, place_t *place)
{
    const process_program_t *program;
    const process_module_t *module;
    const char *image = process_image_find(address, &program, &module);
    const void *base;

    if (image != NULL) {
        place->path = module->elf->path;
        place->offset = (size_t)((const char *)address - image) - module->offset;
        return true;
    }
    if (!find_file(address, &place->path, &base) || is_system(place->path))
        return false;
    if (!copy.shows_own && (place->path[0] == '\0' || is_own(base) || is_of_runtime(place->path)))
        return false;
    if (place->path[0] == '\0')
        place->path = executable;
    place->offset = (size_t)((const char *)address - (const char *)base);
    return true;
}

/* Frames of the handler stand before that of the fault. */
static void drop_handler(void)
{
    for (int i = 0; i < copy.count; i++)
        if (copy.frames[i] == copy.pc) {
            copy.count -= i;
            memmove(copy.frames, &copy.frames[i], (size_t)copy.count * sizeof(copy.frames[0]));
            return;
        }
}

static void describe_visited(void);

/* Choose the frames to print: on another stack none is of the program. Then those of the process's
 * own stack are shown, or the line of its call, and without a call the functions of this library.
 */
static void choose_frames(void)
{
    place_t place;

    drop_handler();
    for (int i = 0; i < copy.count; i++)
        if (locate((const char *)copy.frames[i] - (copy.frames[i] != copy.pc), &place))
            return;
    if (copy.other != NULL) {
        const process_t *other = copy.other;

        copy.other = NULL;
        process_runtime.visit(other, describe_visited);
    }
    if (copy.caller == NULL) {
        copy.shows_own = true;
        return;
    }
    copy.frames[0] = (void *)(uintptr_t)copy.caller;
    copy.count = 1;
}

static void put(const char *text, size_t length)
{
    if (syscall(SYS_write, copy.out, text, length) < 0)
        syscall(SYS_exit_group, 1);
}

/* The places of the frames as arguments of the new process, and without lines. */
static void put_places(void)
{
    char line[LINE_SIZE];
    int n = 2, shown = 0;
    place_t place;

    choose_frames();
    for (int i = 0; i < copy.count; i++) {
        /* A return address is behind the call, perhaps in the next line. */
        if (!locate((const char *)copy.frames[i] - (copy.frames[i] != copy.pc), &place))
            continue;
        snprintf(copy.offsets[i], sizeof(copy.offsets[i]), "%zx", place.offset);
        copy.arguments[n++] = (char *)(uintptr_t)place.path;
        copy.arguments[n++] = copy.offsets[i];
        if (shown++ < PROCESS_CRASH_LINES) {
            int length =
                snprintf(line, sizeof(line), "  at %s+0x%s\n", place.path, copy.offsets[i]);

            put(line, length < (int)sizeof(line) ? (size_t)length : sizeof(line) - 1);
        }
    }
    if (n == 2)
        syscall(SYS_exit_group, 0);
    put(separator, strlen(separator));
}

/* Become the process that reads the lines. It has no use for what the job's environment says:
 * libraries to preload, servers of debugging information. */
static void read_lines(void)
{
    static char name[] = "lines", option[] = PROCESS_CRASH_OPTION;
    char *environment[] = {search_path, NULL};

    copy.arguments[0] = name;
    copy.arguments[1] = option;
    syscall(SYS_dup3, copy.out, STDOUT_FILENO, 0);
    syscall(SYS_execve, executable, copy.arguments, environment);
    syscall(SYS_execve, "/proc/self/exe", copy.arguments, environment);
}

/* The process that the calling thread works for, or NULL. */
static const process_t *current(void)
{
    return process_runtime.current != NULL ? process_runtime.current() : process_main;
}

const char *process_crash_runtime_call(const void **site_p)
{
    const process_t *process = current();

    return process != NULL && process_runtime.call_of != NULL
               ? process_runtime.call_of(process, site_p)
               : NULL;
}

static void take_found(void)
{
    copy.count = found->count;
    memcpy(copy.frames, found->frames, (size_t)copy.count * sizeof(copy.frames[0]));
}

static void unwind(void)
{
    found->count = 0;
    unwinder.backtrace(note_frame, NULL);
    take_found();
}

static void describe(void) __attribute__((noreturn));
static void describe(void)
{
    put_places();
    read_lines();
    syscall(SYS_exit_group, 1);
    __builtin_unreachable();
}

static void describe_visited(void)
{
    unwind();
    describe();
}

static void run_copy(const void *pc, bool is_deep, int out) __attribute__((noreturn));
/* In the copy of the crashed process: unwind the stack, print the addresses, and become the reader
 * of lines. */
static void run_copy(const void *pc, bool is_deep, int out)
{
    copy.caller = NULL;
    process_crash_runtime_call(&copy.caller);
    copy.shows_own = current() == NULL && process_self == NULL;
    copy.other = is_deep && process_runtime.visit != NULL ? current() : NULL;
    process_forget();
    copy.pc = pc;
    copy.out = out;
    copy.count = 0;
    if (is_deep && found != NULL)
        unwind();
    else if (found != NULL) /* by the copy before */
        take_found();
    if (copy.count == 0)
        copy.frames[copy.count++] = (void *)(uintptr_t)pc;
    describe();
}

/* ---- In the job ---- */

static pid_t make_copy(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    return _Fork(); /* takes no lock and calls no function of the program */
#else
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
#endif
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds that a process was ready to run without a processor; they do not count. */
static double waited_for_processor(pid_t pid)
{
    char name[48], text[96];
    const char *space;
    long n = -1;
    int fd;

    snprintf(name, sizeof(name), "/proc/%d/schedstat", (int)pid);
    fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = syscall(SYS_read, fd, text, sizeof(text) - 1);
    syscall(SYS_close, fd);
    text[n > 0 ? n : 0] = '\0';
    space = strchr(text, ' ');
    return space != NULL ? (double)strtoull(space, NULL, 10) * 1e-9 : 0;
}

/* Read all output of a process until the other end is closed or a second has passed. */
static void read_all(int fd, pid_t pid, char *text, size_t size)
{
    const struct timespec slice = {.tv_nsec = 50000000};
    struct pollfd in = {.fd = fd, .events = POLLIN};
    double begin = now();
    size_t length = 0;
    long n;

    while (length < size - 1) {
        bool is_late = now() - begin - waited_for_processor(pid) > 1;
        struct timespec patience = is_late ? (struct timespec){0} : slice;

        n = syscall(SYS_ppoll, &in, 1, &patience, NULL, 0);
        if (n > 0)
            n = syscall(SYS_read, fd, text + length, size - 1 - length);
        else if (!is_late)
            continue;
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    text[length] = '\0';
}

/* The lines that were read, or, without any, the addresses. */
static void choose_lines(const char *all, char *text, size_t size)
{
    const char *lines = strchr(all, separator[0]);
    size_t length;

    if (lines == NULL || strchr(lines, '\n') == NULL)
        length = strcspn(all, separator);
    else
        length = strlen(all = lines + 1);
    if (length >= size)
        length = size - 1;
    while (length > 0 && all[length - 1] != '\n') /* half a line */
        length--;
    memcpy(text, all, length);
    text[length] = '\0';
}

/* Describe a stack in `text` with the help of a copy of the process; empty if that fails. */
static void try_describe(const void *pc, bool is_deep, char *text, size_t size)
{
    static char all[TEXT_SIZE];
    int ends[2];
    pid_t pid;

    text[0] = '\0';
    if (syscall(SYS_pipe2, ends, O_CLOEXEC) != 0)
        return;
    pid = make_copy();
    if (pid == 0)
        run_copy(pc, is_deep, ends[1]);
    syscall(SYS_close, ends[1]);
    if (pid > 0) {
        read_all(ends[0], pid, all, sizeof(all));
        syscall(SYS_kill, pid, SIGKILL);
        syscall(SYS_wait4, pid, NULL, 0, NULL);
        choose_lines(all, text, size);
    }
    syscall(SYS_close, ends[0]);
}

/* A stack that was overwritten may end the copy: another one describes the frames up to there. */
void process_crash_describe_stack(const void *pc, char *text, size_t size)
{
    try_describe(pc, true, text, size);
    if (text[0] == '\0')
        try_describe(pc, false, text, size);
}

/* Calling functions of this library needs more stack than signals have. */
static void run_on_large_stack(void (*function)(void))
{
    static ucontext_t here, there;
    void *stack =
        mmap(NULL, CALL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (stack == MAP_FAILED || getcontext(&there) != 0)
        return;
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = CALL_STACK;
    there.uc_link = &here;
    makecontext(&there, function, 0);
    swapcontext(&here, &there);
}

void process_crash_call(void (*function)(void))
{
    char unused[2];
    int ends[2];
    pid_t pid;

    if (syscall(SYS_pipe2, ends, O_CLOEXEC) != 0)
        return;
    pid = make_copy();
    if (pid == 0) {
        process_forget();
        run_on_large_stack(function);
        syscall(SYS_exit_group, 0);
    }
    syscall(SYS_close, ends[1]);
    if (pid > 0) {
        read_all(ends[0], pid, unused, sizeof(unused)); /* its end closes the pipe */
        syscall(SYS_kill, pid, SIGKILL);
        syscall(SYS_wait4, pid, NULL, 0, NULL);
    }
    syscall(SYS_close, ends[0]);
}

/* Print to standard error; a failure cannot be reported. */
static void say_text(const char *text)
{
    long ignored = syscall(SYS_write, STDERR_FILENO, text, strlen(text));

    (void)ignored;
}

void process_crash_say_stack(const char *text)
{
    const char *end = strchr(text, '\n');

    if (end != NULL && end[1] != '\0')
        say_text(text);
    report.is_said = true;
}

/* ---- One report ---- */

/* End the host by the system call: the process on this thread, if any, has ended. */
static void end_process(void) __attribute__((noreturn));
static void end_process(void)
{
    process_self = NULL;
    syscall(SYS_exit_group, report.code);
    __builtin_unreachable();
}

static void report_anyway(int number) __attribute__((noreturn));
/* The report itself has failed: print what can be known without the job's own data, and end. */
static void report_anyway(int number)
{
    static char stack[TEXT_SIZE];

    if (!report.is_said && report.faults == 2) {
        process_forget();
        process_crash_describe_stack(report.pc, stack, sizeof(stack));
        process_say("signal %d (%s) in an unknown %s: memory of the job is overwritten; "
                    "valgrind and -fsanitize=address find the first wrong write",
                    number, sigabbrev_np(number), process_runtime.noun);
        say_text(stack);
    }
    end_process();
}

/* End the process: the job's last steps wait for another thread, or for a disk. */
static void on_late(int number)
{
    (void)number;
    end_process();
}

/* End the process after ten seconds even if its report hangs. */
static void limit_end(void)
{
    enum { SECONDS = 10 };
    const struct itimerval limit = {.it_value = {.tv_sec = SECONDS}};
    struct sigaction action;
    sigset_t late;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_late;
    signals_set(SIGALRM, &action, NULL);
    sigemptyset(&late);
    sigaddset(&late, SIGALRM);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &late, NULL, (size_t)_NSIG / 8);
    syscall(SYS_setitimer, ITIMER_REAL, &limit, NULL);
}

void process_crash_begin(int number, const void *pc)
{
    int self = (int)syscall(SYS_gettid), other = 0;

    if (!atomic_compare_exchange_strong(&report.thread, &other, self) && other != self)
        for (;;) /* the process ends with the other's report */
            pause();
    if (++report.faults > 1)
        report_anyway(number);
    report.code = 128 + number;
    report.pc = pc;
    limit_end();
}
