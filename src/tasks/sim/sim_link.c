/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers. Each way carries one at a time: first its latency, then bytes at the rate of the way;
 * ways that share a link share its rate fairly (max-min), as fluids do.
 */
#include "tasks/sim/task_sim_internal.h"

static sim_transfer_t *transfer_new(sim_tasks_t *s)
{
    sim_transfer_t *t = s->free_transfers;

    if (t != NULL)
        s->free_transfers = t->next;
    else
        t = xy_arena_alloc(s->arena, sizeof(*t));
    if (t == NULL)
        xy_vclock_out_of_memory(&s->clock);
    return t;
}

static sim_transfer_t *way_next(sim_way_t *w)
{
    int queue = w->head[0] != NULL ? 0 : 1;
    sim_transfer_t *t = w->head[queue];

    if (t == NULL)
        return NULL;
    w->head[queue] = t->next;
    if (t->next == NULL)
        w->tail[queue] = NULL;
    return t;
}

/* It is complete, or never began: its ends are no longer needed. */
static void let_go(sim_tasks_t *s, sim_transfer_t *t)
{
    s->under_way--;
    s->base.memories[t->from].space.copies[t->data].pins--;
    s->base.memories[t->to].prefetching -= t->is_prefetch ? 1 : 0;
    sim_memory_arrived(s, t);
    t->next = s->free_transfers;
    s->free_transfers = t;
}

/* Starts the next waiting transfer of a free link direction; stale ones are dropped. */
static void way_start(sim_tasks_t *s, int32_t way)
{
    sim_way_t *w = &s->ways[way];
    sim_transfer_t *t = NULL;

    while (t == NULL) {
        if (w->active != NULL || (t = way_next(w)) == NULL)
            return;
        if (t->is_stale) {
            let_go(s, t); /* the datum was written while it waited; this may start another */
            t = NULL;
        }
    }
    w->active = t;
    sim_bound_moves(s, t);
    t->start = s->clock.now;
    sim_overlap(s, t->from, 1, 0);
    sim_overlap(s, t->to, 1, 0);
    xy_flow_start(&t->flow, s->platform->latency[way], (double)sim_bytes(s, t->data));
}

bool sim_transfer_request(sim_tasks_t *s, int32_t data, int32_t from, int32_t to, bool is_prefetch)
{
    int32_t way = from * s->platform->memories + to;
    sim_way_t *w = &s->ways[way];
    int queue = is_prefetch ? 1 : 0;
    sim_transfer_t *t = transfer_new(s);

    if (t == NULL)
        return false;
    *t = (sim_transfer_t){.data = data, .from = from, .to = to, .is_prefetch = is_prefetch};
    xy_flow_init(&t->flow, &w->path);
    if (w->tail[queue] != NULL)
        w->tail[queue]->next = t;
    else
        w->head[queue] = t;
    w->tail[queue] = t;
    s->base.memories[from].space.copies[data].pins++;
    s->base.memories[to].space.copies[data].own = t;
    s->base.memories[to].space.states[data] = XY_TASK_COMING;
    xy_task_engine_announce(&s->base, to, data);
    s->base.memories[to].prefetching += is_prefetch ? 1 : 0;
    s->under_way++;
    way_start(s, way);
    return true;
}

bool sim_way_is_idle(const sim_tasks_t *s, int32_t from, int32_t to)
{
    const sim_way_t *w = &s->ways[from * s->platform->memories + to];

    return w->active == NULL && w->head[0] == NULL && w->head[1] == NULL;
}

void sim_transfer_done(void *sim, xy_flow_t *flow)
{
    sim_tasks_t *s = sim;
    sim_transfer_t *t = (sim_transfer_t *)flow;
    int32_t way = t->from * s->platform->memories + t->to;

    s->is_changed = true;
    s->ways[way].active = NULL;
    s->base.result.makespan = s->clock.now;
    s->arrivals[t->to]++;
    sim_overlap(s, t->from, -1, 0);
    sim_overlap(s, t->to, -1, 0);
    xy_task_engine_count(&s->base, t->data, t->from, t->to);
    if (s->observer != NULL && s->observer->transfer != NULL)
        s->observer->transfer(s->observer->arg, t->data, t->from, t->to, t->start, s->clock.now);
    let_go(s, t);
    way_start(s, way);
}
