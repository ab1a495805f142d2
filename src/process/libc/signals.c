/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals of a job.
 *
 * A fault is named with its process, its place and the call of the runtime it happened in, and ends
 * the job with 128 + the signal; when core files are wanted, by the signal itself. SIGINT, SIGTERM
 * and their like end the job, unless processes have asked for them: then every process's own
 * handler is called, one after the other, as if each had a host of its own. The other
 * signals that end a process end the job with a line that names the process, where the signal
 * belongs to one.
 */
#include "process/libc/signals.h"

#include <errno.h>
#include <execinfo.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "process/libc/crash.h"

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
static const int ending[] = {SIGALRM, SIGVTALRM, SIGPROF,   SIGXCPU, SIGXFSZ,
                             SIGPIPE, SIGPOLL,   SIGSTKFLT, SIGPWR};

enum { STACK_TEXT = 4096, SITE_FRAMES = 32 };
enum { FAULTS = sizeof(faults) / sizeof(faults[0]), ENDING = sizeof(ending) / sizeof(ending[0]) };

static process_t *processes;
static int process_count;

static bool is_fault(int number)
{
    for (int i = 0; i < FAULTS; i++)
        if (faults[i] == number)
            return true;
    return false;
}

void signals_unblock_faults(sigset_t *set)
{
    for (int i = 0; i < FAULTS; i++)
        if (faults[i] != SIGABRT) /* abort() unblocks it itself */
            sigdelset(set, faults[i]);
}

static void set_handler(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    if (is_fault(number)) /* one of the report itself is reported */
        action.sa_flags |= SA_NODEFER;
    sigemptyset(&action.sa_mask);
    signals_set(number, &action, NULL);
}

static void set_default(int number)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    signals_set(number, &action, NULL);
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

/* Name of a fault for messages. */
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
    case SIGTRAP:
        return "trap (SIGTRAP)";
    default:
        return "bad system call";
    }
}

static bool wants_core(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur != 0;
}

/* ", at ./a.out+0x11d9", for addr2line; "" when the place is not in the program. */
static void describe_offset(const void *address, char *text, size_t size)
{
    const process_program_t *program;
    const process_module_t *module;
    char *image = process_image_find(address, &program, &module);

    text[0] = '\0';
    if (image != NULL)
        snprintf(text, size, ", at %s+0x%zx", module->elf->path,
                 (size_t)((const char *)address - image) - module->offset + module->elf->low);
}

/* ", at ring.c:25" of the innermost function in `stack`, or what is known without lines. */
static void describe_place(const char *stack, const void *address, char *text, size_t size)
{
    size_t line = strcspn(stack, "\n");
    const char *at = memmem(stack, line, " at ", 4);

    if (at != NULL && memchr(at, ':', line - (size_t)(at - stack)) != NULL)
        snprintf(text, size, ",%.*s", (int)strcspn(at, "\n("), at);
    else
        describe_offset(address, text, size);
}

/* A jump to where no code is, as through a pointer that is NULL: no stack begins there, so that of
 * the caller is shown, from its call on. `context` is as it was afterwards. */
static void describe_stack(const siginfo_t *info, ucontext_t *context, char *text, size_t size)
{
    mcontext_t kept = context->uc_mcontext;

    if (info->si_signo == SIGSEGV && info->si_addr == program_counter(context)) {
#if defined(__x86_64__)
        greg_t *registers = context->uc_mcontext.gregs;

        registers[REG_RIP] = *(const greg_t *)(uintptr_t)registers[REG_RSP] - 1;
        registers[REG_RSP] += (greg_t)sizeof(greg_t);
#elif defined(__aarch64__)
        context->uc_mcontext.pc = context->uc_mcontext.regs[30] - 4;
#endif
    }
    process_crash_describe_stack(program_counter(context), text, size);
    context->uc_mcontext = kept;
}

static bool is_child(void)
{
    return getpid() != process_pid;
}

/* A child that a process has forked, and that has not become another program, is no process: the
 * signal does what it does to any process. */
static bool is_of_child(int number)
{
    if (!is_child())
        return false;
    set_default(number);
    raise(number);
    return true;
}

/* The process that a fault belongs to; NULL: none. A thread of the runtime may write to the memory
 * of processes. */
