/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * modular-ready: a scheduler put together from components.
 *                                      A decision costs O(memories + workers)
 *
 *      ready tasks ->  [ root queue ]  -> [ minimum completion time ] -> [ queue ] -> worker 0
 *                                                                     -> [ queue ] -> worker 1
 *
 * Nothing is pushed down before a worker is empty and pulls. The root then gives the task that
 * misses the fewest data in the memory of the one who pulls; the component below may send it to
 * another worker whose queue has room and where it would end earlier, and the root is asked again.
 * The queues of workers are short and also give the task with the fewest missing data first.
 */
#include <math.h>

#include "tasks/policy/policy_internal.h"

enum { QUEUE_ROOM = 2 };

typedef struct {
    const xy_task_view_t *view;
    xy_task_params_t params;
    policy_near_t *root;             /* [memories]: all that wait, by what each memory lacks */
    policy_near_links_t *root_links; /* [memories]; those without a worker have none */
    xy_task_uses_t uses;
    bool *has_left; /* [ops] the root */
    xy_task_links_t links;
    xy_task_list_t *queues; /* [workers] */
    double *end;            /* [workers] estimated */
} modular_t;

/* Frees the policy; NULL is allowed. */
static void destroy(void *state)
{
    modular_t *s = state;

    if (s == NULL)
        return;
    for (int32_t m = 0; s->root_links != NULL && m < s->view->memories; m++)
        policy_near_links_cleanup(&s->root_links[m]);
    xy_free(s->root);
    xy_free(s->root_links);
    xy_task_uses_cleanup(&s->uses);
    xy_free(s->has_left);
    xy_task_links_cleanup(&s->links);
    xy_free(s->queues);
    xy_free(s->end);
    xy_free(s);
}

/* Allocates one root pool per memory and one queue per worker; destroy() also frees a part of
 * them. */
static xy_status_t init(modular_t *s, const xy_task_view_t *view)
{
    int32_t ops = xy_graph_ops(view->graph);

    s->root = xy_calloc((size_t)view->memories, sizeof(*s->root));
    s->root_links = xy_calloc((size_t)view->memories, sizeof(*s->root_links));
    s->has_left = xy_calloc((size_t)ops + 1, sizeof(*s->has_left));
    s->queues = xy_calloc((size_t)view->workers, sizeof(*s->queues));
    s->end = xy_calloc((size_t)view->workers, sizeof(*s->end));
    if (s->root == NULL || s->root_links == NULL || s->has_left == NULL || s->queues == NULL ||
        s->end == NULL || xy_task_links_init(&s->links, ops) != XY_OK ||
        xy_task_uses_init(&s->uses, view->graph) != XY_OK)
        return XY_ENOMEM;
    for (int32_t w = 0; w < view->workers; w++) {
        int32_t m = view->memory_of[w];

        s->queues[w] = XY_TASK_LIST_EMPTY;
        if (s->root[m].links != NULL)
            continue;
        if (policy_near_links_init(&s->root_links[m], view->graph) != XY_OK)
            return XY_ENOMEM;
        policy_near_init(&s->root[m], view, m, 0, &s->root_links[m]);
    }
    return XY_OK;
}

/* Creates the policy. */
static xy_status_t create(const xy_task_view_t *view, const xy_task_params_t *params,
                          void **state_p)
{
    modular_t *s = xy_calloc(1, sizeof(*s));

    if (s == NULL)
        return xy_fail_memory("putting the scheduler together");
    s->view = view;
    s->params = *params;
    if (init(s, view) != XY_OK) {
        destroy(s);
        return xy_fail_memory("putting the scheduler together");
    }
    *state_p = s;
    return XY_OK;
}

static void ready(void *state, xy_op_id_t op)
{
    modular_t *s = state;

    for (int32_t m = 0; m < s->view->memories; m++)
        if (s->root[m].links != NULL)
            policy_near_push(&s->root[m], op);
}

static void leave_root(modular_t *s, xy_op_id_t op)
{
    s->has_left[op] = true;
    for (int32_t m = 0; m < s->view->memories; m++)
        if (s->root[m].links != NULL)
            policy_near_remove(&s->root[m], op);
}

static void arrived(void *state, int32_t memory, int32_t data)
{
    modular_t *s = state;

    if (s->root[memory].links != NULL)
        policy_near_arrived(&s->root[memory], &s->uses, s->has_left, data);
}

/* When it would end there; where that is not before `limit`, some time that is not either. */
static double end_on(const modular_t *s, xy_op_id_t op, int32_t worker, double limit)
{
    double start = s->end[worker] > *s->view->now ? s->end[worker] : *s->view->now, slack;

    start += s->params.alpha * xy_task_seconds(s->view, op, worker);
    slack = limit - start;
    if (slack < 0 || s->params.beta <= 0)
        return start;
    slack += 1e-9 * limit; /* far above what rounding adds */
    return start + s->params.beta * xy_task_transfer_within(s->view, op, s->view->memory_of[worker],
                                                            slack / s->params.beta);
}

/* The worker to run it: `puller`, unless another one with room would end it earlier. */
static int32_t best_worker(const modular_t *s, xy_op_id_t op, int32_t puller, double *end_p)
{
    int32_t best = puller;
    double best_end = end_on(s, op, puller, INFINITY);

    for (int32_t w = 0; w < s->view->workers; w++) {
        double end;

        if (s->queues[w].count >= QUEUE_ROOM)
            continue;
        end = end_on(s, op, w, best_end);

        if (end < best_end) {
            best = w;
            best_end = end;
        }
    }
    *end_p = best_end;
    return best;
}

/* Moves tasks from the root to the queues of their best workers until `worker` has one. */
static void pull(modular_t *s, int32_t worker)
{
    policy_near_t *root = &s->root[s->view->memory_of[worker]];

    while (s->queues[worker].count == 0 && root->count > 0) {
        xy_op_id_t op = policy_near_first(root);
        double end;
        int32_t w = best_worker(s, op, worker, &end);

        leave_root(s, op);
        s->end[w] = end;
        xy_task_list_push(&s->queues[w], &s->links, op);
    }
}

static xy_op_id_t pick(void *state, int32_t worker)
{
    modular_t *s = state;
    xy_task_list_t *queue = &s->queues[worker];
    xy_op_id_t op;

    if (queue->count == 0)
        pull(s, worker);
    op = policy_list_nearest(queue, &s->links, s->view, s->view->memory_of[worker], INT32_MAX);
    if (op >= 0)
        xy_task_list_remove(queue, &s->links, op);
    return op;
}

static void done(void *state, int32_t worker, xy_op_id_t op)
{
    modular_t *s = state;

    (void)op;
    if (s->queues[worker].count == 0)
        s->end[worker] = *s->view->now;
}

const xy_task_policy_t policy_modular = {
    .name = "modular-ready",
    .describe = "from components: ready-aware root, minimum completion time, ready-aware queues",
    .eviction = "clean-first",
    .create = create,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
    .done = done,
    .arrived = arrived,
};
