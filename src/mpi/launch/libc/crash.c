/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * After a fault the heap may be broken, and the thread may hold any lock: neither the unwinder nor
 * what reads debugging information may be called. A copy of the process does it, made by a system
 * call alone. It has the same stack and the same images, and may fault or wait for ever without
 * harm: the job then ends without these lines.
 */
#include "mpi/launch/libc/crash.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "mpi/launch/libc/interpose.h"
#include "mpi/launch/libc/process.h"
#include "mpi/runtime/runtime.h"

enum { FRAMES_MOST = 256, SHOWN_MOST = 12, LINE_SIZE = 400 };

/* ---- In the copy ---- */

static struct {
    const void *pc, *caller; /* of the MPI call that the rank is in, or NULL */
    void *frames[FRAMES_MOST];
    int count;
    int out; /* where the lines go */
} copy;

/* Libraries whose functions say nothing about the program's own. */
static bool is_system(const char *path)
{
    static const char *const names[] = {"libc.so",    "ld-linux",  "libgcc_s.so", "libstdc++.so",
                                        "libm.so",    "libmpi",    "libpthread",  "libasan",
                                        "libtsan.so", "libubsan.", "linux-vdso",  NULL};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

    for (int i = 0; names[i] != NULL; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Is it code of the program, its libraries included? */
static bool is_shown(const void *address)
{
    const mpi_program_t *program;
    const mpi_module_t *module;
    Dl_info info, own;

    if (mpi_image_find(address, &program, &module) != NULL)
        return true;
    return !mpi_interpose_is_own(address) && dladdr(address, &info) != 0 &&
           info.dli_fname != NULL && !is_system(info.dli_fname) &&
           dladdr((const void *)(uintptr_t)mpi_crash_describe_stack, &own) != 0 &&
           info.dli_fbase != own.dli_fbase && strstr(info.dli_fname, "mpiexec") == NULL;
}

static void put(const char *line, int times)
{
    char text[LINE_SIZE + 48];
    int length;

    if (times > 1)
        length = snprintf(text, sizeof(text), "  %s (%d times)\n", line, times);
    else
        length = snprintf(text, sizeof(text), "  %s\n", line);
    if (length > 0 && syscall(SYS_write, copy.out, text, (size_t)length) < 0)
        syscall(SYS_exit_group, 1);
}

/* What is done for a rank on another stack shows nothing of the program: the line of its call does.
 */
static void show_call(void)
{
    for (int i = 0; i < copy.count; i++)
        if (is_shown((const char *)copy.frames[i] - (copy.frames[i] != copy.pc)))
            return;
    if (copy.caller == NULL)
        return;
    copy.frames[0] = (void *)(uintptr_t)copy.caller;
    copy.count = 1;
}

/* What calls itself is one line. */
static void put_frames(void)
{
    char line[LINE_SIZE], last[LINE_SIZE] = "";
    int shown = 0, times = 0;

    show_call();
    for (int i = 0; i < copy.count && shown < SHOWN_MOST; i++) {
        /* A return address is behind the call, perhaps in the next line. */
        const char *address = (const char *)copy.frames[i] - (copy.frames[i] != copy.pc);

        if (!is_shown(address))
            continue;
        mpi_caller_describe_frame(address, line, sizeof(line));
        if (strcmp(line, last) == 0) {
            times++;
            continue;
        }
        if (times > 0)
            put(last, times);
        shown += times > 0;
        strcpy(last, line);
        times = 1;
    }
    if (times > 0 && shown < SHOWN_MOST)
        put(last, times);
}

/* Reading lines needs more stack than signals have. */
static void run_on_large_stack(void (*function)(void))
{
    static ucontext_t here, there;
    void *stack =
        mmap(NULL, XMPI_CALLER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (stack == MAP_FAILED || getcontext(&there) != 0)
        return;
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = XMPI_CALLER_STACK;
    there.uc_link = &here;
    makecontext(&there, function, 0);
    swapcontext(&here, &there);
}

static void run_copy(const void *pc, int out) __attribute__((noreturn));
static void run_copy(const void *pc, int out)
{
    const void *caller =
        mpi_self != NULL && mpi_self->call.name != NULL ? mpi_self->call.caller : NULL;

    mpi_process_self = NULL;
    mpi_self = NULL;
    copy.pc = pc;
    copy.out = out;
    copy.count = backtrace(copy.frames, FRAMES_MOST);
    copy.caller = caller;
    run_on_large_stack(put_frames);
    syscall(SYS_exit_group, 0);
    __builtin_unreachable();
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

/* All that comes until the other end is closed or patience ends. */
static void read_all(int fd, int seconds, char *text, size_t size)
{
    struct pollfd in = {.fd = fd, .events = POLLIN};
    size_t length = 0;
    long n;

    while (length < size - 1 &&
           syscall(SYS_ppoll, &in, 1, &(struct timespec){.tv_sec = seconds}, NULL, 0) > 0) {
        n = syscall(SYS_read, fd, text + length, size - 1 - length);
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    while (length > 0 && text[length - 1] != '\n') /* half a line */
        length--;
    text[length] = '\0';
}

static void try_describe(const void *pc, int seconds, char *text, size_t size)
{
    int ends[2];
    pid_t pid;

    text[0] = '\0';
    if (syscall(SYS_pipe2, ends, 0) != 0)
        return;
    pid = make_copy();
    if (pid == 0)
        run_copy(pc, ends[1]);
    syscall(SYS_close, ends[1]);
    if (pid > 0) {
        read_all(ends[0], seconds, text, size);
        syscall(SYS_kill, pid, SIGKILL);
        syscall(SYS_wait4, pid, NULL, 0, NULL);
    }
    syscall(SYS_close, ends[0]);
}

/* Another thread may hold a lock of the C library at the moment of the copy, which then waits for
 * ever: a later copy finds it free. */
void mpi_crash_describe_stack(const void *pc, char *text, size_t size)
{
    text[0] = '\0';
    for (int seconds = 4; seconds <= 16 && text[0] == '\0'; seconds *= 2)
        try_describe(pc, seconds, text, size);
}

void mpi_crash_call(void (*function)(void))
{
    enum { SECONDS = 30 };
    char unused[2];
    int ends[2];
    pid_t pid;

    if (syscall(SYS_pipe2, ends, 0) != 0)
        return;
    pid = make_copy();
    if (pid == 0) {
        mpi_process_self = NULL;
        mpi_self = NULL;
        run_on_large_stack(function);
        syscall(SYS_exit_group, 0);
    }
    syscall(SYS_close, ends[1]);
    if (pid > 0) {
        read_all(ends[0], SECONDS, unused, sizeof(unused)); /* its end closes the pipe */
        syscall(SYS_kill, pid, SIGKILL);
        syscall(SYS_wait4, pid, NULL, 0, NULL);
    }
    syscall(SYS_close, ends[0]);
}

void mpi_crash_say_stack(const char *text)
{
    const char *end = strchr(text, '\n');

    if (end != NULL && end[1] != '\0' && syscall(SYS_write, STDERR_FILENO, text, strlen(text)) < 0)
        return; /* there is nobody to complain to */
}
