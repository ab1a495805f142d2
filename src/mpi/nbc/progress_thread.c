/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/nbc/progress_thread.h"

/* Operations of one schedule that are a thread's to do. */
typedef struct nbc_entry {
    nbc_schedule_t *schedule; /* held */
    int queue;
    int left; /* operations not done */
    struct nbc_entry *next;
} entry_t;

/* ---- From other workers ---- */

/* Post a thread to its worker unless it is posted already, and wake the worker. Any thread. */
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

/* Append the new entries of a thread's inbox to its list, oldest first. */
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

static void know(mpi_worker_t *worker, nbc_core_t *core)
{
    if (core->is_known)
        return;
    core->is_known = true;
    core->next = worker->cores;
    worker->cores = core;
}

/* Take the news that others have left for the threads of this worker. */
static void take_posts(mpi_worker_t *worker)
{
    nbc_thread_t *t =
        atomic_exchange_explicit(&worker->mail[XMPI_MAIL_THREADS], NULL, memory_order_acquire);

    for (nbc_thread_t *next; t != NULL; t = next) {
        next = t->next_post;
        /* From here on it may be posted again. */
        atomic_exchange_explicit(&t->is_posted, false, memory_order_acq_rel);
        know(worker, t->core);
        update(t->core, t);
        t->core->idle_turns = 0;
    }
}

/* Execute all operations that are ready for a thread; true if there were any. */
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
static nbc_thread_t *next_thread(nbc_core_t *core)
{
    for (;;) {
        int32_t t = -1;

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

/* Threads of families in which none has the turn get it if they have something to do. */
static void start_others(mpi_worker_t *worker)
{
    for (nbc_core_t *core = worker->cores; core != NULL; core = core->next) {
        nbc_thread_t *next = core->is_running ? NULL : next_thread(core);

        if (next != NULL)
            give_turn(core, next);
    }
}

/* A fiber that has the turn; it hands over and parks until it is picked again. */
static void thread_main(void *arg)
{
    nbc_thread_t *t = arg, *next;
    nbc_core_t *core = t->core;

    for (;;) {
        core->turns++;
        if (turn(t)) {
            core->idle_turns = 0;
        } else {
            core->idle_turns++;
            core->vain++;
        }
        update(core, t);
        nbc_threads_news(t->worker);
        next = next_thread(core);
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
    if (atomic_load_explicit(&worker->mail[XMPI_MAIL_THREADS], memory_order_relaxed) == NULL)
        return;
    take_posts(worker);
    start_others(worker);
}
