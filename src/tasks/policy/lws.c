/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lws: locality work stealing.                         A decision costs O(1), O(workers) to steal
 *
 * A task that becomes ready joins the queue of the worker whose end made it ready: what it reads
 * was just there. A worker takes its oldest task; with none left it steals the youngest of the
 * nearest worker that has some, 1, 2, ... to the right and to the left.
 *
 *   queues 0: a b c   1: -         worker 1 steals c
 *
 * The first tasks, which depend on no other, are dealt out in runs of equal length.
 */
#include "tasks/policy/policy_internal.h"

typedef struct {
    const xy_task_view_t *view;
    xy_task_links_t links;
    xy_task_list_t *queues; /* [workers] */
    int32_t releasing;      /* worker whose end is making tasks ready; -1: the start */
    int32_t dealt, initial;
} lws_t;

static void destroy(void *state)
{
    lws_t *l = state;

    if (l == NULL)
        return;
    xy_task_links_cleanup(&l->links);
    xy_free(l->queues);
    xy_free(l);
}

/* Creates the policy, with one queue per worker. */
static xy_status_t create(const xy_task_view_t *view, const xy_task_params_t *params,
                          void **state_p)
{
    int32_t ops = xy_graph_ops(view->graph);
    lws_t *l = xy_calloc(1, sizeof(*l));

    (void)params;
    if (l == NULL)
        return xy_fail_memory("preparing the queues of workers");
    l->view = view;
    l->releasing = -1;
    l->queues = xy_calloc((size_t)view->workers, sizeof(*l->queues));
    if (l->queues == NULL || xy_task_links_init(&l->links, ops) != XY_OK) {
        destroy(l);
        return xy_fail_memory("preparing the queues of workers");
    }
    for (int32_t w = 0; w < view->workers; w++)
        l->queues[w] = XY_TASK_LIST_EMPTY;
    for (int32_t i = 0; i < ops; i++)
        l->initial += xy_graph_predecessors(view->graph, i) == 0;
    *state_p = l;
    return XY_OK;
}

static void ready(void *state, xy_op_id_t op)
{
    lws_t *l = state;
    int32_t w = l->releasing;

    if (w < 0) {
        w = (int32_t)((int64_t)l->dealt * l->view->workers / (l->initial > 0 ? l->initial : 1));
        l->dealt++;
    }
    xy_task_list_push(&l->queues[w < l->view->workers ? w : 0], &l->links, op);
}

static xy_op_id_t steal(lws_t *l, int32_t victim)
{
    xy_op_id_t op = l->queues[victim].tail;

    if (op >= 0)
        xy_task_list_remove(&l->queues[victim], &l->links, op);
    return op;
}

static xy_op_id_t pick(void *state, int32_t worker)
{
    lws_t *l = state;
    int32_t n = l->view->workers;
    xy_op_id_t op = xy_task_list_pop(&l->queues[worker], &l->links);

    for (int32_t d = 1; op < 0 && d <= n / 2; d++) {
        op = steal(l, (worker + d) % n);
        if (op < 0)
            op = steal(l, (worker + n - d) % n);
    }
    return op;
}

static void done(void *state, int32_t worker, xy_op_id_t op)
{
    (void)op;
    ((lws_t *)state)->releasing = worker;
}

const xy_task_policy_t policy_lws = {
    .name = "lws",
    .pipeline = 1,
    .describe = "tasks stay with the worker that made them ready; idle workers steal nearby",
    .eviction = "clean-first",
    .create = create,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
    .done = done,
};
