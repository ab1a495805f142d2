/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dmda, dmdar and dmdas: a queue per worker, and a task goes where it will end first.
 *                                            A decision costs O(workers)
 *
 *   end(worker) = end of its queue + alpha * computation + beta * transfer of what is missing
 *
 * The missing data of a queued task are prefetched as long as there is room. dmda takes the queue
 * in order; dmdar takes the task of the queue whose data are nearest to be there; dmdas that of the
 * highest priority, among equals like dmdar:
 *
 *   queue (missing, priority): a(2,0) b(1,1) c(0,0)     dmda runs a, dmdar runs c, dmdas runs b
 */
#include <math.h>

#include "tasks/policy/policy_internal.h"

enum { SORTED_LOOKED_AT = 64 };

typedef struct {
    double end;    /* estimated, of what it was given */
    double length; /* seconds of what it was given and has not ended */
    xy_task_list_t queue;
    policy_near_t near;  /* dmdar: the same tasks, by what is missing */
    xy_op_id_t fetching; /* next of the queue to prefetch for; -1: none */
} lane_t;

typedef struct {
    const xy_task_view_t *view;
    xy_task_params_t params;
    bool is_ready_first, is_sorted;
    xy_task_links_t links;
    policy_near_links_t near_links; /* dmdar */
    xy_task_uses_t uses;
    bool *has_left;    /* [ops] */
    double *estimate;  /* [ops] seconds of computation that it added to the end of its lane */
    lane_t *lanes;     /* [workers] */
    int32_t releasing; /* worker whose task was the last to end */
} dm_t;

/* Frees the policy; NULL is allowed. */
static void destroy(void *state)
{
    dm_t *d = state;

    if (d == NULL)
        return;
    xy_task_links_cleanup(&d->links);
    policy_near_links_cleanup(&d->near_links);
    xy_task_uses_cleanup(&d->uses);
    xy_free(d->has_left);
    xy_free(d->estimate);
    xy_free(d->lanes);
    xy_free(d);
}

static xy_status_t init_near(dm_t *d)
{
    if (!d->is_ready_first)
        return XY_OK;
    d->has_left = xy_calloc((size_t)xy_graph_ops(d->view->graph) + 1, sizeof(*d->has_left));
    if (d->has_left == NULL || policy_near_links_init(&d->near_links, d->view->graph) != XY_OK ||
        xy_task_uses_init(&d->uses, d->view->graph) != XY_OK)
        return XY_ENOMEM;
    for (int32_t w = 0; w < d->view->workers; w++)
        policy_near_init(&d->lanes[w].near, d->view, d->view->memory_of[w], w, &d->near_links);
    return XY_OK;
}

/* Creates dmda; with `is_ready_first`, workers prefer tasks whose data are present. */
static xy_status_t create_any(const xy_task_view_t *view, const xy_task_params_t *params,
                              bool is_ready_first, void **state_p)
{
    int32_t ops = xy_graph_ops(view->graph);
    dm_t *d = xy_calloc(1, sizeof(*d));

    if (d == NULL)
        return xy_fail_memory("preparing the queues of workers");
    d->view = view;
    d->params = *params;
    d->is_ready_first = is_ready_first;
    d->lanes = xy_calloc((size_t)view->workers, sizeof(*d->lanes));
    d->estimate = xy_calloc((size_t)ops + 1, sizeof(*d->estimate));
    if (d->lanes == NULL || d->estimate == NULL || xy_task_links_init(&d->links, ops) != XY_OK ||
        init_near(d) != XY_OK) {
        destroy(d);
        return xy_fail_memory("preparing the queues of workers");
    }
    for (int32_t w = 0; w < view->workers; w++) {
        d->lanes[w].queue = XY_TASK_LIST_EMPTY;
        d->lanes[w].fetching = -1;
    }
    *state_p = d;
    return XY_OK;
}

static xy_status_t create_dmda(const xy_task_view_t *view, const xy_task_params_t *params,
                               void **state_p)
{
    return create_any(view, params, false, state_p);
}

