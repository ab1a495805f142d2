/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * random: each task goes to a worker by lot, more often to a fast one.   A decision costs
 * O(workers)
 *
 * What any other policy should beat. The lots are the same in every run.
 */
#include "tasks/policy/policy_internal.h"

typedef struct {
    const xy_task_view_t *view;
    xy_task_links_t links;
    xy_task_list_t *queues; /* [workers] */
    double speed;           /* of all */
    uint64_t lot;
} random_t;

static void destroy(void *state)
{
    random_t *r = state;

    if (r == NULL)
        return;
    xy_task_links_cleanup(&r->links);
    xy_free(r->queues);
    xy_free(r);
}

/* Creates the policy; the sequence of random numbers is the same in every run. */
static xy_status_t create(const xy_task_view_t *view, const xy_task_params_t *params,
                          void **state_p)
{
    random_t *r = xy_calloc(1, sizeof(*r));

    (void)params;
    if (r != NULL) {
        r->view = view;
        r->lot = 1;
        r->queues = xy_calloc((size_t)view->workers, sizeof(*r->queues));
    }
    if (r == NULL || r->queues == NULL ||
        xy_task_links_init(&r->links, xy_graph_ops(view->graph)) != XY_OK) {
        destroy(r);
        return xy_fail_memory("preparing the queues of workers");
    }
    for (int32_t w = 0; w < view->workers; w++) {
        r->queues[w] = XY_TASK_LIST_EMPTY;
        r->speed += view->speed[w];
    }
    *state_p = r;
    return XY_OK;
}

static void ready(void *state, xy_op_id_t op)
{
    random_t *r = state;
    int32_t w = 0;
    double at;

    r->lot = r->lot * 6364136223846793005u + 1442695040888963407u;
    at = (double)(r->lot >> 11) / 9007199254740992.0 * r->speed;
    while (w + 1 < r->view->workers && at >= r->view->speed[w])
        at -= r->view->speed[w++];
    xy_task_list_push(&r->queues[w], &r->links, op);
}

static xy_op_id_t pick(void *state, int32_t worker)
{
    random_t *r = state;

    return xy_task_list_pop(&r->queues[worker], &r->links);
}

const xy_task_policy_t policy_random = {
    .name = "random",
    .describe = "each task goes to a random worker; a baseline for the others",
    .eviction = "clean-first",
    .create = create,
    .destroy = destroy,
    .ready = ready,
    .pick = pick,
};