static const process_t *find_process(const siginfo_t *info)
{
    const process_t *owner = process_runtime.owner_of_fault != NULL
                                 ? process_runtime.owner_of_fault(info->si_addr)
                                 : NULL;

    /* In virtual time the memory of one process may be touched after the code of another has run.
     */
    return owner != NULL ? owner : process_self;
}

/* Print the rank, address, call and stack of a fault and pass it to the runtime. */
static void say_fault(int number, const siginfo_t *info, void *context)
{
    const process_t *process = find_process(info);
    const void *site = program_counter(context);
    const char *call = process_crash_runtime_call(&site);
    char address[48] = "", where[512], stack[STACK_TEXT], text[700];

    if (number == SIGSEGV || number == SIGBUS)
        snprintf(address, sizeof(address), " (address %p)", info->si_addr);
    describe_stack(info, context, stack, sizeof(stack));
    describe_place(stack, site, where, sizeof(where));
    if (process == NULL) {
        process_say("%s%s outside of any %s%s", fault_name(number), address, process_runtime.noun,
                    where);
        process_crash_say_stack(stack);
        return;
    }
    snprintf(text, sizeof(text), "%s%s in %s%s", fault_name(number), address,
             call != NULL ? call : "program code", where);
    process_say("%s %d: %s", process_runtime.noun, process->number, text);
    process_crash_say_stack(stack);
    XY_RUNTIME_CALL(note_crash, process->number, strncmp(where, ", at ", 5) == 0 ? where + 5 : "",
                    text);
}

/* The address in the innermost function of the program: a return address, or one like it. */
static const void *find_site(void *context)
{
    const void *pc = program_counter(context);
    const process_program_t *program;
    const process_module_t *module;
    void *frames[SITE_FRAMES];
    int count;

    if (process_image_find(pc, &program, &module) != NULL)
        return (const char *)pc + 1;
    count = backtrace(frames, SITE_FRAMES);
    for (int i = 0; i < count; i++)
        if (process_image_find(frames[i], &program, &module) != NULL)
            return frames[i];
    return pc;
}

/* Memory that the runtime has protected. */
static bool is_guarded(int number, const siginfo_t *info, void *context)
{
    int code = errno;
    bool is_done = number == SIGSEGV && process_runtime.is_guarded != NULL &&
                   info->si_code == SEGV_ACCERR &&
                   process_runtime.is_guarded(info->si_addr, is_child(), find_site, context);

    errno = code;
    return is_done;
}

static struct sigaction behind_guards; /* the handler of SIGSEGV that had been there */

/* Guards are looked at before the memory of workers and fibers, which may lie in one: behind a
 * block of the program that ends before its receive does. */
static void on_segv(int number, siginfo_t *info, void *context)
{
    if (!is_guarded(number, info, context))
        behind_guards.sa_sigaction(number, info, context);
}

/* With the first guard, when the handlers of all others are in place. */
static void put_guards_first(void)
{
    struct sigaction action;

    signals_set(SIGSEGV, NULL, &behind_guards);
    action = behind_guards;
    action.sa_sigaction = on_segv;
    if ((behind_guards.sa_flags & SA_SIGINFO) != 0)
        signals_set(SIGSEGV, &action, NULL);
}

/* End the host from a handler; what processes have printed is lost. */
static void end_now(int code)
{
    XY_RUNTIME_CALL(end_now, code);
    syscall(SYS_exit_group, code);
}

/* Signal handler for faults: report the fault and end the job, with a core file if wanted. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    if (is_guarded(number, info, context))
        return;
    if (is_of_child(number))
        return;
    process_crash_begin(number, program_counter(context));
    say_fault(number, info, context);
    if (!wants_core())
        end_now(128 + number);
    XY_RUNTIME_CALL(end_by_signal, 128 + number);
    set_default(number); /* the instruction faults again, or raise comes back */
    if (info->si_code <= 0)
        raise(number);
}

/* "SIGALRM (Alarm clock)", "SIGRTMIN+3". */
static void describe_signal(int number, char *text, size_t size)
{
    const char *name = sigabbrev_np(number);

    if (name != NULL)
        snprintf(text, size, "SIG%s (%s)", name, sigdescr_np(number));
    else if (number >= SIGRTMIN && number <= SIGRTMAX)
        snprintf(text, size, "SIGRTMIN+%d", number - SIGRTMIN);
    else
        snprintf(text, size, "signal %d", number);
}

