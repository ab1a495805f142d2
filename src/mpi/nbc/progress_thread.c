/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/nbc/progress_thread.h"

/* Operations of one schedule that are a thread's to do. */
typedef struct entry {
    nbc_schedule_t *schedule; /* held */
    int queue;
    int left; /* operations not done */
    struct entry *next;
} entry_t;

struct nbc_thread {
    mpi_worker_t *worker;
    int index; /* among those of its worker */
    xy_fiber_t *fiber;
    entry_t *entries;         /* the worker's, oldest first */
    _Atomic(entry_t *) inbox; /* new ones, left by any thread, most recent first */
    _Atomic int ready;        /* operations that became ready, less those done */
    _Atomic bool is_posted;   /* in its worker's mailbox */
    nbc_thread_t *next_post;
};

/* Those of one worker. */
typedef struct nbc_core {
    xy_order_queue_t queue;
    xy_order_thread_t *states; /* [count + 1]: the last is the supervisor of suspended ones */
    nbc_thread_t **threads;    /* [count] */
    int count;
    int busy;         /* with a collective */
    int ready;        /* with an operation to do now */
    bool is_running;  /* a thread has the turn */
    int idle_turns;   /* in a row that found nothing to do */
    double idle_from; /* when the clock was first looked at since */
    uint64_t turns, vain;
} nbc_core_t;

/* ---- Making them ---- */

static xy_status_t core_create(int count, const xy_order_t *order, nbc_core_t **core_p)
{
    nbc_core_t *core = xy_calloc(1, sizeof(*core));

    if (core == NULL)
        return XY_ENOMEM;
    *core_p = core;
    core->states = xy_calloc((size_t)count + 1, sizeof(*core->states));
    core->threads = xy_calloc((size_t)count, sizeof(*core->threads));
    if (core->states == NULL || core->threads == NULL)
        return XY_ENOMEM;
    xy_order_queue_init(&core->queue, order, core->states);
    return XY_OK;
}

static xy_status_t create_cores(mpi_job_t *job, const xy_order_t *order, const int *counts)
{
    xy_status_t st = XY_OK;

    for (int w = 0; w < job->workers && st == XY_OK; w++)
        if (counts[w] > 0)
            st = core_create(counts[w], order, &job->worker[w].core);
    return st;
}

/* The default: dealt to the communication cores, or with their ranks. */
static mpi_worker_t *home_of(const mpi_job_t *job, const mpi_job_config_t *c, int r)
{
    int first = job->workers - job->comm_workers;

    if (c->thread_worker_of != NULL)
        return &job->worker[c->thread_worker_of[r]];
    if (job->comm_workers > 0)
        return &job->worker[first + (int)((long)r * job->comm_workers / job->size)];
    return job->ranks[r].worker;
}

static void settle(nbc_core_t *core, nbc_thread_t *t, int priority)
{
    t->index = core->count++;
    core->threads[t->index] = t;
    core->states[t->index].base = (int8_t)priority;
    xy_order_update(&core->queue, t->index);
}

xy_status_t nbc_threads_init(mpi_job_t *job, const mpi_job_config_t *c)
{
    int *counts = xy_calloc((size_t)job->workers, sizeof(*counts));
    const xy_order_t *order;
    xy_status_t st = xy_order_find(c->order != NULL ? c->order : "semaphore", &order);

    job->threads = xy_calloc((size_t)job->size, sizeof(*job->threads));
    if (st == XY_OK && (counts == NULL || job->threads == NULL))
        st = XY_ENOMEM;
    for (int r = 0; r < job->size && st == XY_OK; r++) {
        mpi_rank_t *rank = &job->ranks[r];

        rank->progress_thread = &job->threads[r];
        rank->progress_thread->worker = home_of(job, c, r);
        counts[rank->progress_thread->worker->index]++;
    }
    if (st == XY_OK)
        st = create_cores(job, order, counts);
    for (int r = 0; r < job->size && st == XY_OK; r++)
        settle(job->threads[r].worker->core, &job->threads[r], c->thread_priority);
    for (int w = 0; w < job->workers && st == XY_OK && order->has_supervisor; w++)
        if (job->worker[w].core != NULL) {
            nbc_core_t *core = job->worker[w].core;

            core->states[core->count].is_supervisor = true;
            xy_order_update(&core->queue, core->count);
        }
    xy_free(counts);
    return st;
}

