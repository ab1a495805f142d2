/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cores beside the GPUs: threads of src/fiber that each run one task at a time, which the thread
 * that called gives them. How fast they and the GPUs are is measured on the way.
 */
#include <sched.h>
#include <time.h>

#include "tasks/device/device_internal.h"

/* Measured: a thread that waits longer than this for its next task had better sleep. */
static const double SPIN_SECONDS = 100e-6;

/* ---- The threads ---- */

static void ring(device_tasks_t *e)
{
    pthread_mutex_lock(&e->lock);
    e->rings++;
    pthread_cond_signal(&e->rung);
    pthread_mutex_unlock(&e->lock);
}

static void run(core_t *core)
{
    const device_tasks_t *e = core->engine;
    xy_task_turn_t turn = {core->worker, core->job->op, core->job->addresses};

    core->start = xy_now();
    e->how->run(e->how->arg, &turn);
    core->end = xy_now();
    atomic_store_explicit(&core->mail, MAIL_RAN, memory_order_release);
    ring(core->engine);
}

/* Runs the jobs mailed to a core until MAIL_END; the body of a fiber. */
static void core_main(void *arg)
{
    core_t *core = arg;

    for (;;) {
        mail_t mail = atomic_load_explicit(&core->mail, memory_order_acquire);

        if (mail == MAIL_END)
            return;
        if (mail == MAIL_RUN) {
            run(core);
            continue;
        }
        core->is_parked = true;
        xy_fiber_park();
    }
}

static bool poll(xy_worker_t *host)
{
    core_t *core = xy_worker_user(host);
    mail_t mail = atomic_load_explicit(&core->mail, memory_order_acquire);

    if (!core->is_parked || (mail != MAIL_RUN && mail != MAIL_END))
        return false;
    core->is_parked = false;
    xy_fiber_ready(core->fiber);
    return true;
}

static bool has_spare_cpus(int32_t cores)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > cores;
}

/* No core is pinned: the thread that called, and those of the driver, need one as well. */
static xy_status_t start_pool(device_tasks_t *e)
{
    int32_t n = e->how->cores;
    xy_pool_config_t config = {
        .workers = n, .spin_seconds = has_spare_cpus(n) ? SPIN_SECONDS : 0, .poll = poll};
    xy_status_t st = xy_pool_create(&config, &e->pool);

    for (int32_t i = 0; i < n && st == XY_OK; i++) {
        core_t *core = &e->cores[i];

        *core = (core_t){.engine = e, .number = i, .worker = e->how->gpu_count + i};
        core->host = xy_pool_worker(e->pool, i);
        xy_worker_user_set(core->host, core);
        st = xy_fiber_create(core->host, core_main, core, &core->fiber);
    }
    return st == XY_OK ? xy_pool_start(e->pool) : st;
}

xy_status_t device_cores_start(device_tasks_t *e)
{
    if (e->how->cores == 0)
        return XY_OK;
    e->cores = xy_calloc((size_t)e->how->cores, sizeof(*e->cores));
    if (e->cores == NULL)
        return xy_fail_memory("preparing to run the tasks");
    return start_pool(e);
}

/* After a failure some may still run a task. */
void device_cores_stop(device_tasks_t *e)
{
    for (int32_t i = 0; e->cores != NULL && e->pool != NULL && i < e->how->cores; i++) {
        core_t *core = &e->cores[i];
        uint32_t rings = device_cores_rings(e);

        while (atomic_load_explicit(&core->mail, memory_order_acquire) == MAIL_RUN) {
            device_cores_wait(e, rings, 1e-3);
            rings = device_cores_rings(e);
        }
        if (core->host == NULL)
            continue;
        atomic_store_explicit(&core->mail, MAIL_END, memory_order_release);
        xy_worker_notify(core->host);
    }
    if (e->pool != NULL) {
        xy_pool_join(e->pool);
        xy_pool_destroy(e->pool);
    }
    xy_free(e->cores);
    e->cores = NULL;
    e->pool = NULL;
}

/* ---- Of the thread that called ---- */

void device_core_give(core_t *core, job_t *job)
{
    core->job = job;
    atomic_store_explicit(&core->mail, MAIL_RUN, memory_order_release);
    xy_worker_notify(core->host);
}

core_t *device_core_idle(device_tasks_t *e)
{
    for (int32_t i = 0; i < e->how->cores; i++)
        if (e->cores[i].job == NULL)
            return &e->cores[i];
    return NULL;
}

uint32_t device_cores_rings(device_tasks_t *e)
{
    uint32_t rings;

    pthread_mutex_lock(&e->lock);
    rings = e->rings;
    pthread_mutex_unlock(&e->lock);
    return rings;
}

void device_cores_wait(device_tasks_t *e, uint32_t rings, double seconds)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(seconds * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&e->lock);
    while (e->rings == rings)
        if (seconds == 0)
            pthread_cond_wait(&e->rung, &e->lock);
        else if (pthread_cond_timedwait(&e->rung, &e->lock, &until) != 0)
            break;
    pthread_mutex_unlock(&e->lock);
}

/* ---- How fast ---- */

enum { ENOUGH = 8 }; /* tasks of GPUs, to know; of a core one does */

static double seconds_of(const device_tasks_t *e, xy_op_id_t op)
{
    double seconds = xy_graph_op(e->base.graph, op)->seconds;

    return seconds > 0 ? seconds : 1;
}

/* The work of a core in the time in which a GPU does 1. */
static void set_speed(device_tasks_t *e)
{
    const pace_t *c = &e->core_pace, *g = &e->gpu_pace;
    double speed;

    if (c->tasks == 0 || g->tasks < ENOUGH || c->seconds <= 0 || g->work <= 0)
        return;
    speed = c->work / c->seconds * g->seconds / g->work;
    for (int32_t i = 0; i < e->how->cores; i++)
        e->base.speed[e->how->gpu_count + i] = speed;
}

void device_pace_core(device_tasks_t *e, const core_t *core)
{
    e->core_pace.work += seconds_of(e, core->job->op);
    e->core_pace.seconds += core->end - core->start;
    e->core_pace.tasks++;
    set_speed(e);
}

/* `reached` kernels were seen to end; `behind` others are still there. A GPU counts as busy from
 * one look to the next if it had something to do at the first. */
void device_pace_gpus(device_tasks_t *e, uint64_t reached, uint64_t behind)
{
    double now = xy_now(), mean = e->seconds_left / (e->base.left > 0 ? e->base.left : 1);

    if (e->looked > 0) {
        e->gpu_pace.seconds += now - e->looked;
        e->gpu_pace.work += (double)reached * mean;
        e->gpu_pace.tasks += (int64_t)reached;
    }
    e->looked = behind > 0 ? now : 0;
}

/* While nothing is known of cores, the first alone has a task. */
static bool is_known(const device_tasks_t *e, const core_t *core)
{
    return e->how->core_speed > 0 || e->core_pace.tasks > 0 || e->how->gpu_count == 0 ||
           core->number == 0;
}

bool device_core_helps(const device_tasks_t *e, const core_t *core)
{
    double mean = e->seconds_left / e->base.left, speed = e->base.speed[core->worker], all = 0;

    for (int32_t w = 0; w < e->base.worker_count; w++)
        all += e->base.speed[w];
    return e->is_pressed || e->how->gpu_count == 0 ||
           (is_known(e, core) && mean / speed <= e->seconds_left / all);
}