static xy_status_t create_dmdar(const xy_task_view_t *view, const xy_task_params_t *params,
                                void **state_p)
{
    return create_any(view, params, true, state_p);
}

static xy_status_t create_dmdas(const xy_task_view_t *view, const xy_task_params_t *params,
                                void **state_p)
{
    xy_status_t st = create_any(view, params, false, state_p);

    if (st == XY_OK)
        ((dm_t *)*state_p)->is_sorted = true;
    return st;
}

static double start_on(const dm_t *d, int32_t worker)
{
    return d->lanes[worker].end > *d->view->now ? d->lanes[worker].end : *d->view->now;
}

/* Transfers of all GPUs and both directions share a link, so each is expected to take 2 * GPUs
 * times what it would take alone, as StarPU has it. */
static double transfer_of(const dm_t *d, xy_op_id_t op, int32_t worker, double limit)
{
    double sharers = d->view->memories > 1 ? 2.0 * (d->view->memories - 1) : 1;

    return sharers *
           xy_task_transfer_within(d->view, op, d->view->memory_of[worker], limit / sharers);
}

/* The cost of a task on a worker; where it is more than `limit`, any larger value. The margin is
 * far above what rounding adds, so that equal ends stay equal. */
static double cost_on(const dm_t *d, xy_op_id_t op, int32_t worker, double limit)
{
    double cost = d->params.alpha * xy_task_seconds(d->view, op, worker);

    limit += 1e-9 * (fabs(limit) + *d->view->now);
    if (cost > limit || d->params.beta <= 0)
        return cost;
    return cost + d->params.beta * transfer_of(d, op, worker, (limit - cost) / d->params.beta);
}

/* The lane ends later by the computation. Transfers continue meanwhile: they delay it only where
 * they take longer than all that is before them, whatever weight they had in the choice. The delay
 * stays in the lane's length until the task is complete. */
static void give(dm_t *d, xy_op_id_t op, int32_t worker)
{
    lane_t *lane = &d->lanes[worker];
    double arrival = *d->view->now + transfer_of(d, op, worker, INFINITY);
    double start = start_on(d, worker), delay = fmax(0, arrival - start);

    d->estimate[op] = delay + xy_task_seconds(d->view, op, worker);
    lane->end = start + d->estimate[op];
    lane->length += d->estimate[op];
}

/* Behind those of its priority and above; tasks of later iterations come near the head. */
static void insert_sorted(dm_t *d, xy_task_list_t *queue, xy_op_id_t op)
{
    int32_t priority = xy_graph_op(d->view->graph, op)->priority;
    xy_op_id_t at = queue->head;

    while (at >= 0 && xy_graph_op(d->view->graph, at)->priority >= priority)
        at = d->links.next[at];
    xy_task_list_insert(queue, &d->links, op, at);
}

/* The task with the fewest missing data among those of the highest priority. */
static xy_op_id_t first_sorted(const dm_t *d, const xy_task_list_t *queue, int32_t memory)
{
    int32_t priority = xy_graph_op(d->view->graph, queue->head)->priority;
    xy_op_id_t best = queue->head, op = queue->head;
    uint64_t fewest = UINT64_MAX;

    for (int i = 0; op >= 0 && i < SORTED_LOOKED_AT; i++, op = d->links.next[op]) {
        uint64_t missing = xy_task_missing(d->view, op, memory);

        if (xy_graph_op(d->view->graph, op)->priority != priority)
            break;
        if (missing < fewest) {
            fewest = missing;
            best = op;
        }
    }
    return best;
}

