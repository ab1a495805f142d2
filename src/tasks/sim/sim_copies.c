/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of data on the virtual clock: each comes over a link. What is overwritten on its way is
 * worth nothing when it arrives. */
#include "tasks/sim/task_sim_internal.h"

static sim_tasks_t *sim_of(xy_task_engine_t *e)
{
    return (sim_tasks_t *)e;
}

static void observe(xy_task_engine_t *e, int32_t memory, int32_t data)
{
    const sim_tasks_t *s = sim_of(e);

    (void)data;
    if (s->observer != NULL && s->observer->memory != NULL)
        s->observer->memory(s->observer->arg, memory, s->clock.now, e->memories[memory].space.used);
}

static bool is_overtaken(xy_task_engine_t *e, int32_t memory, int32_t data)
{
    sim_transfer_t *incoming = sim_incoming(sim_of(e), memory, data);

    if (incoming != NULL)
        incoming->is_stale = true;
    return incoming != NULL;
}

/* Write a datum back again: the data that came home is worthless, and a memory that meanwhile waits
 * for the same datum to be written back relied on it. */
static void write_back_again(sim_tasks_t *s, int32_t data)
{
    for (int32_t m = 1; m < s->platform->memories; m++)
        if (s->base.memories[m].space.copies[data].is_evicting && sim_incoming(s, 0, data) == NULL)
            sim_transfer_request(s, data, m, 0, false);
}

void sim_memory_arrived(sim_tasks_t *s, const sim_transfer_t *t)
{
    xy_task_memory_t *to = &s->base.memories[t->to].space, *from = &s->base.memories[t->from].space;

    to->copies[t->data].own = NULL;
    /* A task of the memory itself may have written the datum meanwhile: then it stays. */
    if (!t->is_stale)
        to->states[t->data] = XY_TASK_HERE;
    else if (to->states[t->data] == XY_TASK_COMING)
        xy_task_engine_release(&s->base, t->to, t->data);
    if (t->is_stale && t->to == 0) {
        write_back_again(s, t->data);
    } else if (!t->is_stale && from->copies[t->data].is_evicting &&
               from->copies[t->data].pins == 0) {
        xy_task_engine_evict(&s->base, t->from, t->data);
    }
}

static bool write_back(xy_task_engine_t *e, int32_t memory, int32_t data)
{
    sim_tasks_t *s = sim_of(e);

    xy_task_memory_leave(&e->memories[memory].space, data, e->bytes[data]);
    if (sim_incoming(s, 0, data) == NULL)
        sim_transfer_request(s, data, memory, 0, false);
    return false;
}

/* The copy from which a transfer would end first, counting one in progress. -1: none. */
static int32_t best_source(const sim_tasks_t *s, int32_t data, int32_t to)
{
    double best_seconds = 0, bytes = (double)sim_bytes(s, data);
    int32_t best = -1, n = s->platform->memories;

    for (int32_t m = 0; m < n; m++) {
        int32_t way = m * n + to;
        double seconds;

        if (s->base.memories[m].space.states[data] != XY_TASK_HERE ||
            s->base.memories[m].space.copies[data].is_writing || s->platform->rate[way] <= 0)
            continue;
        seconds = s->platform->latency[way] + bytes / s->platform->rate[way];
        if (!sim_way_is_idle(s, m, to))
            seconds *= 2;
        if (best < 0 || seconds < best_seconds) {
            best = m;
            best_seconds = seconds;
        }
    }
    return best;
}

/* Without a way from where it is, a datum goes through the main memory. */
static void fetch(xy_task_engine_t *e, int32_t memory, int32_t data, bool is_prefetch)
{
    sim_tasks_t *s = sim_of(e);
    int32_t from = best_source(s, data, memory);

    if (from >= 0) {
        xy_task_engine_allocate(e, memory, data);
        sim_transfer_request(s, data, from, memory, is_prefetch);
        return;
    }
    if (sim_incoming(s, 0, data) != NULL)
        return;
    from = best_source(s, data, 0);
    if (from >= 0)
        sim_transfer_request(s, data, from, 0, is_prefetch);
}

static bool is_way_home_free(const xy_task_engine_t *e, int32_t memory)
{
    return sim_way_is_idle((const sim_tasks_t *)e, memory, 0);
}

static void send_home(xy_task_engine_t *e, int32_t memory, int32_t data)
{
    if (xy_graph_data_at(e->graph, data)->home == 0)
        sim_transfer_request(sim_of(e), data, memory, 0, true);
}

const xy_task_driver_t sim_driver = {
    .taken = observe,
    .given = observe,
    .fetch = fetch,
    .write_back = write_back,
    .is_overtaken = is_overtaken,
    .is_way_home_free = is_way_home_free,
    .send_home = send_home,
    .prefetch_max = 2,
    .is_timed = true,
};

/* ---- Where data live ---- */

static int32_t home_of(const sim_tasks_t *s, int32_t data)
{
    return xy_graph_data_at(s->base.graph, data)->home;
}

void sim_memory_settle_in(sim_tasks_t *s)
{
    for (int32_t d = 0; d < s->base.data_count; d++) {
        int32_t home = home_of(s, d);

        if (home == 0)
            continue;
        s->base.memories[0].space.states[d] = 0;
        s->base.memories[home].space.states[d] = XY_TASK_HERE;
        xy_task_engine_allocate(&s->base, home, d);
    }
}

/* First to the main memory whatever is not where it lives, */
static void flush_to_main(sim_tasks_t *s)
{
    for (int32_t d = 0; d < s->base.data_count; d++) {
        int32_t from;

        if (s->base.memories[0].space.states[d] != 0 ||
            s->base.memories[home_of(s, d)].space.states[d] != 0)
            continue;
        from = best_source(s, d, 0);
        if (from >= 0)
            sim_transfer_request(s, d, from, 0, false);
    }
}

/* then guests leave, and from there to the other memories, where all that lives there fits. */
static void flush_to_homes(sim_tasks_t *s)
{
    for (int32_t m = 1; m < s->platform->memories; m++)
        for (int32_t d = 0; d < s->base.data_count; d++)
            if (home_of(s, d) != m)
                xy_task_engine_release(&s->base, m, d);
    for (int32_t d = 0; d < s->base.data_count; d++) {
        int32_t home = home_of(s, d);

        if (s->base.memories[home].space.states[d] != 0)
            continue;
        xy_task_engine_allocate(&s->base, home, d);
        sim_transfer_request(s, d, 0, home, false);
    }
}

static bool is_all_home(const sim_tasks_t *s)
{
    for (int32_t d = 0; d < s->base.data_count; d++)
        if (s->base.memories[home_of(s, d)].space.states[d] == 0)
            return false;
    return true;
}

void sim_memory_flush(sim_tasks_t *s)
{
    if (s->flushed == 0) {
        s->flushed = 1;
        flush_to_main(s);
    }
    if (s->flushed == 1 && s->under_way == 0) {
        s->flushed = 2;
        if (!is_all_home(s))
            flush_to_homes(s);
    }
}
