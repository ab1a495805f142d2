/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop: ask the policy, bring the data, put the kernel into its stream, tell the policy. */
#include "tasks/device/device_internal.h"

bool device_is_stopped(const device_tasks_t *e)
{
    return e->how->stop != NULL && atomic_load_explicit(e->how->stop, memory_order_acquire);
}

/* A stopped run has no task: one that comes after the task that stopped it would write what is the
 * result. */
static xy_op_id_t pick(device_tasks_t *e, int32_t worker)
{
    double start = device_now(e), begin = xy_now();
    xy_op_id_t op;

    if (device_is_stopped(e))
        return -1;
    e->now = start - e->start;
    op = e->base.policy->pick(e->base.state, worker);
    e->base.result.scheduling_seconds += xy_now() - begin;
    e->picked += op >= 0;
    if (e->is_uneven && op >= 0)
        e->devices[worker].given += xy_task_seconds(&e->base.view, op, worker);
    if (e->how->clock != NULL && op >= 0)
        *e->how->clock += e->how->decision_seconds;
    if (e->is_recording && op >= 0)
        device_record_decision(e, worker, op, start, device_now(e));
    return op;
}

static xy_status_t announce(device_tasks_t *e, xy_op_id_t node)
{
    int32_t what = e->how->share != NULL ? e->how->share->what[node] : node;

    if (what < 0)
        return device_message_begin(e, -1 - what);
    if (!e->post.is_passing)
        e->base.policy->ready(e->base.state, what);
    else if (xy_vec_append(&e->post.passed, &what) != XY_OK)
        return xy_fail_memory("ending the run");
    return XY_OK;
}

xy_status_t device_release(device_tasks_t *e, xy_op_id_t node)
{
    const xy_op_id_t *after;
    int32_t n = xy_graph_successors(e->order, node, &after);
    xy_status_t st = XY_OK;

    for (int32_t i = 0; i < n && st == XY_OK; i++)
        if (--e->base.waiting[after[i]] == 0)
            st = announce(e, after[i]);
    return st;
}

xy_status_t device_task_over(device_tasks_t *e, int32_t worker, xy_op_id_t op)
{
    double start = xy_now(), seconds = xy_graph_op(e->base.graph, op)->seconds;
    xy_status_t st;

    e->base.is_over[op] = true;
    e->base.left--;
    e->seconds_left -= seconds > 0 ? seconds : 1;
    e->base.result.tasks++;
    if (e->base.policy->done != NULL)
        e->base.policy->done(e->base.state, worker, op);
    st = device_release(e, device_node(e, op));
    e->base.result.scheduling_seconds += xy_now() - start;
    return st;
}

/* Put tasks that do not depend on each other into the stream: as many of them as have room
 * together, *done_p, and one at least. */
static xy_status_t launch(device_tasks_t *e, int32_t gpu, const xy_op_id_t *ops, int32_t count,
                          int32_t *done_p)
{
    const device_memory_t *m = &e->devices[gpu];
    lane_t *lane = &e->devices[gpu].lanes[LANE_COMPUTE];
    int32_t most = m->spare_count > 0 && m->spare_count < count ? m->spare_count : count;
    xy_task_kernel_t kernels[XY_TASK_BATCH_MAX];
    ticket_t ticket;
    bool is_there = true;
    int32_t n = 0;
    xy_status_t st = XY_OK;

    while (n < most && st == XY_OK && is_there) {
        xy_gpu_memory_t *buffers = e->buffers + (size_t)n * (size_t)e->base.most;

        st = device_gather(e, gpu, ops[n], n > 0, buffers, &is_there);
        kernels[n] = (xy_task_kernel_t){gpu, ops[n], lane->stream, buffers,
                                        m->spare_count > 0 ? m->spares[n] : 0};
        n += is_there ? 1 : 0;
    }
    if (st == XY_OK)
        st = device_lane_after_wanted(lane);
    if (st == XY_OK)
        st = device_lane_begin(lane);
    if (st == XY_OK)
        st = n == 1 ? e->how->launch(e->how->arg, kernels)
                    : e->how->launch_together(e->how->arg, kernels, n);
    if (st == XY_OK)
        st = device_lane_end(lane, ops, n, &ticket);
    for (int32_t i = 0; i < n && st == XY_OK; i++) {
        device_exchange(e, gpu, ops[i], i);
        device_used(e, gpu, ops[i], ticket);
        e->base.is_over[ops[i]] = true; /* it does not overwrite its results any more */
    }
    e->base.result.launches++;
    *done_p = n;
    return st;
}

static xy_status_t run_there(device_tasks_t *e, int32_t worker, const xy_op_id_t *ops,
                             int32_t count)
{
    int32_t gpu = worker < e->how->gpu_count ? worker : 0, n = 0;
    xy_status_t st = XY_OK;

    for (int32_t i = 0; i < count && st == XY_OK; i += n)
        st = launch(e, gpu, ops + i, count - i, &n);
    for (int32_t i = 0; i < count && st == XY_OK; i++)
        st = device_task_over(e, worker, ops[i]);
    return st;
}