/* Queues a task at the worker on which it is expected to end first. */
static void ready(void *state, xy_op_id_t op)
{
    dm_t *d = state;
    /* The worker whose end made it ready holds some of its data: a good first bound, which spares
     * most of the others. */
    double limit = start_on(d, d->releasing) + cost_on(d, op, d->releasing, INFINITY);
    double best_end = INFINITY;
    int32_t best = d->releasing;

    for (int32_t w = 0; w < d->view->workers; w++) {
        double start = start_on(d, w), cost;

        if (start > limit && best_end < INFINITY)
            continue;
        cost = cost_on(d, op, w, limit - start);
        if (start + cost < best_end) {
            best = w;
            best_end = start + cost;
            limit = best_end < limit ? best_end : limit;
        }
    }
    give(d, op, best);
    if (d->is_sorted)
        insert_sorted(d, &d->lanes[best].queue, op);
    else
        xy_task_list_push(&d->lanes[best].queue, &d->links, op);
    if (d->is_ready_first)
        policy_near_push(&d->lanes[best].near, op);
    if (d->lanes[best].fetching < 0)
        d->lanes[best].fetching = op;
}

/* Returns the next task of a worker's queue, or -1. */
static xy_op_id_t pick(void *state, int32_t worker)
{
    dm_t *d = state;
    lane_t *lane = &d->lanes[worker];
    xy_op_id_t op = lane->queue.head;

    if (op < 0)
        return -1;
    if (d->is_ready_first) {
        op = policy_near_first(&lane->near);
        policy_near_remove(&lane->near, op);
        d->has_left[op] = true;
    } else if (d->is_sorted) {
        op = first_sorted(d, &lane->queue, d->view->memory_of[worker]);
    }
    if (lane->fetching == op)
        lane->fetching = d->links.next[op];
    xy_task_list_remove(&lane->queue, &d->links, op);
    return op;
}

/* A completed task ends now: the lane ends after the rest of it, however late that is. */
static void done(void *state, int32_t worker, xy_op_id_t op)
{
    dm_t *d = state;
    lane_t *lane = &d->lanes[worker];

    d->releasing = worker;
    lane->length = lane->queue.count == 0 ? 0 : fmax(0, lane->length - d->estimate[op]);
    lane->end = *d->view->now + lane->length;
}

static void arrived(void *state, int32_t memory, int32_t data)
{
    dm_t *d = state;

    for (int32_t w = 0; w < d->view->workers; w++)
        if (d->view->memory_of[w] == memory)
            policy_near_arrived(&d->lanes[w].near, &d->uses, d->has_left, data);
}

static int32_t prefetch_for(dm_t *d, lane_t *lane, int32_t memory)
{
    for (; lane->fetching >= 0; lane->fetching = d->links.next[lane->fetching]) {
        const xy_access_t *a;
        int32_t n = xy_graph_accesses(d->view->graph, lane->fetching, &a);

        for (int32_t i = 0; i < n; i++)
            if ((a[i].mode & XY_ACCESS_READ) && d->view->copies[memory][a[i].data] == 0)
                return a[i].data;
    }
    return -1;
}

static int32_t prefetch(void *state, int32_t memory)
{
    dm_t *d = state;
    int32_t data = -1;

    for (int32_t w = 0; w < d->view->workers && data < 0; w++)
        if (d->view->memory_of[w] == memory)
            data = prefetch_for(d, &d->lanes[w], memory);
    return data;
}

const xy_task_policy_t policy_dmda = {
    .name = "dmda",
    .pipeline = 1,
    .describe = "assigns a task to the worker where it will end first, transfers included",
    .eviction = "clean-first",
    .create = create_dmda,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
    .done = done,
    .prefetch = prefetch,
};

const xy_task_policy_t policy_dmdar = {
    .name = "dmdar",
    .describe = "dmda, but a worker first runs the task with most of its data in memory",
    .eviction = "clean-first",
    .create = create_dmdar,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
    .done = done,
    .arrived = arrived,
    .prefetch = prefetch,
};

const xy_task_policy_t policy_dmdas = {
    .name = "dmdas",
    .describe = "dmda, but a worker first runs the task of the highest priority",
    .eviction = "clean-first",
    .create = create_dmdas,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
    .done = done,
    .prefetch = prefetch,
};
