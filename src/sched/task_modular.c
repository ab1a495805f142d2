/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * modular-ready: a scheduler put together from components.
 *                                      A decision costs O(tasks looked at), LOOKED_AT at most
 *
 *      ready tasks ->  [ root queue ]  -> [ minimum completion time ] -> [ queue ] -> worker 0
 *                                                                     -> [ queue ] -> worker 1
 *
 * Nothing is pushed down before a worker is empty and pulls. The root then gives the task that
 * misses the fewest data in the memory of the one who pulls; the component below may send it to
 * another worker whose queue has room and where it would end earlier, and the root is asked again.
 * The queues of workers are short and also give the task with the fewest missing data first.
 */
#include "sched/task_internal.h"

enum { QUEUE_ROOM = 2, LOOKED_AT = 1024 };

typedef struct {
    const xy_task_view_t *view;
    xy_task_params_t params;
    sched_links_t links;
    sched_queue_t root;
    sched_queue_t *queues; /* [workers] */
    double *end;           /* [workers] estimated */
} modular_t;

static void destroy(void *state)
{
    modular_t *s = state;

    if (s == NULL)
        return;
    sched_links_cleanup(&s->links);
    xy_free(s->queues);
    xy_free(s->end);
    xy_free(s);
}

static xy_status_t create(const xy_task_view_t *view, const xy_task_params_t *params,
                          void **state_p)
{
    modular_t *s = xy_calloc(1, sizeof(*s));

    if (s == NULL)
        return xy_fail_memory("putting the scheduler together");
    s->view = view;
    s->params = *params;
    s->root = SCHED_QUEUE_EMPTY;
    s->queues = xy_calloc((size_t)view->workers, sizeof(*s->queues));
    s->end = xy_calloc((size_t)view->workers, sizeof(*s->end));
    if (s->queues == NULL || s->end == NULL ||
        sched_links_init(&s->links, xy_graph_ops(view->graph)) != XY_OK) {
        destroy(s);
        return xy_fail_memory("putting the scheduler together");
    }
    for (int32_t w = 0; w < view->workers; w++)
        s->queues[w] = SCHED_QUEUE_EMPTY;
    *state_p = s;
    return XY_OK;
}

static void ready(void *state, xy_op_id_t op)
{
    modular_t *s = state;

    sched_queue_push(&s->root, &s->links, op);
}

static double end_on(const modular_t *s, xy_op_id_t op, int32_t worker)
{
    double start = s->end[worker] > *s->view->now ? s->end[worker] : *s->view->now;

    return start + s->params.alpha * xy_task_seconds(s->view, op, worker) +
           s->params.beta * xy_task_transfer(s->view, op, s->view->memory_of[worker]);
}

/* Who should have it: `puller`, unless somebody with room would end it earlier. */
static int32_t best_worker(const modular_t *s, xy_op_id_t op, int32_t puller)
{
    int32_t best = puller;
    double best_end = end_on(s, op, puller);

    for (int32_t w = 0; w < s->view->workers; w++) {
        double end = s->queues[w].count < QUEUE_ROOM ? end_on(s, op, w) : best_end;

        if (end < best_end) {
            best = w;
            best_end = end;
        }
    }
    return best;
}

static void pull(modular_t *s, int32_t worker)
{
    int32_t memory = s->view->memory_of[worker];

    while (s->queues[worker].count == 0 && s->root.count > 0) {
        xy_op_id_t op = sched_queue_nearest(&s->root, &s->links, s->view, memory, LOOKED_AT);
        int32_t w = best_worker(s, op, worker);

        sched_queue_remove(&s->root, &s->links, op);
        s->end[w] = end_on(s, op, w);
        sched_queue_push(&s->queues[w], &s->links, op);
    }
}

static xy_op_id_t pick(void *state, int32_t worker)
{
    modular_t *s = state;
    sched_queue_t *queue = &s->queues[worker];
    xy_op_id_t op;

    if (queue->count == 0)
        pull(s, worker);
    op = sched_queue_nearest(queue, &s->links, s->view, s->view->memory_of[worker], LOOKED_AT);
    if (op >= 0)
        sched_queue_remove(queue, &s->links, op);
    return op;
}

static void done(void *state, int32_t worker, xy_op_id_t op)
{
    modular_t *s = state;

    (void)op;
    if (s->queues[worker].count == 0)
        s->end[worker] = *s->view->now;
}

const xy_task_policy_t sched_task_modular = {
    .name = "modular-ready",
    .describe = "from components: ready-aware root, minimum completion time, ready-aware queues",
    .eviction = "clean-first",
    .create = create,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
    .done = done,
};
