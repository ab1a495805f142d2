/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers: they ask the policy, gather, run, and tell.
 *
 * Each is one fiber on one worker of src/fiber, which owns the thread, pins it, spins and sleeps. A
 * fiber that has to wait writes down for what and parks; the worker's poll function looks whether
 * it has come (exec_poll). Who makes it come rings those who wait for it, so that the ones that
 * sleep look again.
 */
#include "tasks/exec/exec_internal.h"

static void ring(exec_tasks_t *e, exec_wait_t what)
{
    for (int32_t w = 0; w < e->base.worker_count; w++)
        if (atomic_load_explicit(&e->workers[w].wait, memory_order_relaxed) == what)
            xy_worker_notify(e->workers[w].host);
}

void exec_wake(exec_tasks_t *e)
{
    atomic_fetch_add_explicit(&e->epoch, 1, memory_order_release);
    if (e->idle > 0)
        ring(e, EXEC_WAITS_FOR_CHANGE);
}

void exec_fail(exec_tasks_t *e, xy_status_t status)
{
    if (e->status == XY_OK)
        e->status = status;
    exec_wake(e);
}

/* Takes tasks from the policy until the pipeline of a worker is full; called under the lock. */
static void feed(exec_tasks_t *e, exec_worker_t *w)
{
    while (w->pipeline.held < e->base.depth) {
        xy_op_id_t op = e->base.policy->pick(e->base.state, w->number);

        if (op < 0) {
            if (xy_task_policy_is_faulty(e->base.policy, e->base.state))
                exec_fail(e, XY_EINVAL);
            return;
        }
        xy_task_engine_take(&e->base, &w->pipeline, op, w->number, w->memory);
    }
}

/* The next task that can run; NULL: none now. */
static xy_task_slot_t *next_task(exec_tasks_t *e, exec_worker_t *w)
{
    feed(e, w);
    xy_task_engine_pump(&e->base, w->memory);
    return xy_task_pipeline_complete(&w->pipeline);
}

static bool is_stuck(const exec_tasks_t *e)
{
    uint32_t epoch = atomic_load_explicit(&e->epoch, memory_order_relaxed);

    if (e->running > 0 || e->in_flight > 0)
        return false;
    for (int32_t w = 0; w < e->base.worker_count; w++)
        if (e->workers[w].seen != epoch)
            return false;
    return true;
}

/* Until something changes. The lock is not held meanwhile. */
static void wait_for_change(exec_tasks_t *e, exec_worker_t *w)
{
    uint32_t epoch = atomic_load_explicit(&e->epoch, memory_order_relaxed);

    w->seen = epoch;
    if (is_stuck(e)) {
        exec_fail(e, xy_task_policy_end(e->base.policy, e->base.state, e->base.left, e->base.ops));
        return;
    }
    e->idle++;
    atomic_store_explicit(&w->wait, EXEC_WAITS_FOR_CHANGE, memory_order_relaxed);
    pthread_mutex_unlock(&e->lock);
    xy_fiber_park();
    pthread_mutex_lock(&e->lock);
    e->idle--;
}

static void *address(const exec_tasks_t *e, const exec_worker_t *w, int32_t data)
{
    return e->how->store != NULL       ? e->base.memories[w->memory].space.copies[data].own
           : e->how->addresses != NULL ? e->how->addresses[data]
                                       : xy_graph_data_at(e->base.graph, data)->address;
}

/* Take its data: from now on no other worker may. It is the next of the batch. */
static void begin(exec_tasks_t *e, exec_worker_t *w, xy_task_slot_t *slot)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->base.graph, slot->op, &a);
    void **buffers = w->buffers + (ptrdiff_t)w->batch_count * e->base.most;

    exec_places_use(e, w, slot->op);
    for (int32_t i = 0; i < n; i++)
        buffers[i] = address(e, w, a[i].data);
    xy_task_engine_begin(&e->base, w->memory, slot);
    w->batch[w->batch_count++] = slot->op;
    w->taken++;
}

