/* SPDX-License-Identifier: BSD-3-Clause */
/* A policy that is eager, and makes the mistake FAULT, if one is defined: each breaks one rule. */
#include <stdlib.h>
#include <xylem_plugin.h>

typedef struct {
    const xylem_policy_view *view;
    int32_t head, tail, last, queue[];
} eager;

static int create(const xylem_policy_view *view, void **state_p)
{
    eager *e = calloc(1, sizeof(*e) + sizeof(int32_t) * ((size_t)view->task_count + 1));

    if (e == NULL)
        return 1;
#ifdef REFUSES
    free(e);
    return 7;
#else
    e->view = view;
    e->last = -1;
    *state_p = e;
    return 0;
#endif
}

static void ready(void *state, int32_t task)
{
    eager *e = state;

    e->queue[e->tail++] = task;
}

static int32_t pick(void *state, int32_t worker)
{
    eager *e = state;

    (void)worker;
    if (e->head == e->tail)
        return -1;
#if defined(PICKS_TWICE)
    if (e->last >= 0)
        return e->last;
#elif defined(PICKS_UNREADY)
    return e->view->task_count - 1;
#elif defined(PICKS_BEYOND)
    return e->view->task_count;
#elif defined(PICKS_NOTHING)
    return -1;
#endif
    e->last = e->queue[e->head++];
    return e->last;
}

#if defined(EVICTS_USED)
static int32_t give_up(void *state, int32_t memory, int is_prefetch,
                       const xylem_plugin_free *may_go)
{
    const eager *e = state;

    (void)memory;
    (void)is_prefetch;
    for (int32_t d = 0; d < e->view->data_count; d++)
        if (!may_go->is_free(may_go->arg, d))
            return d;
    return -1;
}
#elif defined(EVICTS_BEYOND)
static int32_t give_up(void *state, int32_t memory, int is_prefetch,
                       const xylem_plugin_free *may_go)
{
    (void)state;
    (void)memory;
    (void)is_prefetch;
    return may_go->is_free(may_go->arg, 1 << 30) ? 0 : -5;
}
#else
#define give_up 0
#endif

#if defined(PREFETCHES_BEYOND)
static int32_t load_early(void *state, int32_t memory)
{
    (void)memory;
    return ((const eager *)state)->view->data_count;
}
#else
#define load_early 0
#endif

#ifndef NO_TABLE
const xylem_policy xylem_plugin_policy = {
#ifdef OTHER_VERSION
    .version = 99,
#else
    .version = XYLEM_PLUGIN_VERSION,
#endif
    .tasks_held = 1, /* as eager */
#ifdef UNKNOWN_EVICTION
    .eviction = "by-colour",
#endif
    .create = create,
    .destroy = free,
    .ready = ready,
#ifndef NO_PICK
    .pick = pick,
#endif
    .victim = give_up,
    .prefetch = load_early,
};
#endif
