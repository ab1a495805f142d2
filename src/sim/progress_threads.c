/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that share a hardware thread, in turn.
 *
 * Most turns are in vain, and between two events nothing can change that. So they are not simulated
 * one by one: the unit remembers when the current fruitless turn ends, catches up when something
 * happens (sync: whole rounds at once), and computes from the list when the thread that has become
 * ready will be reached (plan). Every change of a thread is therefore between a sync and a plan.
 */
#include "sim/sim_internal.h"

static bool is_busy(const sim_unit_t *u)
{
    return u->is_held || u->thread >= 0;
}

/* The cost of a turn in which the thread finds nothing to do. */
static double vain(const xy_sim_t *sim, const sim_unit_t *u, int32_t thread)
{
    const xy_sim_costs_t *c = &sim->node.costs;
    double swap = u->queue.listed > 1 ? c->swap : 0;

    if (thread == u->supervisor)
        return swap + c->check * u->idlers;
    if (thread >= sim->node.ranks && sim->threads[thread].left == 0)
        return swap + c->spin;
    if (thread < sim->node.ranks && u->queue.listed > 1)
        return swap + c->wait;
    return swap + c->poll;
}

static double round_cost(const xy_sim_t *sim, const sim_unit_t *u)
{
    double sum = 0;

    for (int32_t t = u->queue.head; t >= 0; t = sim->order_threads[t].next)
        sum += vain(sim, u, t);
    return sum;
}

/* Rounds that end before now, at once. false: a round takes no time. */
static bool skip_rounds(const xy_sim_t *sim, sim_unit_t *u)
{
    double round = round_cost(sim, u);

    if (round <= 0) {
        u->turn_end = sim->clock->now;
        for (int i = 0; i < u->queue.listed * (XY_ORDER_PRIORITY_MAX + 2); i++) {
            if (sim->order_threads[u->queue.head].is_ready)
                break;
            xy_order_pick(&u->queue);
        }
        return false;
    }
    if (u->queue.order->is_cyclic && sim->clock->now - u->turn_end > round)
        u->turn_end += floor((sim->clock->now - u->turn_end) / round) * round;
    return true;
}

void sim_turn_sync(xy_sim_t *sim, int32_t unit)
{
    sim_unit_t *u = &sim->units[unit];
    bool has_skipped = false;

    if (is_busy(u) || u->is_asleep)
        return;
    while (u->turn_end <= sim->clock->now) {
        int32_t thread = u->queue.head;

        if (thread < 0 || sim->order_threads[thread].is_ready)
            return;
        if (!has_skipped && !skip_rounds(sim, u))
            return;
        has_skipped = true;
        u->turn_end += vain(sim, u, thread);
        u->vain = xy_order_pick(&u->queue);
    }
}

/* After a change of a thread of the unit: when its next turn is. */
static void plan_turn(xy_sim_t *sim, int32_t unit)
{
    sim_unit_t *u = &sim->units[unit];
    double when;
    int32_t t;

    if (is_busy(u))
        return;
    if (u->queue.head < 0 || u->is_asleep) {
        u->turn_end = sim->clock->now + (u->polls > 0 ? 0 : sim->node.costs.wake);
        u->is_asleep = u->queue.head < 0;
        if (u->sibling >= 0)
            sim_compute_speed(sim, u->sibling);
    }
    when = u->turn_end;
    for (t = u->queue.head; t >= 0 && !sim->order_threads[t].is_ready;
         t = sim->order_threads[t].next)
        when += u->queue.order->is_cyclic ? vain(sim, u, t) : 0;
    xy_vclock_set(sim->clock, &u->event, t >= 0 ? fmax(when, sim->clock->now) : INFINITY);
}

/* A rank that has its turn in Wait sees the end of its collective at once. */
static bool sees_its_end(const xy_sim_t *sim, int32_t thread)
{
    const sim_unit_t *u = &sim->units[sim->threads[thread].unit];

    return sim->ranks[thread].phase == SIM_IN_WAIT && sim->ranks[thread].over != NULL &&
           !is_busy(u) && u->vain == thread && u->turn_end > sim->clock->now;
}

