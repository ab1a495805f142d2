/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * darts: load the datum that makes most ready tasks runnable.
 *                                              A decision costs O(ready tasks that miss one datum)
 *
 * Gonthier, Marchal and Thibault's data-aware reactive scheduling. A worker without a planned task
 * takes all ready tasks whose data are there; when there is none, it looks for the datum that the
 * most ready tasks miss as their only one, loads it, and plans these tasks:
 *
 *   ready tasks that miss one datum: a needs x, b needs y, c needs y      load y, then run b and c
 *
 * It does not look beyond the ready tasks, as closure does. A full memory gives up what no planned
 * task uses, the least recently used first.
 */
#include "tasks/policy/policy_internal.h"

enum { LOOKED_AT = 512 };

typedef struct {
    const xy_task_view_t *view;
    policy_near_t *pool;             /* [memories]: all that wait, by what each memory lacks */
    policy_near_links_t *pool_links; /* [memories]; those without a worker have none */
    xy_task_uses_t uses;
    bool *has_left; /* [ops] the pool */
    xy_task_links_t links;
    xy_task_list_t *planned; /* [workers] */
    int32_t *votes;          /* [data] ready tasks that miss only this one */
} darts_t;

/* Frees the policy; NULL is allowed. */
static void destroy(void *state)
{
    darts_t *d = state;

    if (d == NULL)
        return;
    for (int32_t m = 0; d->pool_links != NULL && m < d->view->memories; m++)
        policy_near_links_cleanup(&d->pool_links[m]);
    xy_free(d->pool);
    xy_free(d->pool_links);
    xy_task_uses_cleanup(&d->uses);
    xy_free(d->has_left);
    xy_task_links_cleanup(&d->links);
    xy_free(d->planned);
    xy_free(d->votes);
    xy_free(d);
}

/* Allocates one pool of tasks per memory with workers; destroy() also frees a part of them. */
static xy_status_t init(darts_t *d, const xy_task_view_t *view)
{
    int32_t ops = xy_graph_ops(view->graph);

    d->view = view;
    d->pool = xy_calloc((size_t)view->memories, sizeof(*d->pool));
    d->pool_links = xy_calloc((size_t)view->memories, sizeof(*d->pool_links));
    d->has_left = xy_calloc((size_t)ops + 1, sizeof(*d->has_left));
    d->planned = xy_calloc((size_t)view->workers, sizeof(*d->planned));
    d->votes = xy_calloc((size_t)xy_graph_data_count(view->graph) + 1, sizeof(*d->votes));
    if (d->pool == NULL || d->pool_links == NULL || d->has_left == NULL || d->planned == NULL ||
        d->votes == NULL || xy_task_links_init(&d->links, ops) != XY_OK ||
        xy_task_uses_init(&d->uses, view->graph) != XY_OK)
        return XY_ENOMEM;
    for (int32_t w = 0; w < view->workers; w++) {
        int32_t m = view->memory_of[w];

        d->planned[w] = XY_TASK_LIST_EMPTY;
        if (d->pool[m].links != NULL)
            continue;
        if (policy_near_links_init(&d->pool_links[m], view->graph) != XY_OK)
            return XY_ENOMEM;
        policy_near_init(&d->pool[m], view, m, 0, &d->pool_links[m]);
    }
    return XY_OK;
}

/* Creates the policy. */
static xy_status_t create(const xy_task_view_t *view, const xy_task_params_t *params,
                          void **state_p)
{
    darts_t *d = xy_calloc(1, sizeof(*d));

    (void)params;
    if (d == NULL)
        return xy_fail_memory("preparing the pool of tasks");
    if (init(d, view) != XY_OK) {
        destroy(d);
        return xy_fail_memory("preparing the pool of tasks");
    }
    *state_p = d;
    return XY_OK;
}

static void ready(void *state, xy_op_id_t op)
{
    darts_t *d = state;

    for (int32_t m = 0; m < d->view->memories; m++)
        if (d->pool[m].links != NULL)
            policy_near_push(&d->pool[m], op);
}

static void arrived(void *state, int32_t memory, int32_t data)
{
    darts_t *d = state;

    if (d->pool[memory].links != NULL)
        policy_near_arrived(&d->pool[memory], &d->uses, d->has_left, data);
}

static void plan(darts_t *d, int32_t worker, xy_op_id_t op)
{
    d->has_left[op] = true;
    for (int32_t m = 0; m < d->view->memories; m++)
        if (d->pool[m].links != NULL)
            policy_near_remove(&d->pool[m], op);
    xy_task_list_push(&d->planned[worker], &d->links, op);
}

/* The only datum that a task misses in the memory; -1: none, or several. */
static int32_t only_missing(const darts_t *d, xy_op_id_t op, int32_t memory)
{
    const xy_access_t *a;
    int32_t found = -1;

    for (int32_t k = xy_graph_accesses(d->view->graph, op, &a) - 1; k >= 0; k--) {
        if (!(a[k].mode & XY_ACCESS_READ) || d->view->copies[memory][a[k].data] != 0)
            continue;
        if (found >= 0)
            return -1;
        found = a[k].data;
    }
    return found;
}

/* The datum that most of the tasks that miss one miss; -1: there is none. */
static int32_t choose_datum(darts_t *d, int32_t memory)
{
    const policy_near_t *pool = &d->pool[memory];
    const xy_op_id_t *next = pool->links->links.next;
    int32_t best = -1, n = 0;

    for (xy_op_id_t op = pool->lists[1].head; op >= 0 && n < LOOKED_AT; op = next[op], n++) {
        int32_t data = only_missing(d, op, memory);

        if (data >= 0 && (++d->votes[data], best < 0 || d->votes[data] > d->votes[best]))
            best = data;
    }
    n = 0;
    for (xy_op_id_t op = pool->lists[1].head; op >= 0 && n < LOOKED_AT; op = next[op], n++) {
        int32_t data = only_missing(d, op, memory);

        if (data >= 0)
            d->votes[data] = 0;
    }
    return best;
}

/* Plan all tasks that the datum makes runnable, or else the task that misses the fewest. */
static void plan_next(darts_t *d, int32_t worker)
{
    int32_t memory = d->view->memory_of[worker], data, n = 0;
    policy_near_t *pool = &d->pool[memory];
    xy_op_id_t first = policy_near_first(pool);

    if (first < 0)
        return;
    data = only_missing(d, first, memory) >= 0 ? choose_datum(d, memory) : -1;
    if (data < 0) {
        plan(d, worker, first);
        return;
    }
    for (xy_op_id_t op = pool->lists[1].head, next; op >= 0 && n < LOOKED_AT; op = next, n++) {
        next = pool->links->links.next[op];
        if (only_missing(d, op, memory) == data)
            plan(d, worker, op);
    }
}

static xy_op_id_t pick(void *state, int32_t worker)
{
    darts_t *d = state;

    if (d->planned[worker].count == 0)
        plan_next(d, worker);
    return xy_task_list_pop(&d->planned[worker], &d->links);
}

const xy_task_policy_t policy_darts = {
    .name = "darts",
    .describe = "loads the datum that makes most ready tasks runnable, then runs them",
    .eviction = "clean-first",
    .create = create,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
    .arrived = arrived,
};