/*
 * Decisions about tasks of some microseconds, one at a time, would take as long as the tasks: the
 * lock, and the data of the policy that the task has pushed out of the cache. So a worker takes
 * several at once, as many as fit in BATCH_SECONDS. Each is reported to the policy as over as soon
 * as it is taken, and so can name those that come after it. Really they run one after the other,
 * and a task waits until those before it, on other workers, are complete (`before`). No task waits
 * for ever: the order in which the policy thought them over is one in which they can run.
 */
static const double BATCH_SECONDS = 200e-6;

static int32_t batch_size(const exec_tasks_t *e, const exec_worker_t *w)
{
    double n = w->mean > 0 ? BATCH_SECONDS / w->mean : 1;

    if (e->how->store != NULL || n < 1)
        return 1;
    return n < EXEC_BATCH_MAX ? (int32_t)n : EXEC_BATCH_MAX;
}

/* Returns how many tasks are in w->batch; when only one was wanted, *slot_p is its slot, and the
 * policy does not yet know that it is complete. */
static int32_t take(exec_tasks_t *e, exec_worker_t *w, xy_task_slot_t **slot_p)
{
    int32_t want = batch_size(e, w);

    *slot_p = NULL;
    w->batch_count = w->gate = w->gate_count = 0;
    while (w->batch_count < want && e->base.left > 0) {
        xy_task_slot_t *slot = next_task(e, w);

        if (slot == NULL || e->status != XY_OK)
            break; /* when memory runs out the task may lack a buffer */
        begin(e, w, slot);
        if (want == 1)
            *slot_p = slot;
        else
            xy_task_engine_end(&e->base, w->memory, &w->pipeline, slot);
    }
    if (w->batch_count > 0 && want > 1)
        exec_wake(e);
    return w->batch_count;
}

/* ---- Without the lock ---- */

static bool is_cancelled(const exec_tasks_t *e)
{
    return e->how->stop != NULL && atomic_load_explicit(e->how->stop, memory_order_acquire);
}

/* Are those before it really over? The load acquires what they wrote: see release_after. */
static bool is_free(const exec_tasks_t *e, exec_worker_t *w, int32_t task)
{
    return atomic_load_explicit(&e->before[w->batch[task]], memory_order_acquire) == 0 &&
           exec_places_are_free(e, w, task);
}

/* Parks the worker until the predecessors of a task of its batch are complete, and counts the time
 * as waiting. */
static void wait_for_others(exec_tasks_t *e, exec_worker_t *w, int32_t task)
{
    double start, end;

    if (is_free(e, w, task))
        return;
    start = xy_now();
    w->awaited = task;
    atomic_store_explicit(&w->wait, EXEC_WAITS_FOR_TASKS, memory_order_relaxed);
    atomic_fetch_add(&e->blocked, 1); /* see release */
    xy_fiber_park();
    atomic_fetch_sub_explicit(&e->blocked, 1, memory_order_relaxed);
    end = xy_now();
    w->waited += end - start;
    if (e->is_recording)
        exec_record_pause(w, EXEC_WAIT, start - e->start, end - e->start);
}

/* true: a worker may have waited for it. */
static bool release_after(exec_tasks_t *e, xy_op_id_t op)
{
    const xy_op_id_t *after;
    int32_t n = xy_graph_successors(e->base.graph, op, &after);
    bool is_awaited = false;

    for (int32_t i = 0; i < n; i++)
        is_awaited = atomic_fetch_sub(&e->before[after[i]], 1) == 1 || is_awaited;
    return is_awaited;
}

static void perform(const exec_tasks_t *e, const xy_task_turn_t *turn)
{
    const xy_task_code_t *code;

    if (e->how->run != NULL) {
        e->how->run(e->how->arg, turn);
        return;
    }
    code = xy_graph_op(e->base.graph, turn->op)->code;
    code->run(turn->buffers, code->arg);
}

/*
 * Release what it wrote, to its successors and to workers that wait for places. Ring if
 * a worker waits: no ring is missed, because this writes `before` or `ran` and then reads
 * `blocked`, a waiting worker writes `blocked` and then, before it sleeps, reads the other two, and
 * all of these have one order for all threads.
 */
