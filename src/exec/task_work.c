/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers: they ask the policy, gather, run, and tell. */
#include <sched.h>

#include "exec/task_internal.h"

enum { SPINS = 2000 };

void exec_wake(exec_tasks_t *e)
{
    atomic_fetch_add_explicit(&e->epoch, 1, memory_order_release);
    if (e->sleeping > 0)
        pthread_cond_broadcast(&e->changed);
}

void exec_fail(exec_tasks_t *e, xy_status_t status)
{
    if (e->status == XY_OK)
        e->status = status;
    exec_wake(e);
}

void exec_announce(exec_tasks_t *e, xy_op_id_t op)
{
    e->policy->ready(e->state, op);
}

static void gathering_remove(exec_memory_t *m, const exec_slot_t *slot)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < m->gathering_count; i++)
        if (m->gathering[i] != slot)
            m->gathering[kept++] = m->gathering[i];
    m->gathering_count = kept;
}

static exec_slot_t *slot_take(exec_worker_t *w)
{
    for (int32_t i = 0; i < w->engine->pipeline; i++)
        if (w->slots[i].op < 0) {
            w->order[w->held++] = &w->slots[i];
            return &w->slots[i];
        }
    return NULL;
}

static void slot_free(exec_worker_t *w, exec_slot_t *slot)
{
    int32_t kept = 0;

    for (int32_t i = 0; i < w->held; i++)
        if (w->order[i] != slot)
            w->order[kept++] = w->order[i];
    w->held = kept;
    slot->op = -1;
}

static void feed(exec_tasks_t *e, exec_worker_t *w)
{
    exec_memory_t *m = &e->memories[w->memory];

    while (w->held < e->pipeline) {
        xy_op_id_t op = e->policy->pick(e->state, w->number);
        exec_slot_t *slot;

        if (op < 0)
            return;
        slot = slot_take(w);
        *slot = (exec_slot_t){.op = op, .worker = w->number};
        exec_hold(e, slot);
        m->gathering[m->gathering_count++] = slot;
    }
}

/* The next task that can run; NULL: none now. */
static exec_slot_t *next_task(exec_tasks_t *e, exec_worker_t *w)
{
    feed(e, w);
    exec_pump(e, w->memory);
    for (int32_t i = 0; i < w->held; i++)
        if (w->order[i]->is_complete)
            return w->order[i];
    return NULL;
}

static bool is_stuck(const exec_tasks_t *e)
{
    uint32_t epoch = atomic_load_explicit(&e->epoch, memory_order_relaxed);

    if (e->running > 0 || e->in_flight > 0)
        return false;
    for (int32_t w = 0; w < e->worker_count; w++)
        if (e->workers[w].seen != epoch)
            return false;
    return true;
}

/* Until something changes: spin, as most waits are short, then sleep. */
static void wait_for_change(exec_tasks_t *e, exec_worker_t *w)
{
    uint32_t epoch = atomic_load_explicit(&e->epoch, memory_order_relaxed);

    w->seen = epoch;
    if (is_stuck(e)) {
        exec_fail(e, xy_fail(XY_EINVAL,
                             "policy %s left %d of %d tasks undone: it names none of the ready "
                             "ones",
                             e->policy->name, e->left, e->ops));
        return;
    }
    pthread_mutex_unlock(&e->lock);
    for (int i = 0; i < SPINS && e->is_spinning; i++) {
        if (atomic_load_explicit(&e->epoch, memory_order_acquire) != epoch)
            break;
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    pthread_mutex_lock(&e->lock);
    while (atomic_load_explicit(&e->epoch, memory_order_relaxed) == epoch && !exec_is_over(e)) {
        e->sleeping++;
        pthread_cond_wait(&e->changed, &e->lock);
        e->sleeping--;
    }
}

/* Take its data: from now on nobody else may. */
static void begin(exec_tasks_t *e, exec_worker_t *w, exec_slot_t *slot)
{
    exec_memory_t *m = &e->memories[w->memory];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(e->graph, slot->op, &a);

    gathering_remove(m, slot);
    for (int32_t i = 0; i < n; i++) {
        if (a[i].mode & XY_ACCESS_WRITE)
            exec_own(e, w->memory, a[i].data);
        w->buffers[i] = e->how->store != NULL       ? m->copies[a[i].data].buffer
                        : e->how->addresses != NULL ? e->how->addresses[a[i].data]
                                                    : xy_graph_datum(e->graph, a[i].data)->user;
    }
    e->running++;
}

static void perform(exec_tasks_t *e, exec_worker_t *w, xy_op_id_t op)
{
    const xy_task_code_t *code = xy_graph_op(e->graph, op)->user;

    if (e->how->run != NULL)
        e->how->run(e->how->arg, w->number, op, w->buffers);
    else
        code->run(w->buffers, code->arg);
}

static void end(exec_tasks_t *e, exec_worker_t *w, exec_slot_t *slot, double start)
{
    xy_op_id_t op = slot->op;
    const xy_op_id_t *after;
    int32_t n = xy_graph_successors(e->graph, op, &after);

    if (e->how->observer != NULL && e->how->observer->task != NULL)
        e->how->observer->task(e->how->observer->arg, w->number, op, start - e->start, e->now);
    slot_free(w, slot);
    e->is_over[op] = true;
    e->running--;
    e->left--;
    e->result.tasks++;
    exec_finished(e, w->memory, op);
    if (e->policy->done != NULL)
        e->policy->done(e->state, w->number, op);
    for (int32_t i = 0; i < n; i++)
        if (--e->waiting[after[i]] == 0)
            exec_announce(e, after[i]);
    exec_wake(e);
}

static void pin(int cpu)
{
    cpu_set_t set;

    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set); /* only slower without */
}

void *exec_worker_main(void *arg)
{
    exec_worker_t *w = arg;
    exec_tasks_t *e = w->engine;
    double before, started, ended;

    pin(w->cpu);
    before = exec_clock();
    pthread_mutex_lock(&e->lock);
    while (!exec_is_over(e)) {
        exec_slot_t *slot;

        e->now = exec_clock() - e->start;
        slot = next_task(e, w);
        if (e->status != XY_OK)
            break; /* memory ran out: the task may lack a buffer */
        if (slot == NULL) {
            e->result.scheduling_seconds += exec_clock() - before;
            wait_for_change(e, w);
            before = exec_clock();
            continue;
        }
        begin(e, w, slot);
        started = exec_clock();
        e->result.scheduling_seconds += started - before;
        pthread_mutex_unlock(&e->lock);
        perform(e, w, slot->op);
        ended = before = exec_clock();
        w->busy += ended - started;
        pthread_mutex_lock(&e->lock);
        e->now = ended - e->start;
        end(e, w, slot, started);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}
