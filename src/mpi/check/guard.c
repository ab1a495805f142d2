/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/check/check.h"
#include "mpi/check/read_only.h"

enum { GUARDS_MOST = 256 }; /* each may cut a mapping of the process into three */
enum { PAGE_LEAST = 4096 }; /* a shorter buffer has no whole page */

/* One rank sets a guard and ends it. Any thread may fault there, and lifts it; in the handler of a
 * signal, where there are no locks. */
typedef struct {
    _Atomic(const mpi_rank_t *) owner; /* NULL: not in use */
    _Atomic(char *) low, high;         /* whole pages */
    _Atomic bool is_up;
    _Atomic(const void *) touched; /* by the program, there */
} guard_t;

static guard_t guards[GUARDS_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* to find a free one */
static _Atomic bool is_possible;
static _Atomic(void (*)(void)) before_first; /* called once, or NULL */
static _Atomic uint32_t lifts;               /* guards that were lifted so far */
static _Atomic int used;                     /* all are below this number */

void mpi_check_guards_allow(bool is_allowed, void (*begin)(void))
{
    is_possible = is_allowed;
    before_first = begin;
    for (int i = 0; !is_allowed && i < GUARDS_MOST; i++)
        check_guard_lift(i);
}

/* A fault while its signal is blocked ends the process. */
static bool is_blocked(void)
{
    sigset_t now;

    return pthread_sigmask(SIG_BLOCK, NULL, &now) != 0 || sigismember(&now, SIGSEGV) == 1;
}

/* May the page at `p` be written by the host? Lifting a guard makes it writable, which hides a
 * receive into read-only memory, and puts memory of the host at the address of a device. */
static bool can_write(uintptr_t p)
{
    return !mpi_is_on_device((const void *)p) &&
           (check_can_write((const void *)p) || !check_can_write((const void *)guards));
}

/* Take a free one. */
static int take(const mpi_rank_t *self, uintptr_t low, uintptr_t high)
{
    int guard = 0;

    pthread_mutex_lock(&lock);
    while (guard < GUARDS_MOST && guards[guard].owner != NULL)
        guard++;
    if (guard >= used && guard < GUARDS_MOST)
        used = guard + 1;
    if (guard < GUARDS_MOST) {
        guards[guard].low = (char *)low;
        guards[guard].high = (char *)high;
        guards[guard].touched = NULL;
        guards[guard].owner = self;
    }
    pthread_mutex_unlock(&lock);
    return guard < GUARDS_MOST ? guard : -1;
}

static void call_before_first(void)
{
    void (*begin)(void) = before_first;

    if (begin == NULL)
        return;
    pthread_mutex_lock(&lock);
    begin = before_first;
    if (begin != NULL)
        begin();
    before_first = NULL;
    pthread_mutex_unlock(&lock);
}

int check_guard_take(const mpi_rank_t *self, const char *low, const char *high, bool is_writable)
{
    uintptr_t page = high - low < PAGE_LEAST ? PAGE_LEAST : (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)low + page - 1) / page * page,
              end = (uintptr_t)high / page * page;
    bool is_wanted = first < end && is_possible && !is_blocked() &&
                     (is_writable || (can_write(first) && can_write(end - page)));
    int guard = is_wanted ? take(self, first, end) : -1;

    if (guard >= 0)
        call_before_first();
    return guard;
}

int check_guard_set(const mpi_rank_t *self, const char *low, const char *high)
{
    int guard = check_guard_take(self, low, high, false);

    check_guard_renew(guard);
    return guard;
}

void check_guard_range(int guard, const char **low_p, const char **high_p)
{
    *low_p = guards[guard].low;
    *high_p = guards[guard].high;
}

uint32_t check_guard_lifts(void)
{
    return lifts;
}

/* The word and the pages change together. A handler of faults may wait for it: nobody faults who
 * has it. */
static atomic_flag is_changing = ATOMIC_FLAG_INIT;

/* Raise or lift the protection of a guarded buffer; one thread at a time. */
static void change(guard_t *g, bool is_up)
{
    char *low = g->low;
    unsigned looks = 0;
    bool is_changed;

    while (atomic_flag_test_and_set(&is_changing))
        xy_back_off(&looks);
    is_changed = g->is_up != is_up && mprotect(low, (size_t)(g->high - low),
                                               is_up ? PROT_NONE : PROT_READ | PROT_WRITE) == 0;
    if (is_changed)
        g->is_up = is_up;
    if (is_changed && !is_up)
        lifts++;
    atomic_flag_clear(&is_changing);
}

void check_guard_renew(int guard)
{
    guard_t *g = guard >= 0 ? &guards[guard] : NULL;

    if (g != NULL && is_possible && !is_blocked())
        change(g, true);
}

void check_guard_lift(int guard)
{
    guard_t *g = guard >= 0 ? &guards[guard] : NULL;

    if (g != NULL && g->is_up)
        change(g, false);
}

void check_guard_lift_all(const char *low, const char *high)
{
    for (int i = 0; i < used; i++)
        if (guards[i].is_up && guards[i].low < high && low < guards[i].high)
            check_guard_lift(i);
}

bool check_guard_has(const char *address)
{
    for (int i = 0; i < used; i++)
        if (guards[i].is_up && guards[i].low <= address && address < guards[i].high)
            return true;
    return false;
}

bool check_guard_is_up(int guard)
{
    return guard >= 0 && guards[guard].is_up;
}

const void *check_guard_touched(int guard)
{
    return guard >= 0 ? guards[guard].touched : NULL;
}

void check_guard_end(int guard)
{
    check_guard_lift(guard);
    if (guard >= 0)
        guards[guard].owner = NULL;
}

/* Is it the rank's own code, and not what its worker does while the rank sleeps? */
static bool is_own_code(const mpi_rank_t *self)
{
    return self->call.name == NULL &&
           (xy_worker_self() == NULL || (xy_fiber_self() == self->own.fiber &&
                                         !self->worker->is_handling && !self->worker->is_helping));
}

/* Another thread may have lifted the guard since the fault: then the instruction succeeds now. If
 * it faults again and nobody has lifted anything meanwhile, it is no guard. */
static bool may_succeed(const void *address)
{
    static _Thread_local const void *tried __attribute__((tls_model("initial-exec")));
    static _Thread_local uint32_t lifts_then __attribute__((tls_model("initial-exec")));
    uint32_t now = lifts;

    if (now == 0 || (tried == address && lifts_then == now))
        return false;
    tried = address;
    lifts_then = now;
    return true;
}

/* In a handler of signals. What a rank does inside of a call is the library's business, or that of
 * a function that the program gave it. */
bool mpi_check_fault(const void *address, bool is_child, const void *(*find_site)(void *), void *at)
{
    const mpi_rank_t *self = mpi_self;

    for (int i = 0; i < used; i++) {
        guard_t *g = &guards[i];

        if (g->owner == NULL || !g->is_up || (const char *)address < g->low ||
            (const char *)address >= g->high)
            continue;
        if (!is_child && self == g->owner && is_own_code(self) && g->touched == NULL)
            g->touched = find_site(at);
        if (is_child) /* another thread may have had the flag when it was forked */
            atomic_flag_clear(&is_changing);
        check_guard_lift(i);
        return true;
    }
    return may_succeed(address);
}