static bool is_for_gpu(const device_tasks_t *e, xy_op_id_t op)
{
    return e->how->gpu_count > 0 &&
           (e->how->is_for_gpu == NULL || e->how->is_for_gpu(e->how->arg, op));
}

static bool is_for_cores(const device_tasks_t *e, xy_op_id_t op)
{
    return e->how->run != NULL &&
           (e->how->is_for_cores == NULL || e->how->is_for_cores(e->how->arg, op));
}

/* Where the policy wants it, unless it can run elsewhere only. */
static xy_status_t run_task(device_tasks_t *e, int32_t worker, xy_op_id_t op)
{
    bool is_core = worker >= e->how->gpu_count;

    if (is_core ? is_for_cores(e, op) : !is_for_gpu(e, op))
        return device_job_begin(e, worker, is_core ? worker - e->how->gpu_count : -1, op);
    return run_there(e, worker, &op, 1);
}

static bool is_for_batch(const device_tasks_t *e, xy_op_id_t op)
{
    return e->how->batch > 1 && e->how->cores == 0 && is_for_gpu(e, op);
}

/* A task of a GPU, with others that can run at the same time if there are any: none of them counts
 * as over before all of them were chosen. */
static xy_status_t run_batch(device_tasks_t *e, int32_t gpu, xy_op_id_t op)
{
    int32_t n = 0, most = e->how->batch < XY_TASK_BATCH_MAX ? e->how->batch : XY_TASK_BATCH_MAX;
    xy_op_id_t ops[XY_TASK_BATCH_MAX];
    xy_status_t st = XY_OK;

    while (op >= 0 && is_for_batch(e, op)) {
        ops[n++] = op;
        op = n < most ? pick(e, gpu) : -1;
    }
    if (n > 0)
        st = run_there(e, gpu, ops, n);
    return st == XY_OK && op >= 0 ? run_task(e, gpu, op) : st;
}

/* May the GPU have another task? Beside cores it is only a few ahead of what it has done. */
static xy_status_t has_room(device_tasks_t *e, int32_t gpu, bool *has_room_p)
{
    lane_t *lane = &e->devices[gpu].lanes[LANE_COMPUTE];
    uint64_t before = lane->reached, behind = 0;
    xy_status_t st;

    *has_room_p = e->job_used < e->job_count - e->how->cores;
    if (e->how->cores == 0)
        return XY_OK;
    st = device_lane_behind(lane, &behind);
    if (gpu == 0)
        device_pace_gpus(e, lane->reached - before, behind);
    *has_room_p = *has_room_p && behind < DEVICE_BESIDE;
    return st;
}

/* One task, if the policy has one, and what the plan says about data. *is_moving_p: something
 * happened. */
static xy_status_t turn(device_tasks_t *e, int32_t gpu, bool *is_moving_p)
{
    uint64_t loads = e->base.result.loads;
    bool is_free;
    xy_status_t st = has_room(e, gpu, &is_free);
    xy_op_id_t op = st == XY_OK && is_free ? pick(e, gpu) : -1;

    if (op >= 0)
        st = run_batch(e, gpu, op);
    else if (st == XY_OK)
        st = xy_task_policy_end(e->base.policy, e->base.state, 0, e->base.ops);
    /* Decisions are ahead of the GPU, and so are the loads that they ask for: what is loaded even
     * earlier takes room from what is needed before it. Beside cores they are ahead by little. */
    if (st == XY_OK && (op < 0 || e->how->cores > 0 || e->how->params.look_ahead > 0) &&
        e->base.policy->prefetch != NULL && e->base.left > 0)
        st = device_prefetch(e, gpu, op < 0);
    if (st == XY_OK && e->base.policy->is_writing_early)
        st = device_store_early(e, gpu);
    *is_moving_p = *is_moving_p || op >= 0 || e->base.result.loads > loads;
    return st;
}

static xy_status_t turn_core(device_tasks_t *e, core_t *core, bool *is_moving_p)
{
    xy_op_id_t op;

    if (core->job != NULL || !device_core_helps(e, core))
        return XY_OK;
    op = pick(e, core->worker);
    *is_moving_p = *is_moving_p || op >= 0;
    return op >= 0 ? run_task(e, core->worker, op) : XY_OK;
}

/* A policy that has nothing now may wait for what it asked to be loaded. */
static xy_status_t wait_for_loads(device_tasks_t *e, bool *is_moving_p)
{
    xy_status_t st = XY_OK;

    for (int32_t g = 0; g < e->how->gpu_count && st == XY_OK; g++) {
        lane_t *lane = &e->devices[g].lanes[LANE_LOAD];

        *is_moving_p = *is_moving_p || lane->reached < lane->put;
        st = device_lane_drain(lane);
    }
    return st;
}

