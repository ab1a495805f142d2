/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/move.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/runtime/packet.h"
#include "mpi/runtime/parallel.h"
#include "trace/trace.h"

enum {
    HELP_EVERY = 16, /* polls between two that help whether or not fibers are ready */
    LONG_NS = 200000 /* of a turn: the time that the thread had is a system call */
};

/* [ranks]: the core of each, or that which it is on its way to. */
static _Atomic int *number_of;

/* ---- Making ---- */

/* Zeroed, in lines of its own. */
static void *lines_calloc(size_t count, size_t size)
{
    size_t bytes = (count * size + XMPI_LINES - 1) / XMPI_LINES * XMPI_LINES;
    void *memory = aligned_alloc(XMPI_LINES, bytes);

    if (memory != NULL)
        memset(memory, 0, bytes);
    return memory;
}

/* The workers of the ranks, which have their rings, go to the lists of their cores. */
static void settle(mpi_job_t *job, const int *core_of)
{
    for (int r = job->workers; r-- > 0;) {
        mpi_core_t *core = &job->moves->core[core_of[r]];
        mpi_worker_t *worker = &job->worker[r];

        worker->core = core;
        atomic_init(&number_of[r], core->number);
        worker->next_here = core->first;
        core->first = worker;
    }
}

xy_status_t mpi_moves_create(mpi_job_t *job, const mpi_job_config_t *config)
{
    mpi_moves_t *moves = lines_calloc(1, sizeof(*moves));

    if (moves == NULL)
        return XY_ENOMEM;
    job->moves = moves;
    moves->cores = config->cores;
    moves->core = lines_calloc((size_t)config->cores, sizeof(*moves->core));
    moves->load = lines_calloc((size_t)job->workers, sizeof(*moves->load));
    moves->first_core = xy_malloc((size_t)job->workers * sizeof(int));
    number_of = xy_calloc((size_t)job->workers, sizeof(*number_of));
    if (moves->core == NULL || moves->load == NULL || moves->first_core == NULL ||
        number_of == NULL)
        return XY_ENOMEM;
    memcpy(moves->first_core, config->core_of, (size_t)job->workers * sizeof(int));
    for (int c = 0; c < moves->cores; c++) {
        mpi_core_t *core = &moves->core[c];

        core->number = c;
        core->own.index = -1;
        core->own.core = core;
        core->own.base = xy_pool_worker(job->pool, c);
        xy_worker_user_set(core->own.base, &core->own);
    }
    settle(job, config->core_of);
    return XY_OK;
}

void mpi_moves_destroy(mpi_job_t *job)
{
    mpi_moves_t *moves = job->moves;

    if (moves == NULL)
        return;
    for (int c = 0; moves->core != NULL && c < moves->cores; c++) {
        xy_free(moves->core[c].own.scratch);
        xy_free(moves->core[c].own.spare);
    }
    free(moves->core);
    free((void *)moves->load);
    xy_free(moves->first_core);
    xy_free((int *)(uintptr_t)number_of);
    number_of = NULL;
    free(moves);
    job->moves = NULL;
}

/* ---- Wishes ---- */

void mpi_move_want(mpi_job_t *job, int world, int core)
{
    atomic_store_explicit(&job->ranks[world].wanted, core + 1, memory_order_relaxed);
    /* release: pairs with the acquire of the cores. */
    atomic_fetch_add_explicit(&job->moves->wanted, 1, memory_order_release);
}

int mpi_core_of(const mpi_job_t *job, int world)
{
    return job->moves != NULL ? atomic_load_explicit(&number_of[world], memory_order_relaxed)
                              : job->home[world];
}

const char *mpi_move_why_not(const mpi_rank_t *rank)
{
    if (__atomic_load_n(&rank->thread_count, __ATOMIC_RELAXED) > 0)
        return "it has threads";
    return NULL;
}

/* ---- Leaving ---- */

/* Does the rank wait in an MPI call, for requests or for its turn? */
static bool may_leave(const mpi_rank_t *rank)
{
    if (rank->fiber == NULL || rank->phase != XMPI_RANK_RUNNING || rank->call.name == NULL ||
        mpi_move_why_not(rank) != NULL || !xy_fiber_may_leave(rank->fiber))
        return false;
    return rank->own.count > 0 || xy_fiber_is_ready(rank->fiber);
}

