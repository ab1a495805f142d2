/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The signal handlers of processes: handlers of their own for the signals that are delivered to
 * all, and shared ones for the rest. The default of a shared one is the job's: a process that asks
 * for SIG_DFL gets what was there before any process asked, so that the end of the job still names
 * a process.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "process/libc/crash.h"
#include "process/libc/interpose.h"
#include "process/libc/signals.h"

const int signals_delivered[SIGNALS_DELIVERED] = {SIGHUP,  SIGINT,  SIGQUIT,
                                                  SIGUSR1, SIGUSR2, SIGTERM};

typedef struct {
    struct sigaction actions[SIGNALS_DELIVERED];
} table_t;

static table_t *_Atomic *tables; /* one per process, made when it asks; NULL: none asked */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    bool is_known;
    struct sigaction action;
} of_job[_NSIG]; /* the actions before any process asked; under lock */

int signals_set(int number, const struct sigaction *action, struct sigaction *old)
{
    return XY_NEXT(sigaction)(number, action, old);
}

bool signals_tables_create(int count)
{
    tables = xy_calloc((size_t)count, sizeof(*tables));
    return tables != NULL;
}

void process_signals_forget(int which)
{
    if (tables != NULL) {
        xy_free(tables[which]);
        tables[which] = NULL;
    }
}

static int delivered_index(int number)
{
    for (int i = 0; i < SIGNALS_DELIVERED; i++)
        if (signals_delivered[i] == number)
            return i;
    return -1;
}

bool signals_take(int which, int number, struct sigaction *action)
{
    int index = delivered_index(number);
    table_t *table = index >= 0 ? tables[which] : NULL;

    if (table == NULL)
        return false;
    *action = table->actions[index];
    if ((action->sa_flags & (int)SA_RESETHAND) != 0)
        table->actions[index].sa_handler = SIG_DFL;
    return true;
}

/* Set or read the handler of one process for a signal that is delivered to all; as sigaction(). */
static int set_private(int which, int index, const struct sigaction *action, struct sigaction *old)
{
    table_t *table = tables[which];

    if (table == NULL && action != NULL) {
        table = xy_calloc(1, sizeof(*table));
        if (table == NULL) {
            errno = ENOMEM;
            return -1;
        }
        tables[which] = table;
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

/* The job's own action. */
static struct sigaction job_action(int number)
{
    struct sigaction action;

    pthread_mutex_lock(&lock);
    if (!of_job[number].is_known)
        of_job[number].is_known = signals_set(number, NULL, &of_job[number].action) == 0;
    action = of_job[number].action;
    pthread_mutex_unlock(&lock);
    return action;
}

static bool is_plain(const struct sigaction *action, sighandler_t handler)
{
    return (action->sa_flags & SA_SIGINFO) == 0 && action->sa_handler == handler;
}

/* Set or read the handler of a signal that all processes share; SIG_DFL stands for the job's own
 * handler. */
static int set_shared(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction own = job_action(number), before, given;
    int code;

    if (action != NULL) {
        given = *action;
        signals_unblock_faults(&given.sa_mask);
        action = &given;
    }

    if (number == SIGSEGV && action != NULL)
        XY_RUNTIME_CALL(guards_allow, false, NULL);
    if (is_plain(&own, SIG_DFL) || is_plain(&own, SIG_IGN))
        return signals_set(number, action, old);
    code =
        signals_set(number, action != NULL && is_plain(action, SIG_DFL) ? &own : action, &before);
    if (code == 0 && old != NULL) {
        *old = before;
        if (before.sa_handler == own.sa_handler) {
            memset(old, 0, sizeof(*old));
            old->sa_handler = SIG_DFL;
        }
    }
    return code;
}

/* ---- What is blocked ---- */

/* A fault whose signal is blocked ends the process without a report: these are never blocked. */
static const sigset_t *without_faults(const sigset_t *set, sigset_t *copy)
{
    if (set == NULL || !process_crash_is_set_up())
        return set;
    *copy = *set;
    signals_unblock_faults(copy);
    return copy;
}

XY_INTERPOSE int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;

    if (how != SIG_UNBLOCK)
        set = without_faults(set, &copy);
    return XY_NEXT(pthread_sigmask)(how, set, old);
}

XY_INTERPOSE int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int code = pthread_sigmask(how, set, old);

    if (code == 0)
        return 0;
    errno = code;
    return -1;
}

/* ---- Actions ---- */

XY_INTERPOSE int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    const process_t *process = process_self;
    int index = delivered_index(number);

    if (process == NULL || tables == NULL || number <= 0 || number >= _NSIG)
        return signals_set(number, action, old);
    return index >= 0 ? set_private(process->number, index, action, old)
                      : set_shared(number, action, old);
}

static sighandler_t set_simple(int number, sighandler_t handler, unsigned flags)
{
    struct sigaction action, old;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    action.sa_flags = (int)flags;
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

XY_INTERPOSE sighandler_t signal(int number, sighandler_t handler)
{
    if (process_self == NULL)
        return XY_NEXT(signal)(number, handler);
    return set_simple(number, handler, SA_RESTART);
}

/* The name of signal() in programs that ask for a strict standard. */
XY_INTERPOSE sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    if (process_self == NULL)
        return XY_NEXT(__sysv_signal)(number, handler);
    return set_simple(number, handler, SA_RESETHAND | SA_NODEFER);
}

/* ---- Timers: one of a kind for the process ---- */

enum { TIMERS = 3 }; /* ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF */
static const int timer_signals[TIMERS] = {SIGALRM, SIGVTALRM, SIGPROF};
static _Atomic int timer_owners[TIMERS]; /* process + 1; 0: none */

int signals_timer_process(int number)
{
    for (int i = 0; i < TIMERS; i++)
        if (timer_signals[i] == number)
            return timer_owners[i] - 1;
    return -1;
}

static void own_timer(int which)
{
    if (which >= 0 && which < TIMERS)
        timer_owners[which] = process_self != NULL ? process_self->number + 1 : 0;
}

XY_INTERPOSE unsigned alarm(unsigned seconds)
{
    own_timer(ITIMER_REAL);
    return XY_NEXT(alarm)(seconds);
}

XY_INTERPOSE int setitimer(__itimer_which_t which, const struct itimerval *value,
                           struct itimerval *old)
{
    own_timer((int)which);
    return XY_NEXT(setitimer)(which, value, old);
}