static bool makes_core(int number)
{
    return (number == SIGXCPU || number == SIGXFSZ || number == SIGQUIT) && wants_core();
}

static void end_by(int number)
{
    if (!makes_core(number))
        end_now(128 + number);
    XY_RUNTIME_CALL(end_by_signal, 128 + number);
    set_default(number);
    raise(number);
}

/* The process that a signal belongs to: the kernel sends SIGPIPE and SIGXFSZ to the thread that
 * writes, raise sends to its own thread, and a timer is that of the process that has set it last.
 * The rest is sent to the host; the process that it interrupts is any one. */
static const process_t *process_of_signal(int number, const siginfo_t *info)
{
    int which = signals_timer_process(number);

    if (number == SIGPIPE || number == SIGXFSZ || info->si_code == SI_TKILL)
        return process_self;
    return info->si_code == SI_KERNEL && which >= 0 && which < process_count ? &processes[which]
                                                                             : NULL;
}

/* Signal handler for signals that end a process: name the rank and end the job. */
static void on_ending(int number, siginfo_t *info, void *context)
{
    const process_t *process = process_of_signal(number, info);
    const void *site;
    const char *call =
        process != NULL && process == process_self ? process_crash_runtime_call(&site) : NULL;
    char what[64], text[160];

    (void)context;
    if (is_of_child(number))
        return;
    describe_signal(number, what, sizeof(what));
    snprintf(text, sizeof(text), "ended by %s%s%s", what, call != NULL ? " in " : "",
             call != NULL ? call : "");
    if (process != NULL) {
        process_say("%s %d: %s", process_runtime.noun, process->number, text);
        XY_RUNTIME_CALL(note_crash, process->number, "", text);
    } else {
        process_say("%s", text);
    }
    end_by(number);
}

/* Call the handler of one process with this process as the current one; false if it has none. */
static bool call_handler(int which, siginfo_t *info, void *context)
{
    struct sigaction action;
    process_t *before = process_self;

    if (!signals_take(which, info->si_signo, &action) || action.sa_handler == SIG_DFL ||
        processes[which].has_ended)
        return false;
    if (action.sa_handler == SIG_IGN)
        return true;
    process_self = &processes[which];
    if ((action.sa_flags & SA_SIGINFO) != 0)
        action.sa_sigaction(info->si_signo, info, context);
    else
        action.sa_handler(info->si_signo);
    process_self = before;
    return true;
}

/* Signal handler for signals delivered to all processes; ends the job if none has a handler. */
static void on_delivered(int number, siginfo_t *info, void *context)
{
    int code = errno;
    bool is_handled = false;
    char what[64];

    for (int r = 0; r < process_count && r < process_runtime.count(); r++)
        if (!is_child() || (process_self != NULL && process_self->number == r))
            is_handled |= call_handler(r, info, context);
    errno = code;
    if (is_handled || is_of_child(number))
        return;
    if (number != SIGINT && number != SIGTERM) {
        describe_signal(number, what, sizeof(what));
        process_say("ended by %s", what);
    }
    end_by(number);
}

/* Signals that the shell ignores (nohup) stay ignored. */
static void set_unless_ignored(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction old;

    if (signals_set(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        set_handler(number, handler);
}

/* A sanitizer reports faults better; it names the process as well (sanitizer.c). */
static bool is_reported_elsewhere(int number)
{
    struct sigaction now;

    return process_sanitizer_is_there() && signals_set(number, NULL, &now) == 0 &&
           now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN;
}

static void set_fault_handler(int number)
{
    set_handler(number, on_fault);
    if (number == SIGSEGV)
        XY_RUNTIME_CALL(guards_allow, true, put_guards_first);
}

void process_signals_setup(process_t *all, int count)
{
    processes = all;
    process_count = signals_tables_create(count) ? count : 0;
    for (int i = 0; i < FAULTS; i++)
        if (!is_reported_elsewhere(faults[i]))
            set_fault_handler(faults[i]);
    for (int i = 0; i < SIGNALS_DELIVERED; i++)
        set_unless_ignored(signals_delivered[i], on_delivered);
    for (int i = 0; i < ENDING; i++)
        set_unless_ignored(ending[i], on_ending);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        set_unless_ignored(number, on_ending);
}