void nbc_threads_cleanup(mpi_job_t *job)
{
    for (int w = 0; job->worker != NULL && w < job->workers; w++)
        if (job->worker[w].core != NULL) {
            xy_free(job->worker[w].core->states);
            xy_free(job->worker[w].core->threads);
            xy_free(job->worker[w].core);
        }
    xy_free(job->threads);
}

uint64_t nbc_threads_turns(const mpi_job_t *job, uint64_t *vain_p)
{
    uint64_t turns = 0;

    *vain_p = 0;
    for (int w = 0; w < job->workers; w++)
        if (job->worker[w].core != NULL) {
            turns += job->worker[w].core->turns;
            *vain_p += job->worker[w].core->vain;
        }
    return turns;
}

/* ---- From other workers ---- */

static void post(nbc_thread_t *t)
{
    mpi_worker_t *worker = t->worker;
    void *first;

    /* acq_rel: the one that takes the post sees what was stored for the thread before. */
    if (atomic_exchange_explicit(&t->is_posted, true, memory_order_acq_rel))
        return;
    first = atomic_load_explicit(&worker->mail[XMPI_MAIL_THREADS], memory_order_relaxed);
    do
        t->next_post = first;
    while (!atomic_compare_exchange_weak_explicit(&worker->mail[XMPI_MAIL_THREADS], &first, t,
                                                  memory_order_release, memory_order_relaxed));
    xy_worker_notify(worker->base);
}

void nbc_thread_add(nbc_thread_t *t, nbc_schedule_t *schedule, int queue)
{
    entry_t *entry = xy_malloc(sizeof(*entry));

    if (entry == NULL) {
        xy_fail_memory("starting a collective");
        mpi_job->abort(1);
        return;
    }
    nbc_schedule_hold(schedule);
    *entry = (entry_t){.schedule = schedule,
                       .queue = queue,
                       .left = xy_exec_queue_ops(schedule->cached->exec, queue)};
    entry->next = atomic_load_explicit(&t->inbox, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&t->inbox, &entry->next, entry,
                                                  memory_order_release, memory_order_relaxed))
        continue;
    post(t);
}

void nbc_thread_post(nbc_thread_t *t)
{
    atomic_fetch_add_explicit(&t->ready, 1, memory_order_release);
    post(t);
}

/* ---- On the worker ---- */

static void take_inbox(nbc_thread_t *t)
{
    entry_t *entry = atomic_exchange_explicit(&t->inbox, NULL, memory_order_acquire);
    entry_t *oldest = NULL, **end = &t->entries;

    for (entry_t *next; entry != NULL; entry = next) {
        next = entry->next;
        entry->next = oldest;
        oldest = entry;
    }
    while (*end != NULL)
        end = &(*end)->next;
    *end = oldest;
}

/* The state of a thread changed, or may have. */
static void update(nbc_core_t *core, nbc_thread_t *t)
{
    xy_order_thread_t *state = &core->states[t->index];
    bool had_collective = state->has_collective, was_ready = state->is_ready;

    take_inbox(t);
    state->has_collective = t->entries != NULL;
    state->is_ready = atomic_load_explicit(&t->ready, memory_order_acquire) > 0;
    core->busy += (int)state->has_collective - (int)had_collective;
    core->ready += (int)state->is_ready - (int)was_ready;
    xy_order_update(&core->queue, t->index);
}

/* True: there was news. */
static bool take_posts(mpi_worker_t *worker)
{
    nbc_thread_t *t =
        atomic_exchange_explicit(&worker->mail[XMPI_MAIL_THREADS], NULL, memory_order_acquire);
    bool found = t != NULL;

    for (nbc_thread_t *next; t != NULL; t = next) {
        next = t->next_post;
        /* From here on it may be posted again. */
        atomic_exchange_explicit(&t->is_posted, false, memory_order_acq_rel);
        update(worker->core, t);
    }
    return found;
}

