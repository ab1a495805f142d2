/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/runtime/rank.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mpi/runtime/buffer.h"
#include "mpi/runtime/layer.h"
#include "mpi/runtime/monitor.h"
#include "mpi/runtime/move.h"
#include "mpi/runtime/observe.h"
#include "mpi/runtime/packet.h"
#include "mpi/runtime/parallel.h"
#include "mpi/runtime/thread.h"
#include "mpi/runtime/trace.h"

/* No rank runs on a communication core: it may look for work longer before it sleeps, so that
 * the next collective of a loop finds it awake. */
enum { COMM_SPINS = 10 };

mpi_job_t *mpi_job;
_Thread_local mpi_rank_t *mpi_self;

/* The arguments of the pool's callbacks; set once, before it runs. */
static mpi_job_config_t config;

static void switched(xy_worker_t *w, xy_fiber_t *previous, xy_fiber_t *fiber)
{
    (void)w;
    mpi_self = xy_fiber_user(fiber);
    if (config.switched != NULL)
        config.switched(previous ? xy_fiber_user(previous) : NULL, mpi_self);
    if (mpi_self != NULL && mpi_self->trace != NULL && mpi_job->clock == NULL)
        mpi_trace_call(mpi_self->trace, mpi_self);
}

/* The same where ranks move. */
static void switched_on_core(xy_worker_t *w, xy_fiber_t *previous, xy_fiber_t *fiber)
{
    mpi_core_switched(w, xy_fiber_user(fiber));
    switched(w, previous, fiber);
}

void mpi_job_stuck(void)
{
    mpi_layers_stuck();
    config.stuck();
}

static void stuck(xy_pool_t *pool)
{
    if (mpi_job->processes > 1) /* messages from others may wake a rank: they find out together */
        return;
    if (mpi_job->reviver != NULL && mpi_job->reviver->revive(XMPI_REVIVE_ALL, NULL)) {
        xy_pool_unstick(pool);
        return;
    }
    if (mpi_job->reviver != NULL)
        mpi_job->reviver->give_up();
    mpi_job_stuck();
}

static void overflow(xy_fiber_t *fiber)
{
    config.overflow(xy_fiber_user(fiber));
}

/* Zeroed, and aligned for what has cache lines of its own. */
static void *lines_calloc(size_t count, size_t size)
{
    void *memory = aligned_alloc(XMPI_LINES, count * size);

    if (memory != NULL)
        memset(memory, 0, count * size);
    return memory;
}

static size_t rings_bytes(int workers)
{
    return (size_t)workers * (size_t)workers * sizeof(mpi_ring_t);
}

