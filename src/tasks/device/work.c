/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop: ask the policy, bring the data, put the kernel into its stream, tell the policy. */
#include "tasks/device/device_internal.h"

static xy_op_id_t pick(device_tasks_t *e, int32_t gpu)
{
    double start = xy_now();
    xy_op_id_t op;

    e->now = start - e->start;
    op = e->policy->pick(e->state, gpu);
    e->result.scheduling_seconds += xy_now() - start;
    return op;
}

/* For the policy the task is over. */
static void end(device_tasks_t *e, int32_t gpu, xy_op_id_t op)
{
    const xy_op_id_t *after;
    int32_t n = xy_graph_successors(e->graph, op, &after);
    double start = xy_now();

    e->is_over[op] = true;
    e->left--;
    e->result.tasks++;
    if (e->policy->done != NULL)
        e->policy->done(e->state, gpu, op);
    for (int32_t i = 0; i < n; i++)
        if (--e->waiting[after[i]] == 0)
            e->policy->ready(e->state, after[i]);
    e->result.scheduling_seconds += xy_now() - start;
}

static xy_status_t run_here(device_tasks_t *e, xy_op_id_t op)
{
    xy_status_t st = device_gather_home(e, op);

    if (st == XY_OK)
        e->how->run(e->how->arg, op, e->addresses);
    return st;
}

static xy_status_t run_there(device_tasks_t *e, int32_t gpu, xy_op_id_t op)
{
    lane_t *lane = &e->devices[gpu].lanes[LANE_COMPUTE];
    xy_task_kernel_t kernel = {.gpu = gpu, .op = op, .stream = lane->stream, .buffers = e->buffers};
    ticket_t ticket;
    xy_status_t st = device_gather(e, gpu, op);

    if (st == XY_OK)
        st = device_lane_begin(lane);
    if (st == XY_OK)
        st = e->how->launch(e->how->arg, &kernel);
    if (st == XY_OK)
        st = device_lane_end(lane, op, &ticket);
    if (st == XY_OK)
        device_used(e, gpu, op, ticket);
    return st;
}

static xy_status_t run_task(device_tasks_t *e, int32_t gpu, xy_op_id_t op)
{
    bool is_here = e->how->is_for_gpu != NULL && !e->how->is_for_gpu(e->how->arg, op);
    xy_status_t st = is_here ? run_here(e, op) : run_there(e, gpu, op);

    if (st == XY_OK)
        end(e, gpu, op);
    return st;
}

/* One task, if the policy has one, and what the plan says about data. *is_moving_p: something
 * happened. */
static xy_status_t turn(device_tasks_t *e, int32_t gpu, bool *is_moving_p)
{
    uint64_t loads = e->result.loads;
    xy_op_id_t op = pick(e, gpu);
    xy_status_t st = op >= 0 ? run_task(e, gpu, op) : XY_OK;

    if (st == XY_OK && e->policy->prefetch != NULL && e->left > 0)
        st = device_prefetch(e, gpu);
    if (st == XY_OK && e->policy->is_writing_early)
        st = device_store_early(e, gpu);
    *is_moving_p = *is_moving_p || op >= 0 || e->result.loads > loads;
    return st;
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

xy_status_t device_run(device_tasks_t *e)
{
    xy_status_t st = XY_OK;

    for (xy_op_id_t i = 0; i < e->ops; i++)
        if (e->waiting[i] == 0)
            e->policy->ready(e->state, i);
    while (e->left > 0 && st == XY_OK) {
        bool is_moving = false;

        for (int32_t g = 0; g < e->how->gpu_count && e->left > 0 && st == XY_OK; g++)
            st = turn(e, g, &is_moving);
        if (st == XY_OK && !is_moving)
            st = wait_for_loads(e, &is_moving);
        if (st == XY_OK && !is_moving)
            st = xy_fail(XY_EINVAL,
                         "policy %s left %d of %d tasks undone: it chose none of the ready ones",
                         e->policy->name, e->left, e->ops);
    }
    for (int32_t g = 0; g < e->how->gpu_count && st == XY_OK; g++)
        st = device_lane_drain(&e->devices[g].lanes[LANE_COMPUTE]);
    e->result.tasks_end = xy_now() - e->start;
    return st == XY_OK ? device_flush(e) : st;
}