/* Nothing could be begun: wait for what is under way. Where that is nothing either, cores take what
 * a policy has for them alone, however long they need. */
static xy_status_t rest(device_tasks_t *e)
{
    bool is_moving = false;
    xy_status_t st = XY_OK;

    if (e->post.left > 0)
        st = device_messages_wait(e, &is_moving);
    if (st != XY_OK || is_moving)
        return st;
    if (e->job_used > 0 || e->how->cores > 0)
        st = device_jobs_wait(e, &is_moving);
    if (st == XY_OK && !is_moving)
        st = wait_for_loads(e, &is_moving);
    if (st != XY_OK || is_moving)
        return st;
    if (e->how->cores > 0 && !e->is_pressed) {
        e->is_pressed = true;
        return XY_OK;
    }
    return xy_task_policy_end(e->base.policy, e->base.state, e->base.left, e->base.ops);
}

/* The GPU that has not had its turn in this round and is free first. */
static int32_t first_free(const device_tasks_t *e)
{
    int32_t first = -1;

    for (int32_t g = 0; g < e->how->gpu_count; g++)
        if (!e->devices[g].had_turn && (first < 0 || e->devices[g].given < e->devices[first].given))
            first = g;
    return first;
}

/* Decisions are far ahead of the GPUs, so turns of all would give a slow one as many tasks as a
 * fast one. Instead the one that is free first has the first choice, and in a round one of them
 * gets tasks. Those that refused have waited until then. */
static xy_status_t turns_uneven(device_tasks_t *e, bool *is_moving_p)
{
    xy_status_t st = XY_OK;
    int32_t gpu;

    for (int32_t g = 0; g < e->how->gpu_count; g++)
        e->devices[g].had_turn = false;
    while (e->base.left > 0 && st == XY_OK && (gpu = first_free(e)) >= 0) {
        uint64_t picked = e->picked;
        double since = e->devices[gpu].given;

        e->devices[gpu].had_turn = true;
        st = turn(e, gpu, is_moving_p);
        if (e->picked == picked)
            continue;
        for (int32_t g = 0; g < e->how->gpu_count; g++)
            if (e->devices[g].had_turn && e->devices[g].given < since)
                e->devices[g].given = since;
        break;
    }
    return st;
}

/* Gives messages, jobs, cores and GPUs one turn each; *is_moving_p tells whether anything
 * happened. */
static xy_status_t round_of_all(device_tasks_t *e, bool *is_moving_p)
{
    xy_status_t st = XY_OK;

    *is_moving_p = false;
    if (e->post.left > 0)
        st = device_messages_pump(e, is_moving_p);
    if (e->job_used > 0 && st == XY_OK)
        st = device_jobs_pump(e, is_moving_p);
    for (int32_t i = 0; i < e->how->cores && e->base.left > 0 && st == XY_OK; i++)
        st = turn_core(e, &e->cores[i], is_moving_p);
    if (e->is_uneven && st == XY_OK)
        st = turns_uneven(e, is_moving_p);
    for (int32_t g = 0; !e->is_uneven && g < e->how->gpu_count && e->base.left > 0 && st == XY_OK;
         g++)
        st = turn(e, g, is_moving_p);
    if (*is_moving_p)
        e->is_pressed = false;
    return st;
}

/* The run has ended or stopped: what cores still run ends, what gathers does not begin. */
static xy_status_t end_jobs(device_tasks_t *e)
{
    xy_status_t st = XY_OK;

    device_jobs_drop(e);
    while (e->job_used > 0 && st == XY_OK) {
        bool is_moving = false;

        st = device_jobs_wait(e, &is_moving);
    }
    return st;
}

xy_status_t device_run(device_tasks_t *e)
{
    xy_status_t st = XY_OK;

    for (xy_op_id_t i = 0; i < xy_graph_ops(e->order) && st == XY_OK; i++)
        if (xy_graph_predecessors(e->order, i) == 0)
            st = announce(e, i);
    while (e->base.left + e->post.left > 0 && st == XY_OK && !device_is_stopped(e)) {
        bool is_moving;

        st = round_of_all(e, &is_moving);
        if (st == XY_OK && !is_moving && e->base.left + e->post.left > 0)
            st = rest(e);
    }
    if (st == XY_OK)
        st = end_jobs(e);
    if (st == XY_OK && e->post.left + e->base.left > 0 && e->how->share != NULL)
        st = device_messages_pass(e);
    for (int32_t g = 0; g < e->how->gpu_count && st == XY_OK; g++)
        st = device_lane_drain(&e->devices[g].lanes[LANE_COMPUTE]);
    e->base.result.tasks_end = device_now(e) - e->start;
    return st == XY_OK ? device_flush(e) : st;
}
