/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock: events in the order of time, and work that shares bandwidth.
 *
 * All flows of a domain get the same share, so that one clock of the domain serves all: it runs at
 * the speed at which each of them advances, and a flow that begins at clock c and needs s seconds
 * alone is over at c + s. A flow that comes or goes changes the speed, not the order; the next to
 * end is the top of a heap, and a change costs O(log flows), not O(flows).
 */
#include "sim/sim_internal.h"

void sim_event_set(xy_sim_t *sim, sim_event_t *event, double when)
{
    event->when = when;
    if (when < INFINITY && xy_heap_push(&sim->events, when, event) != XY_OK)
        sim->is_out_of_memory = true;
}

static void domain_advance(xy_sim_t *sim, sim_domain_t *d)
{
    d->clock += (sim->now - d->since) * d->rate;
    d->since = sim->now;
}

static void domain_plan(xy_sim_t *sim, sim_domain_t *d)
{
    const xy_heap_item_t *first = xy_heap_peek(&d->flows);
    double flows = (double)d->flows.count;

    d->rate = flows > d->capacity ? d->capacity / flows : 1;
    if (first == NULL)
        d->event.when = INFINITY;
    else
        sim_event_set(sim, &d->event, sim->now + fmax(0, first->key - d->clock) / d->rate);
}

static void domain_due(xy_sim_t *sim, sim_domain_t *d)
{
    sim_unit_t *unit;
    double clock;

    unit = xy_heap_pop(&d->flows, &clock);
    d->clock = clock; /* exactly, whatever rounding says */
    d->since = sim->now;
    domain_plan(sim, d);
    sim_op_finished(sim, (int32_t)(unit - sim->units));
}

void sim_flow_start(xy_sim_t *sim, int32_t unit, int32_t op, double seconds)
{
    sim_unit_t *u = &sim->units[unit];
    int32_t index = sim->ops[op].domain;

    u->op = op;
    u->op_start = sim->now;
    if (index < 0 || sim->domains[index].capacity <= 0) {
        sim_event_set(sim, &u->event, sim->now + seconds);
        return;
    }
    u->event.when = INFINITY;
    domain_advance(sim, &sim->domains[index]);
    if (xy_heap_push(&sim->domains[index].flows, sim->domains[index].clock + seconds, u) != XY_OK)
        sim->is_out_of_memory = true;
    domain_plan(sim, &sim->domains[index]);
}

void sim_domains_reset(xy_sim_t *sim)
{
    for (int i = 0; i < sim->domain_count; i++) {
        sim_domain_t *d = &sim->domains[i];

        while (xy_heap_pop(&d->flows, NULL) != NULL)
            ;
        d->clock = d->since = 0;
        d->rate = 1;
        d->event = (sim_event_t){INFINITY, true, i};
    }
}

static void unit_due(xy_sim_t *sim, int32_t unit)
{
    const sim_unit_t *u = &sim->units[unit];

    if (u->op >= 0)
        sim_op_finished(sim, unit);
    else if (u->compute_rate > 0)
        sim_rank_computed(sim, unit);
    else
        sim_turn_due(sim, unit);
}

void sim_loop(xy_sim_t *sim)
{
    sim_event_t *event;
    double when;

    while (sim->unfinished > 0 && !sim->is_out_of_memory &&
           (event = xy_heap_pop(&sim->events, &when)) != NULL) {
        if (event->when != when)
            continue;
        event->when = INFINITY;
        sim->now = when;
        if (event->is_domain)
            domain_due(sim, &sim->domains[event->index]);
        else
            unit_due(sim, event->index);
    }
}