/* The order must know; the unit was synced before the change. */
void sim_turn_changed(xy_sim_t *sim, int32_t thread)
{
    sim_thread_t *t = &sim->threads[thread];
    xy_order_thread_t *o = &sim->order_threads[thread];
    bool is_rank = thread < sim->node.ranks;

    if (is_rank && sees_its_end(sim, thread)) {
        sim_rank_sees(sim, thread, sim->clock->now + sim->node.costs.poll);
        sim->units[t->unit].turn_end = sim->clock->now + sim->node.costs.poll;
    }
    if (is_rank && sim->ranks[thread].phase != SIM_IN_WAIT) {
        o->has_collective = o->is_ready = false;
        if (o->is_listed)
            xy_order_remove(&sim->units[t->unit].queue, thread);
    } else {
        o->has_collective = is_rank || t->left > 0;
        o->is_ready = t->count > 0 || (is_rank && sim->ranks[thread].over != NULL);
        xy_order_update(&sim->units[t->unit].queue, thread);
    }
    plan_turn(sim, t->unit);
}

void sim_turn_due(xy_sim_t *sim, int32_t unit)
{
    sim_unit_t *u = &sim->units[unit];
    double swap = u->queue.listed > 1 ? sim->node.costs.swap : 0;
    int32_t thread;

    sim_turn_sync(sim, unit);
    thread = u->queue.head;
    if (is_busy(u) || thread < 0 || u->turn_end > sim->clock->now ||
        !sim->order_threads[thread].is_ready) {
        plan_turn(sim, unit);
        return;
    }
    xy_order_pick(&u->queue);
    sim->result.turns++;
    if (sim->threads[thread].count == 0) { /* a rank whose collective is complete */
        sim_rank_sees(sim, thread, sim->clock->now + swap + sim->node.costs.poll);
        u->turn_end = sim->clock->now + swap + sim->node.costs.poll;
        sim_turn_changed(sim, thread);
        return;
    }
    u->thread = thread;
    u->todo = sim->threads[thread].count;
    sim_op_start(sim, unit, sim_thread_take(sim, thread), swap);
}

void sim_turn_now(xy_sim_t *sim, int32_t unit)
{
    sim_unit_t *u = &sim->units[unit];
    bool is_any = false;

    if (is_busy(u))
        return;
    sim_turn_sync(sim, unit);
    for (int32_t t = u->queue.head; t >= 0; t = sim->order_threads[t].next)
        is_any |= sim->order_threads[t].is_ready;
    if (!is_any)
        return;
    for (int i = 0; i < u->queue.listed * (XY_ORDER_PRIORITY_MAX + 2); i++) {
        if (sim->order_threads[u->queue.head].is_ready)
            break;
        xy_order_pick(&u->queue);
    }
    u->turn_end = sim->clock->now;
    u->is_asleep = false;
    sim_turn_due(sim, unit);
}

void sim_turn_next(xy_sim_t *sim, int32_t unit)
{
    sim_unit_t *u = &sim->units[unit];
    int32_t thread = u->thread;

    if (--u->todo > 0) {
        sim_op_start(sim, unit, sim_thread_take(sim, thread), 0);
        return;
    }
    u->thread = u->vain = -1;
    u->turn_end = sim->clock->now;
    sim_turn_changed(sim, thread);
}

/* Their supervisors look after them. */
void sim_threads_begin(xy_sim_t *sim)
{
    int n = sim->node.ranks;

    for (int r = 0; r < n && sim->node.progress == XY_SIM_THREADS; r++) {
        sim_unit_t *u = &sim->units[sim->threads[n + r].unit];
        int32_t supervisor = 2 * n + sim->threads[n + r].unit;

        if (sim->order->has_supervisor && u->supervisor < 0) {
            u->supervisor = supervisor;
            sim->order_threads[supervisor].is_supervisor = true;
            xy_order_update(&u->queue, supervisor);
        }
        sim->order_threads[n + r].base = (int8_t)sim->node.priority;
        u->idlers += sim->threads[n + r].left == 0;
        u->is_asleep = false;
        u->polls += sim->threads[n + r].remote > 0;
        sim_turn_changed(sim, n + r);
    }
    for (int i = 0; i < sim->unit_count && sim_is_tasks(sim); i++)
        if (sim->units[i].is_comm)
            sim_task_next(sim, i);
}