/* All rings in one mapping: untouched ones cost no memory. */
static xy_status_t create_workers(mpi_job_t *job, const mpi_job_config_t *c)
{
    int n = job->workers;
    mpi_ring_t **table = xy_calloc(2 * (size_t)n * (size_t)n, sizeof(*table));

    job->worker = lines_calloc((size_t)n, sizeof(*job->worker));
    if (job->worker == NULL || table == NULL) {
        xy_free(table);
        return XY_ENOMEM;
    }
    job->worker[0].in = table;
    job->rings = mmap(NULL, rings_bytes(n), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (job->rings == MAP_FAILED) {
        job->rings = NULL;
        return XY_ENOMEM;
    }
    for (int w = n - job->comm_workers; w < n; w++)
        xy_worker_spin_set(xy_pool_worker(job->pool, w), COMM_SPINS * config.spin_seconds);
    for (int w = 0; w < n; w++) {
        mpi_worker_t *worker = &job->worker[w];

        worker->index = w;
        atomic_init(&worker->gate.is_inside, 1);
        worker->in = table + (size_t)w * 2 * (size_t)n;
        worker->out = worker->in + n;
        worker->base = xy_pool_worker(job->pool, c->cores > 0 ? c->core_of[w] : w);
        if (c->cores == 0)
            xy_worker_user_set(worker->base, worker);
        for (int o = 0; o < n; o++)
            if (o != w) {
                worker->in[o] = &job->rings[(size_t)o * (size_t)n + (size_t)w];
                worker->out[o] = &job->rings[(size_t)w * (size_t)n + (size_t)o];
                worker->in[o]->reader = worker->base;
            }
    }
    return XY_OK;
}

static size_t ranks_bytes(const mpi_job_t *job)
{
    return (size_t)job->numbers * sizeof(mpi_rank_t);
}

static xy_status_t create_rank(mpi_job_t *job, int r)
{
    mpi_rank_t *rank = &job->ranks[r];

    rank->world = r;
    rank->waiter = &rank->own;
    if (!mpi_rank_is_here(job, r))
        return XY_OK;
    rank->worker = &job->worker[job->home[r]];
    return xy_match_init(&rank->match);
}

/* Create the ranks; those that may be spawned later cost no memory before. */
static xy_status_t create_ranks(mpi_job_t *job, const int *worker_of)
{
    job->ranks = mmap(NULL, ranks_bytes(job), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    job->home = xy_calloc((size_t)job->numbers, sizeof(*job->home));
    if (job->ranks == MAP_FAILED)
        job->ranks = NULL;
    if (job->numbers > job->capacity)
        job->foreign_of = xy_calloc((size_t)job->numbers, sizeof(int));
    if (job->ranks == NULL || job->home == NULL ||
        (job->numbers > job->capacity && job->foreign_of == NULL))
        return XY_ENOMEM;
    if (job->foreign_of != NULL && job->process_of != NULL)
        memcpy(job->foreign_of, job->process_of, (size_t)job->capacity * sizeof(int));
    if (job->foreign_of != NULL)
        job->process_of = job->foreign_of;
    for (int r = 0; r < job->capacity; r++)
        job->home[r] = !mpi_rank_is_here(job, r) ? job->workers + job->process_of[r]
                       : worker_of != NULL       ? worker_of[r]
                                                 : 0;
    for (int r = 0; r < job->started; r++)
        if (create_rank(job, r) != XY_OK)
            return XY_ENOMEM;
    mpi_job = job;
    return XY_OK;
}

static void destroy_rank(mpi_rank_t *rank)
{
    if (rank->listener != NULL)
        rank->listener->forget(rank);
    xy_match_cleanup(&rank->match);
    mpi_threads_cleanup(rank);
    if (rank->fiber != NULL)
        xy_fiber_release(rank->fiber);
}

void mpi_job_know(mpi_job_t *job, int rank)
{
    int known = atomic_load_explicit(&job->size, memory_order_relaxed);

    /* The release pairs with the loads of those who go through all ranks. */
    while (known <= rank &&
           !atomic_compare_exchange_weak_explicit(&job->size, &known, rank + 1,
                                                  memory_order_release, memory_order_relaxed))
        continue;
}

/* Prepare a rank for another process image; counts by threads of the previous one are cleared as
 * well. */
xy_status_t mpi_rank_renew(mpi_rank_t *rank)
{
    if (rank->worker != NULL) {
        mpi_layers_rank_end(rank);
        destroy_rank(rank);
    }
    rank->phase = rank->world_phase = XMPI_RANK_BEFORE_INIT;
    rank->call = (mpi_call_t){.name = NULL};
    rank->own = (mpi_waiter_t){.fiber = NULL};
    rank->depth = rank->schedules = rank->sessions = rank->thread_level = rank->thread_count = 0;
    rank->deferred = NULL;
    rank->deferred_end = NULL;
    rank->probers = NULL;
    rank->main_thread = NULL;
    rank->fiber = NULL;
    rank->topic = NULL;
    rank->fortran = NULL;
    rank->first_taken = rank->last_taken = NULL;
    if (create_rank(mpi_job, (int)(rank - mpi_job->ranks)) != XY_OK)
        return XY_ENOMEM;
    /* In virtual time there is one for all ranks. */
    rank->trace = mpi_job->clock != NULL ? mpi_job->ranks[0].trace : rank->worker->trace;
    if (mpi_job->is_monitored && rank->monitor == NULL && mpi_monitor_begin(rank) != XY_OK)
        return XY_ENOMEM;
    rank->account = NULL;
    rank->observed = rank->trace != NULL ? XMPI_LOOK_RECORD : 0;
    rank->watched = rank->observed | (rank->monitor != NULL ? XMPI_LOOK_COUNT : 0);
    return mpi_layers_rank_begin(rank);
}

xy_status_t mpi_job_create(const mpi_job_config_t *c, mpi_job_t **job_p)
{
    mpi_job_t *job = xy_calloc(1, sizeof(*job));
    bool moves = c->cores > 0;
    xy_pool_config_t pool = {.workers = moves ? c->cores : c->workers,
                             .cpus = c->cpus,
                             .spin_seconds = c->spin_seconds,
                             .yields = c->shares_cores,
                             .stack_size = c->stack_size,
                             .poll = moves ? mpi_core_poll : mpi_poll_fixed,
                             .switched = moves ? switched_on_core : switched,
                             .idle = moves          ? mpi_core_idle
                                     : c->is_traced ? mpi_trace_idle
                                                    : NULL,
                             .hands_over = moves,
                             .rest = c->rest,
                             .stuck = stuck,
                             .overflow = overflow,
                             .visit = mpi_thread_visit,
                             .user = job};
    xy_status_t st;

    if (job == NULL)
        return xy_fail_memory("making the job");
    config = *c;
    mpi_layers_register(c->layers);
    job->size = job->started = c->size;
    job->capacity = c->capacity > c->size ? c->capacity : c->size;
    job->reviver = c->reviver;
    job->universe = c->universe > 0 ? c->universe : c->size;
    job->spawner = c->spawner;
    job->id = c->id;
    job->process = c->process;
    job->processes = c->processes > 0 ? c->processes : 1;
    job->process_of = c->process_of;
    job->hosts = c->hosts;
    job->net = c->net;
    job->network_cpu = c->network_cpu;
    job->workers = c->workers;
    job->comm_workers = c->comm_workers;
    job->yield_on_start = c->yield_on_start;
    job->thread_worker_of = c->thread_worker_of;
    job->measures = c->measures;
    job->eager_limit = c->eager_limit;
    job->eager_between = c->limits_between ? c->eager_limit : SIZE_MAX;
    job->abort = c->abort;
    job->threads = c->threads;
    job->process_calls = c->process_calls;
    job->cpus = c->cpus;
    job->node = c->node;
    job->imagined = c->imagined;
    job->start_time = xy_now();
    job->numbers = /* in virtual time, and where ranks move, there are no other jobs */
        job->capacity + (c->in_virtual_time == NULL && !moves ? XMPI_FOREIGN : 0);
    job->is_apart = job->processes > 1;
    job->reach = job->processes;
    atomic_init(&job->next_context, /* the first eight: world and self */
                8 + (uint32_t)job->process * (XMPI_CONTEXT_FOREIGN / (uint32_t)job->processes));
    st = xy_pool_create(&pool, &job->pool);
    if (st != XY_OK)
        goto fail;
    st = mpi_parallel_init(pool.workers);
    if (st == XY_OK)
        st = create_workers(job, c);
    if (st == XY_OK && c->cores > 0)
        st = mpi_moves_create(job, c);
    if (st == XY_OK)
        st = create_ranks(job, c->worker_of);
    if (st == XY_OK)
        st = mpi_layers_begin(job, c);
    if (st == XY_ENOMEM)
        xy_fail_memory("making the ranks");
    if (st != XY_OK)
        goto fail;
    *job_p = job;
    return XY_OK;

fail:
    mpi_job_destroy(job);
    return st;
}

static void free_pool(mpi_pooled_t *block)
{
    while (block != NULL) {
        mpi_pooled_t *next = block->next;

        xy_free(block);
        block = next;
    }
}

void mpi_job_destroy(mpi_job_t *job)
{
    if (job == NULL)
        return;
    if (mpi_job == job)
        mpi_layers_end(job);
    for (int r = 0; job->ranks != NULL && r < job->size; r++)
        destroy_rank(&job->ranks[r]);
    if (job->worker != NULL) {
        for (int w = 0; w < job->workers; w++) {
            mpi_ring_spills_destroy(&job->worker[w]);
            free_pool(job->worker[w].free_calls);
            xy_free(job->worker[w].scratch);
            xy_free(job->worker[w].spare);
        }
        xy_free(job->worker[0].in);
        mpi_buffers_cleanup(job);
    }
    if (job->rings != NULL)
        munmap(job->rings, rings_bytes(job->workers));
    mpi_parallel_cleanup();
    mpi_moves_destroy(job);
    if (job->pool != NULL)
        xy_pool_destroy(job->pool);
    if (job->ranks != NULL)
        munmap(job->ranks, ranks_bytes(job));
    free(job->worker);
    for (int p = 0; job->reports != NULL && p < job->processes; p++)
        xy_free(job->reports[p]);
    xy_free(job->reports);
    xy_free(job->home);
    xy_free(job->foreign_of);
    xy_free(job);
    mpi_job = NULL;
}

xy_status_t mpi_rank_start(mpi_job_t *job, int world, void (*body)(void *), void *arg)
{
    mpi_rank_t *rank = &job->ranks[world];
    bool is_away = mpi_thread_must_carry(rank);
    xy_status_t st = (is_away ? xy_fiber_create_detached
                              : xy_fiber_create)(rank->worker->base, body, arg, &rank->fiber);

    if (st != XY_OK)
        return st;
    rank->own.fiber = rank->fiber;
    xy_fiber_user_set(rank->fiber, rank);
    return is_away ? mpi_thread_begin_away(rank) : XY_OK;
}

xy_status_t mpi_rank_adopt(mpi_job_t *job, int world)
{
    mpi_rank_t *rank = &job->ranks[world];
    xy_status_t st = xy_pool_adopt(job->pool, &rank->fiber);

    if (st != XY_OK)
        return st;
    rank->own.fiber = rank->fiber;
    xy_fiber_user_set(rank->fiber, rank);
    job->adopted = rank;
    mpi_self = rank;
    return XY_OK;
}
