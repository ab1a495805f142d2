/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * eager and prio: one central queue.            A decision costs O(1), or O(log ready) by priority
 *
 * eager hands out tasks in the order they became ready; data follow the tasks wherever they go.
 * prio hands out the highest priority first, the oldest among equals. When a stencil gives the
 * iteration as priority, prio fakes locality: it advances whatever can be advanced furthest,
 *
 *   ready (block, iteration):  (1,0) (3,0) (2,1)      eager takes (1,0), prio takes (2,1)
 *
 * until the band of blocks in progress is wider than the memory and nothing is used twice.
 */
#include "tasks/policy/policy_internal.h"

typedef struct {
    const xy_task_view_t *view;
    bool is_by_priority;
    xy_heap_t heap; /* room is reserved: pushing cannot fail */
    char *names;    /* the heap holds pointers: task i is &names[i] */
} central_t;

static void destroy(void *state)
{
    central_t *c = state;

    if (c == NULL)
        return;
    xy_heap_cleanup(&c->heap);
    xy_free(c->names);
    xy_free(c);
}

/* Grow the heap to its final size by pushing and popping, so that ready() has no error to tell. */
static xy_status_t reserve(central_t *c, int32_t ops)
{
    for (int32_t i = 0; i < ops; i++)
        if (xy_heap_push(&c->heap, 0, &c->names[i]) != XY_OK)
            return XY_ENOMEM;
    c->heap.count = 0;
    return XY_OK;
}

/* Creates a central queue, in order of arrival or by priority. */
static xy_status_t create_any(const xy_task_view_t *view, bool is_by_priority, void **state_p)
{
    int32_t ops = xy_graph_ops(view->graph);
    central_t *c = xy_calloc(1, sizeof(*c));

    if (c == NULL)
        return xy_fail_memory("preparing the queue of tasks");
    c->view = view;
    c->is_by_priority = is_by_priority;
    c->names = xy_malloc((size_t)ops + 1);
    if (c->names == NULL || reserve(c, ops) != XY_OK) {
        destroy(c);
        return xy_fail_memory("preparing the queue of tasks");
    }
    *state_p = c;
    return XY_OK;
}

static xy_status_t create_eager(const xy_task_view_t *view, const xy_task_params_t *params,
                                void **state_p)
{
    (void)params;
    return create_any(view, false, state_p);
}

static xy_status_t create_prio(const xy_task_view_t *view, const xy_task_params_t *params,
                               void **state_p)
{
    (void)params;
    return create_any(view, true, state_p);
}

static void ready(void *state, xy_op_id_t op)
{
    central_t *c = state;
    double key = c->is_by_priority ? -(double)xy_graph_op(c->view->graph, op)->priority : 0;

    (void)xy_heap_push(&c->heap, key, &c->names[op]);
}

static xy_op_id_t pick(void *state, int32_t worker)
{
    central_t *c = state;
    char *p = xy_heap_pop(&c->heap, NULL);

    (void)worker;
    return p == NULL ? -1 : (xy_op_id_t)(p - c->names);
}

const xy_task_policy_t policy_eager = {
    .name = "eager",
    .pipeline = 1,
    .describe = "one central queue, first ready first served",
    .eviction = "clean-first",
    .create = create_eager,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
};

const xy_task_policy_t policy_prio = {
    .name = "prio",
    .describe = "one central queue, highest priority first",
    .eviction = "clean-first",
    .create = create_prio,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
};