static bool turn(nbc_thread_t *t)
{
    entry_t **link = &t->entries;
    bool found = false;
    xy_op_id_t op;

    while (*link != NULL) {
        entry_t *entry = *link;

        while (xy_exec_take_own(entry->schedule->cached->exec, entry->queue, &op)) {
            atomic_fetch_sub_explicit(&t->ready, 1, memory_order_relaxed);
            entry->left--;
            nbc_do_op(entry->schedule, op);
            found = true;
        }
        if (entry->left == 0) {
            *link = entry->next;
            nbc_schedule_release(entry->schedule);
            xy_free(entry);
        } else {
            link = &entry->next;
        }
    }
    return found;
}

/* Has nothing happened for so long that the worker may sleep? */
static bool is_idle(nbc_core_t *core, double spin)
{
    enum { CLOCK_EVERY = 32 };
    double now;

    if (core->busy == 0)
        return true;
    /* One with something to do may be the last of many to get its turn, and ranks run between. */
    if (core->ready > 0)
        return false;
    if (core->idle_turns == 0 || core->idle_turns % CLOCK_EVERY != 0)
        return false;
    now = xy_now();
    if (core->idle_turns == CLOCK_EVERY)
        core->idle_from = now;
    return now - core->idle_from > spin;
}

/* The supervisor's turn: it looks whether suspended threads must come back. */
static void keep(nbc_core_t *core)
{
    for (int i = 0; i < core->count; i++)
        if (!core->states[i].is_listed)
            update(core, core->threads[i]);
}

/* Only the supervisor is left: it would find nothing, and keep ready ranks from running. */
static bool is_alone(const nbc_core_t *core)
{
    return core->queue.listed == 1 && core->states[core->count].is_listed;
}

/* The thread with the next turn; NULL: none. */
static nbc_thread_t *next_thread(mpi_worker_t *worker)
{
    nbc_core_t *core = worker->core;

    for (;;) {
        int32_t t = -1;

        if (take_posts(worker))
            core->idle_turns = 0;
        if (!is_idle(core, XMPI_SPIN_SECONDS) && !is_alone(core))
            t = xy_order_pick(&core->queue);
        if (t < 0) {
            core->idle_turns = 0;
            return NULL;
        }
        if (t < core->count)
            return core->threads[t];
        keep(core);
        core->idle_turns++;
        core->turns++;
        core->vain++;
    }
}

/* With the order `priority`, a thread that is still urgent goes before ranks. */
static void set_urgency(const nbc_core_t *core, const nbc_thread_t *t)
{
    bool is_urgent = core->states[t->index].current > 0;

    xy_fiber_priority_set(t->fiber,
                          is_urgent ? XY_FIBER_PRIORITY_DEFAULT - 1 : XY_FIBER_PRIORITY_DEFAULT);
}

static void thread_main(void *arg);

/* Give the turn to `t`, which is not running. */
static void give_turn(nbc_core_t *core, nbc_thread_t *t)
{
    core->is_running = true;
    if (t->fiber != NULL) {
        set_urgency(core, t);
        xy_fiber_ready(t->fiber);
    } else if (xy_fiber_create(t->worker->base, thread_main, t, &t->fiber) == XY_OK) {
        xy_fiber_background_set(t->fiber);
    } else {
        mpi_job->abort(1);
    }
}

/* A fiber that has the turn; it hands over and parks until it is picked again. */
static void thread_main(void *arg)
{
    nbc_thread_t *t = arg, *next;
    nbc_core_t *core = t->worker->core;

    for (;;) {
        core->turns++;
        if (turn(t)) {
            core->idle_turns = 0;
        } else {
            core->idle_turns++;
            core->vain++;
        }
        update(core, t);
        next = next_thread(t->worker);
        if (next == t) {
            set_urgency(core, t);
            xy_fiber_yield(); /* ranks of this worker, and its rings */
            continue;
        }
        core->is_running = next != NULL;
        if (next != NULL)
            give_turn(core, next);
        xy_fiber_park();
    }
}

void nbc_threads_news(mpi_worker_t *worker)
{
    nbc_core_t *core = worker->core;
    nbc_thread_t *next;

    if (core->is_running)
        return; /* who has the turn will see it */
    next = next_thread(worker);
    if (next != NULL)
        give_turn(core, next);
}
