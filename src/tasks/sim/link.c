/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers. Each way carries one at a time: first its latency, then bytes at the rate of the way;
 * ways that share a link share its rate fairly (max-min), as fluids do.
 */
#include "tasks/sim/sim_internal.h"

static sim_transfer_t *transfer_new(sim_tasks_t *s)
{
    sim_transfer_t *t = s->free_transfers;

    if (t != NULL)
        s->free_transfers = t->next;
    else
        t = xy_arena_alloc(s->arena, sizeof(*t));
    if (t == NULL)
        s->is_out_of_memory = true;
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

/* It is over, or never began: nobody needs its ends any more. */
static void let_go(sim_tasks_t *s, sim_transfer_t *t)
{
    s->under_way--;
    s->memories[t->from].room.copies[t->data].pins--;
    s->memories[t->to].prefetching -= t->is_prefetch ? 1 : 0;
    sim_memory_arrived(s, t);
    t->next = s->free_transfers;
    s->free_transfers = t;
}

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
    t->start = s->now;
    t->event = EVENT_LATENCY;
    sim_event(s, s->now + s->platform->latency[way], t);
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
    t->left = (double)sim_bytes(s, data);
    if (w->tail[queue] != NULL)
        w->tail[queue]->next = t;
    else
        w->head[queue] = t;
    w->tail[queue] = t;
    s->memories[from].room.copies[data].pins++;
    s->memories[to].room.copies[data].own = t;
    s->memories[to].room.states[data] = XY_TASK_COMING;
    sim_memory_announce(s, to, data);
    s->memories[to].prefetching += is_prefetch ? 1 : 0;
    s->under_way++;
    way_start(s, way);
    return true;
}

bool sim_way_is_idle(const sim_tasks_t *s, int32_t from, int32_t to)
{
    const sim_way_t *w = &s->ways[from * s->platform->memories + to];

    return w->active == NULL && w->head[0] == NULL && w->head[1] == NULL;
}

static void count(sim_tasks_t *s, const sim_transfer_t *t)
{
    xy_task_result_t *r = &s->result;
    uint64_t bytes = sim_bytes(s, t->data);

    if (t->from == 0) {
        r->loads++;
        r->bytes_loaded += bytes;
    } else if (t->to == 0) {
        r->stores++;
        r->bytes_stored += bytes;
    } else {
        r->peers++;
        r->bytes_peer += bytes;
    }
}

static void finish(sim_tasks_t *s, sim_transfer_t *t)
{
    int32_t way = t->from * s->platform->memories + t->to;

    s->ways[way].active = NULL;
    s->result.makespan = s->now;
    s->arrivals[t->to]++;
    count(s, t);
    if (s->observer != NULL && s->observer->transfer != NULL)
        s->observer->transfer(s->observer->arg, t->data, t->from, t->to, t->start, s->now);
    let_go(s, t);
    way_start(s, way);
}

/* The rates of the flows of a link: those that cannot use an equal share leave the rest to the
 * others. */
static void share_rates(sim_tasks_t *s, sim_shared_t *g)
{
    double room = g->rate;
    int32_t open = g->count;
    bool is_changed = true;

    for (int32_t i = 0; i < g->count; i++)
        g->flows[i]->rate = -1;
    while (is_changed && open > 0) {
        double equal = room / open;

        is_changed = false;
        for (int32_t i = 0; i < g->count; i++) {
            sim_transfer_t *t = g->flows[i];
            double most = s->platform->rate[t->from * s->platform->memories + t->to];

            if (t->rate >= 0 || most > equal)
                continue;
            t->rate = most;
            room -= most;
            open--;
            is_changed = true;
        }
    }
    for (int32_t i = 0; i < g->count; i++)
        if (g->flows[i]->rate < 0)
            g->flows[i]->rate = room / open;
}

static void shared_advance(sim_tasks_t *s, sim_shared_t *g)
{
    for (int32_t i = 0; i < g->count; i++)
        g->flows[i]->left -= g->flows[i]->rate * (s->now - g->updated);
    g->updated = s->now;
}

static void shared_plan(sim_tasks_t *s, sim_shared_t *g)
{
    share_rates(s, g);
    g->next = -1;
    for (int32_t i = 0; i < g->count; i++) {
        double left = g->flows[i]->left > 0 ? g->flows[i]->left : 0;
        double end = s->now + left / g->flows[i]->rate;

        if (g->next < 0 || end < g->next)
            g->next = end;
    }
    if (g->next >= 0)
        sim_event(s, g->next, g);
}

bool sim_link_event(sim_tasks_t *s, sim_transfer_t *t)
{
    int32_t way = t->from * s->platform->memories + t->to;
    int32_t shared = s->platform->shared[way];

    if (t->event == EVENT_SOLO) {
        finish(s, t);
        return true;
    }
    if (shared < 0) {
        t->event = EVENT_SOLO;
        sim_event(s, s->now + t->left / s->platform->rate[way], t);
    } else {
        sim_shared_t *g = &s->shared[shared];

        shared_advance(s, g);
        g->flows[g->count++] = t;
        shared_plan(s, g);
    }
    return false;
}

bool sim_shared_event(sim_tasks_t *s, sim_shared_t *g, double time)
{
    enum { DONE_MAX = 64 };
    sim_transfer_t *done[DONE_MAX];
    int32_t n = 0, kept = 0;

    if (time != g->next)
        return false; /* rates changed since: another event is coming */
    shared_advance(s, g);
    for (int32_t i = 0; i < g->count; i++) {
        /* What is left after the planned end is rounding: less than a byte, or, after very long
         * times, less than the clock can tell. */
        if ((g->flows[i]->left <= 1 || s->now + g->flows[i]->left / g->flows[i]->rate <= s->now) &&
            n < DONE_MAX)
            done[n++] = g->flows[i];
        else
            g->flows[kept++] = g->flows[i];
    }
    g->count = kept;
    shared_plan(s, g);
    for (int32_t i = 0; i < n; i++)
        finish(s, done[i]);
    return n > 0;
}