static void release(exec_tasks_t *e, exec_worker_t *w, xy_op_id_t op)
{
    uint64_t ran = atomic_load_explicit(&w->ran, memory_order_relaxed) + 1;
    bool is_awaited = release_after(e, op);

    if (e->places != NULL)
        atomic_store(&w->ran, ran);
    else
        atomic_store_explicit(&w->ran, ran, memory_order_relaxed);
    if ((is_awaited || e->places != NULL) && atomic_load(&e->blocked) > 0)
        ring(e, EXEC_WAITS_FOR_TASKS);
}

/* The task after this one in the batch, if all that it can wait for are others' tasks. */
static xy_op_id_t next_in_batch(const exec_tasks_t *e, exec_worker_t *w, int32_t task, int32_t n)
{
    return task + 1 < n && exec_places_are_free(e, w, task + 1) ? w->batch[task + 1] : -1;
}

/* Runs the `n` tasks of a worker's batch and updates its mean time per task. */
static void run_batch(exec_tasks_t *e, exec_worker_t *w, int32_t n, double start)
{
    double waited = w->waited, busy;

    w->begun = 0;
    for (int32_t i = 0; i < n; i++) {
        xy_task_turn_t turn = {w->number, w->batch[i], w->buffers + (ptrdiff_t)i * e->base.most};

        wait_for_others(e, w, i);
        if (is_cancelled(e))
            break;
        if (e->is_recording)
            exec_record_begin(w);
        perform(e, &turn);
        if (e->is_recording)
            exec_record_end(e, w, turn.op, next_in_batch(e, w, i, n));
        release(e, w, turn.op);
    }
    w->ended = xy_now();
    busy = w->ended - start - (w->waited - waited);
    w->busy += busy;
    w->mean = w->mean > 0 ? 0.9 * w->mean + 0.1 * busy / n : busy / n;
}

/* ---- The loop ---- */

static bool has_come(const exec_tasks_t *e, exec_worker_t *w, exec_wait_t what)
{
    if (what == EXEC_WAITS_FOR_CHANGE)
        return atomic_load_explicit(&e->epoch, memory_order_acquire) != w->seen;
    return is_free(e, w, w->awaited) || is_cancelled(e);
}

bool exec_poll(xy_worker_t *host)
{
    exec_worker_t *w = xy_worker_user(host);
    exec_wait_t what = atomic_load_explicit(&w->wait, memory_order_relaxed);

    if (what == EXEC_RUNS || !has_come(w->engine, w, what))
        return false;
    atomic_store_explicit(&w->wait, EXEC_RUNS, memory_order_relaxed);
    xy_fiber_ready(w->fiber);
    return true;
}

static void pause_ended(const exec_tasks_t *e, exec_worker_t *w, exec_event_t event, double now)
{
    if (e->is_recording)
        exec_record_pause(w, event, w->ended - e->start, now - e->start);
    w->ended = now;
}

void exec_worker_main(void *arg)
{
    exec_worker_t *w = arg;
    exec_tasks_t *e = w->engine;

    w->ended = xy_now();
    pthread_mutex_lock(&e->lock);
    while (!exec_is_over(e)) {
        xy_task_slot_t *slot;
        double start;
        int32_t n;

        e->now = xy_now() - e->start;
        n = take(e, w, &slot);
        start = xy_now();
        e->base.result.scheduling_seconds += start - w->ended;
        if (n == 0) {
            if (e->status == XY_OK)
                wait_for_change(e, w);
            pause_ended(e, w, EXEC_WAIT, xy_now());
            continue;
        }
        pause_ended(e, w, EXEC_DECISION, start);
        e->running++;
        pthread_mutex_unlock(&e->lock);
        run_batch(e, w, n, start);
        pthread_mutex_lock(&e->lock);
        e->running--;
        if (slot != NULL) {
            e->now = w->ended - e->start;
            xy_task_engine_end(&e->base, w->memory, &w->pipeline, slot);
            exec_wake(e);
        }
    }
    exec_wake(e); /* the end may have come from a task, which wakes no worker */
    ring(e, EXEC_WAITS_FOR_TASKS);
    pthread_mutex_unlock(&e->lock);
}
