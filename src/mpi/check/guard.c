/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/check/guard.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/check/check.h"

enum { GUARDS_MOST = 256 }; /* each may cut a mapping of the process into three */

typedef struct {
    const mpi_rank_t *owner; /* NULL: not in use */
    char *low, *high;        /* whole pages */
    bool is_up;
    const void *touched; /* by the program, there */
} guard_t;

/* All ranks run on one thread; other threads of theirs fault, too, and only read and lift. */
static guard_t guards[GUARDS_MOST];
static bool is_possible;
static void (*before_first)(void); /* called once, or NULL */

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

/* Fault a page in for writing. EINVAL: the page cannot be written, or the kernel is older than 5.14
 * and does not know the request. */
static bool populate(const void *p, size_t page)
{
    const int populate_write = 23; /* MADV_POPULATE_WRITE */
    uintptr_t first = (uintptr_t)p / page * page;

    return madvise((void *)first, page, populate_write) == 0;
}

/* May the page at `p` be written by the host? Lifting a guard makes it writable, which hides a
 * receive into read-only memory, and puts memory of the host at the address of a device. */
static bool is_writable(uintptr_t p, size_t page)
{
    return !mpi_is_on_device((const void *)p) &&
           (populate((const void *)p, page) || !populate(guards, page));
}

static int find_free(void)
{
    for (int i = 0; i < GUARDS_MOST; i++)
        if (guards[i].owner == NULL)
            return i;
    return -1;
}

int check_guard_set(const mpi_rank_t *self, const char *low, const char *high)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)low + page - 1) / page * page,
              end = (uintptr_t)high / page * page;
    bool is_wanted = first < end && is_possible && !is_blocked() && is_writable(first, page) &&
                     is_writable(end - page, page);
    int guard = is_wanted ? find_free() : -1;

    if (guard < 0)
        return -1;
    if (before_first != NULL) {
        before_first();
        before_first = NULL;
    }
    guards[guard] = (guard_t){.owner = self, .low = (char *)first, .high = (char *)end};
    check_guard_renew(guard);
    return guard;
}

void check_guard_renew(int guard)
{
    guard_t *g = guard >= 0 ? &guards[guard] : NULL;

    if (g != NULL && is_possible && !g->is_up && !is_blocked())
        g->is_up = mprotect(g->low, (size_t)(g->high - g->low), PROT_NONE) == 0;
}

void check_guard_lift(int guard)
{
    guard_t *g = guard >= 0 ? &guards[guard] : NULL;

    if (g == NULL || !g->is_up)
        return;
    g->is_up = false;
    mprotect(g->low, (size_t)(g->high - g->low), PROT_READ | PROT_WRITE);
}

void check_guard_lift_all(const char *low, const char *high)
{
    for (int i = 0; i < GUARDS_MOST; i++)
        if (guards[i].is_up && guards[i].low < high && low < guards[i].high)
            check_guard_lift(i);
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

/* In a handler of signals. What a rank does inside of a call is the library's business, or that of
 * a function that the program gave it. */
bool mpi_check_fault(const void *address, bool is_child, const void *(*find_site)(void *), void *at)
{
    const mpi_rank_t *self = mpi_self;

    for (int i = 0; i < GUARDS_MOST; i++) {
        guard_t *g = &guards[i];

        if (g->owner == NULL || !g->is_up || (const char *)address < g->low ||
            (const char *)address >= g->high)
            continue;
        check_guard_lift(i);
        if (!is_child && self == g->owner && is_own_code(self) && g->touched == NULL)
            g->touched = find_site(at);
        return true;
    }
    return false;
}