/* Steps A2 to A5. */
static void leave(mpi_core_t *core, mpi_worker_t **link, mpi_core_t *to)
{
    mpi_worker_t *worker = *link;
    mpi_rank_t *rank = &mpi_job->ranks[worker->index];
    mpi_worker_t *first = atomic_load_explicit(&to->arrivals, memory_order_relaxed);

    *link = worker->next_here;
    core->moved++;
    if (core->runs == rank)
        core->runs = NULL;
    if (mpi_self == rank)
        mpi_self = NULL;
    xy_fiber_give(rank->fiber);
    if (mpi_job->process_calls.leave != NULL)
        mpi_job->process_calls.leave(rank->process);
    __atomic_store_n(&worker->core, NULL, __ATOMIC_RELAXED); /* nobody may touch it on its way */
    atomic_store_explicit(&number_of[worker->index], to->number, memory_order_relaxed);
    /* release: pairs with the acquire in arrive(). */
    do
        worker->next_here = first;
    while (!atomic_compare_exchange_weak_explicit(&to->arrivals, &first, worker,
                                                  memory_order_release, memory_order_relaxed));
    xy_worker_notify(to->own.base);
}

/* Let ranks of the core go where they are wanted, if they can. */
static void obey(mpi_core_t *core)
{
    mpi_worker_t **link = &core->first;

    core->has_pending = false;
    while (*link != NULL) {
        mpi_rank_t *rank = &mpi_job->ranks[(*link)->index];
        int wanted = atomic_load_explicit(&rank->wanted, memory_order_relaxed) - 1;

        if (wanted == core->number || (wanted >= 0 && mpi_move_why_not(rank) != NULL)) {
            atomic_store_explicit(&rank->wanted, 0, memory_order_relaxed);
        } else if (wanted >= 0 && may_leave(rank)) {
            atomic_store_explicit(&rank->wanted, 0, memory_order_relaxed);
            leave(core, link, &mpi_job->moves->core[wanted]);
            continue;
        }
        core->has_pending |= wanted >= 0 && wanted != core->number;
        link = &(*link)->next_here;
    }
}

/* ---- Arriving ---- */

/* Steps B2 to B4. */
static void settle_in(mpi_core_t *core, mpi_worker_t *worker)
{
    mpi_rank_t *rank = &mpi_job->ranks[worker->index];
    xy_worker_t *base = core->own.base;

    atomic_store_explicit(&worker->base, base, memory_order_relaxed);
    for (int s = 0; s < mpi_job->workers; s++)
        if (worker->in[s] != NULL)
            atomic_store_explicit(&worker->in[s]->reader, base, memory_order_relaxed);
    worker->next_here = core->first;
    core->first = worker;
    xy_fiber_take(base, rank->fiber, mpi_job->process_calls.follow, rank->process);
    /* release: pairs with the acquire of those who ask whether it is here. */
    __atomic_store_n(&worker->core, core, __ATOMIC_RELEASE);
}

static bool arrive(mpi_core_t *core)
{
    mpi_worker_t *worker = atomic_exchange_explicit(&core->arrivals, NULL, memory_order_acquire);
    bool found = worker != NULL;

    while (worker != NULL) {
        mpi_worker_t *next = worker->next_here;

        settle_in(core, worker);
        worker = next;
    }
    return found;
}

/* ---- The test hook ---- */

void mpi_moves_at_random(mpi_job_t *job, unsigned every, uint64_t seed)
{
    for (int c = 0; c < job->moves->cores; c++)
        job->moves->core[c].random = xy_hash_u64(seed + (uint64_t)c);
    job->moves->random = every;
}

static uint64_t draw(mpi_core_t *core)
{
    core->random = xy_hash_u64(core->random + UINT64_C(0x9e3779b97f4a7c15));
    return core->random;
}

/* Now and then one of the ranks here is wanted anywhere. */
static void wish_at_random(mpi_core_t *core)
{
    const mpi_moves_t *moves = mpi_job->moves;
    mpi_worker_t *worker = core->first;
    int n = 0;

    if (draw(core) % moves->random != 0)
        return;
    for (const mpi_worker_t *w = worker; w != NULL; w = w->next_here)
        n++;
    for (uint64_t i = n > 0 ? draw(core) % (uint64_t)n : 0; i > 0; i--)
        worker = worker->next_here;
    if (worker != NULL)
        mpi_move_want(mpi_job, worker->index, (int)(draw(core) % (uint64_t)moves->cores));
}

/* ---- The poll function ---- */

static bool poll_all(mpi_core_t *core)
{
    bool found = false;

    for (mpi_worker_t *worker = core->first; worker != NULL; worker = worker->next_here)
        found |= mpi_worker_poll(worker);
    return found;
}

