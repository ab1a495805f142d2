/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals of a job.
 *
 * A fault is named with its rank, its place and the MPI call it happened in, and ends the job with
 * 128 + the signal; when core files are wanted, by the signal itself. SIGINT, SIGTERM and their
 * like end the job, unless ranks have asked for them: then every rank's own handler is called, one
 * after the other, as each process of its own would have been.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>

#include "mpi/check/check.h"
#include "mpi/launch/libc/end_job.h"
#include "mpi/launch/libc/interpose.h"

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
static const int delivered[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM};

enum {
    FAULTS = sizeof(faults) / sizeof(faults[0]),
    DELIVERED = sizeof(delivered) / sizeof(delivered[0])
};

typedef struct {
    struct sigaction actions[DELIVERED];
} rank_signals_t;

static mpi_process_t *processes;
static rank_signals_t *_Atomic *tables; /* one per rank, made when it asks; NULL: none asked */
static int process_count;

static int delivered_index(int number)
{
    for (int i = 0; i < DELIVERED; i++)
        if (delivered[i] == number)
            return i;
    return -1;
}

/* The C library's sigaction: this library's is for ranks. */
static int set_action(int number, const struct sigaction *action, struct sigaction *old)
{
    static XY_NEXT(int, next, (int, const struct sigaction *, struct sigaction *));

    return XY_CALL_NEXT(next, "sigaction")(number, action, old);
}

static void set_handler(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    set_action(number, &action, NULL);
}

static void set_default(int number)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    set_action(number, &action, NULL);
}

static const void *program_counter(const void *context)
{
#if defined(__x86_64__)
    return (const void *)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (const void *)((const ucontext_t *)context)->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

static const char *fault_name(int number)
{
    switch (number) {
    case SIGSEGV:
        return "segmentation fault";
    case SIGBUS:
        return "bus error";
    case SIGFPE:
        return "arithmetic error (SIGFPE)";
    case SIGILL:
        return "illegal instruction";
    case SIGABRT:
        return "aborted (SIGABRT)";
    default:
        return "bad system call";
    }
}

static bool wants_core(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur != 0;
}

/* "at ./a.out+0x11d9", for addr2line; "" when the place is not in the program. */
static void describe_place(const void *address, char *text, size_t size)
{
    const mpi_program_t *program;
    const mpi_module_t *module;
    char *image = mpi_image_find(address, &program, &module);

    text[0] = '\0';
    if (image != NULL)
        snprintf(text, size, ", at %s+0x%zx", module->elf->path,
                 (size_t)((const char *)address - image) - module->offset + module->elf->low);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    mpi_process_t *process = mpi_process_self;
    const char *call = mpi_self != NULL ? mpi_self->call.name : NULL;
    const void *place = call != NULL ? mpi_self->call.caller : program_counter(context);
    char address[48] = "", where[512];

    if (number == SIGSEGV || number == SIGBUS)
        snprintf(address, sizeof(address), " (address %p)", info->si_addr);
    if (process != NULL) {
        describe_place(place, where, sizeof(where));
        mpi_launch_say("rank %d: %s%s in %s%s", process->world, fault_name(number), address,
                       call != NULL ? call : "program code", where);
    } else {
        mpi_launch_say("%s%s outside of any rank", fault_name(number), address);
    }
    if (!wants_core())
        mpi_finish_now(128 + number);
    set_default(number); /* the instruction faults again, or raise comes back */
    if (info->si_code <= 0)
        raise(number);
}

static bool call_handler(int rank, int index, siginfo_t *info, void *context)
{
    rank_signals_t *table = tables[rank];
    struct sigaction *action = table != NULL ? &table->actions[index] : NULL;
    mpi_process_t *before = mpi_process_self;

    if (action == NULL || action->sa_handler == SIG_DFL || processes[rank].has_ended)
        return false;
    if (action->sa_handler == SIG_IGN)
        return true;
    mpi_process_self = &processes[rank];
    if ((action->sa_flags & SA_SIGINFO) != 0)
        action->sa_sigaction(info->si_signo, info, context);
    else
        action->sa_handler(info->si_signo);
    mpi_process_self = before;
    return true;
}

static void on_delivered(int number, siginfo_t *info, void *context)
{
    int code = errno, index = delivered_index(number);
    bool is_handled = false;

    for (int r = 0; r < process_count; r++)
        is_handled |= call_handler(r, index, info, context);
    errno = code;
    if (is_handled)
        return;
    if (number != SIGINT && number != SIGTERM)
        mpi_launch_say("ended by signal %d", number);
    mpi_finish_now(128 + number);
}

void mpi_signals_setup(mpi_process_t *all, int count)
{
    processes = all;
    process_count = 0;
    tables = xy_calloc((size_t)count, sizeof(*tables));
    if (tables != NULL)
        process_count = count;
    for (int i = 0; i < FAULTS; i++)
        set_handler(faults[i], on_fault);
    for (int i = 0; i < DELIVERED; i++) {
        struct sigaction old;

        /* What the shell ignores (nohup) stays ignored. */
        if (set_action(delivered[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            set_handler(delivered[i], on_delivered);
    }
}

/* ---- What ranks ask for ---- */

XY_INTERPOSE int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    mpi_process_t *process = mpi_process_self;
    int index = delivered_index(number);
    rank_signals_t *table;

    if (process == NULL || index < 0 || process_count == 0)
        return set_action(number, action, old);
    table = tables[process->world];
    if (table == NULL && action != NULL) {
        table = xy_calloc(1, sizeof(*table));
        if (table == NULL) {
            errno = ENOMEM;
            return -1;
        }
        tables[process->world] = table;
    }
    if (old != NULL) {
        memset(old, 0, sizeof(*old));
        if (table != NULL)
            *old = table->actions[index];
    }
    if (action != NULL)
        table->actions[index] = *action;
    return 0;
}

XY_INTERPOSE sighandler_t signal(int number, sighandler_t handler)
{
    static XY_NEXT(sighandler_t, next, (int, sighandler_t));
    struct sigaction action, old;

    if (mpi_process_self == NULL || delivered_index(number) < 0)
        return XY_CALL_NEXT(next, "signal")(number, handler);
    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

static void *wait_for_timeout(void *argument)
{
    double seconds = *(double *)argument;
    struct timespec left = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        ;
    mpi_launch_say("the time limit of %g s has passed", seconds);
    mpi_job_report(mpi_job, 32);
    mpi_finish_job(124);
}

xy_status_t mpi_timeout_start(double seconds)
{
    static double limit;
    pthread_t thread;
    sigset_t all, before;
    int code;

    limit = seconds;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&thread, NULL, wait_for_timeout, &limit);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        return xy_fail_errno(code, "the time limit", "start a thread for");
    pthread_detach(thread);
    return XY_OK;
}