static bool help_all(mpi_core_t *core)
{
    bool found = false;

    for (mpi_worker_t *worker = core->first; worker != NULL; worker = worker->next_here)
        found |= mpi_worker_help(worker);
    return found;
}

/* Not while an outer call goes through the list. */
static void look_at_wishes(mpi_core_t *core)
{
    uint32_t wanted = atomic_load_explicit(&mpi_job->moves->wanted, memory_order_acquire);

    if (mpi_job->moves->random > 0)
        wish_at_random(core);
    if ((wanted != core->seen || core->has_pending)) {
        core->seen = wanted;
        obey(core);
    }
}

bool mpi_core_poll(xy_worker_t *base)
{
    mpi_core_t *core = xy_worker_user(base);
    bool found = false;

    /* An outer call tells the one that is about to sleep that a rank has come. */
    if (__builtin_expect(atomic_load_explicit(&core->arrivals, memory_order_relaxed) != NULL, 0) &&
        core->depth == 0)
        found = arrive(core);
    core->depth++;
    found |= poll_all(core);
    if (!found && !xy_worker_has_ready(base)) {
        mpi_parallel_help(core->number);
        found |= help_all(core);
    } else if (++core->polls % HELP_EVERY == 0) {
        found |= help_all(core);
    }
    if (--core->depth == 0)
        look_at_wishes(core);
    return found;
}

/* ---- Time ---- */

/* Ticks since the last call in which the kernel ran other threads than that of the core. */
static uint64_t find_stolen(mpi_core_t *core, uint64_t now)
{
    int64_t before = core->thread_ns;
    uint64_t passed = now - core->read_at, had;
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    core->thread_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    had = (uint64_t)((double)(core->thread_ns - before) * mpi_job->moves->ticks_per_ns);
    if (core->read_at == 0)
        passed = 0;
    core->read_at = now;
    return passed > had ? passed - had : 0;
}

/* The rank that ran has had a turn. In a long one other programs may have had the core. */
static void end_turn(mpi_core_t *core, uint64_t now)
{
    mpi_load_t *load = &mpi_job->moves->load[core->runs->world];
    uint64_t ticks = now - core->since, stolen = 0;
    uint64_t sum = atomic_load_explicit(&load->ticks, memory_order_relaxed);
    uint32_t turns = atomic_load_explicit(&load->turns, memory_order_relaxed);

    if ((double)ticks > LONG_NS * mpi_job->moves->ticks_per_ns)
        stolen = find_stolen(core, now);
    atomic_store_explicit(&load->ticks, sum + (stolen < ticks ? ticks - stolen : 0),
                          memory_order_relaxed);
    atomic_store_explicit(&load->turns, turns + 1, memory_order_relaxed);
}

/* Until now the rank that ran was busy; from now on `next` runs, or none. */
static void account(mpi_core_t *core, mpi_rank_t *next)
{
    uint64_t now = xy_trace_clock();

    if (core->runs != NULL)
        end_turn(core, now);
    if (next != NULL && (double)(now - core->read_at) > LONG_NS * mpi_job->moves->ticks_per_ns)
        find_stolen(core, now);
    core->runs = next;
    core->since = now;
}

/* Is it time to look at the loads? */
static void tick(mpi_core_t *core)
{
    mpi_moves_t *moves = mpi_job->moves;

    if (core->since < atomic_load_explicit(&moves->next, memory_order_relaxed) ||
        atomic_exchange_explicit(&moves->is_balancing, true, memory_order_acquire))
        return;
    if (core->since >= atomic_load_explicit(&moves->next, memory_order_relaxed)) {
        moves->balance(mpi_job, core->since);
        atomic_store_explicit(&moves->next, core->since + moves->period, memory_order_relaxed);
    }
    atomic_store_explicit(&moves->is_balancing, false, memory_order_release);
}

void mpi_core_switched(xy_worker_t *w, mpi_rank_t *next)
{
    mpi_core_t *core = xy_worker_user(w);

    if (mpi_job->moves->balance == NULL)
        return;
    account(core, next);
    tick(core);
}

void mpi_core_idle(xy_worker_t *w, xy_idle_t what, xy_fiber_t *fiber)
{
    if (what != XY_IDLE_SLEEPS)
        mpi_core_switched(w, what == XY_IDLE_ENDS && fiber != NULL ? xy_fiber_user(fiber) : NULL);
}
