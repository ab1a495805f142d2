/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of a rank: start, compute, wait. In start and while it computes it holds its core; in
 * Wait it is one of the threads of the core, or helps.
 */
#include "sim/sim_internal.h"

/* Enters the wait of a rank; it helps with tasks, or ends at once if nothing is left. */
static void begin_wait(xy_sim_t *sim, int32_t rank)
{
    sim_rank_t *r = &sim->ranks[rank];
    sim_part_t *part = &sim->call.parts[rank];
    int32_t unit = sim->threads[rank].unit;

    r->phase = SIM_IN_WAIT;
    r->wait_since = sim->clock->now;
    sim->units[unit].is_held = false;
    if (part->left == 0 && (!sim_is_tasks(sim) || sim_host(sim, unit)->pool.count == 0)) {
        sim_rank_over(sim, part, fmax(sim->clock->now, part->released));
    } else if (sim_is_tasks(sim)) {
        r->over = part->left == 0 ? part : NULL;
        sim_task_next(sim, unit);
        return;
    }
    if (!sim_is_tasks(sim)) {
        sim->units[unit].turn_end = sim->clock->now;
        sim->units[unit].is_asleep = false;
        sim_turn_changed(sim, rank);
    }
}

/* Starts the computation of a rank, or its wait if there is none. */
static void begin_compute(xy_sim_t *sim, int32_t rank)
{
    sim_unit_t *u = &sim->units[sim->threads[rank].unit];

    sim->ranks[rank].phase = SIM_IN_COMPUTE;
    if (sim->compute <= 0) {
        begin_wait(sim, rank);
        return;
    }
    u->compute_left = sim->compute;
    u->compute_since = u->op_start = sim->clock->now;
    u->compute_rate = 1;
    xy_vclock_set(sim->clock, &u->event, sim->clock->now + sim->compute);
    sim_compute_speed(sim, sim->threads[rank].unit);
}

void sim_rank_in_start(xy_sim_t *sim, int32_t rank)
{
    sim_rank_t *r = &sim->ranks[rank];
    int32_t unit = sim->threads[rank].unit;
    sim_op_t *op;

    if (r->phase != SIM_IN_START || sim->units[unit].op != NULL)
        return;
    if ((op = sim_start_take(sim)) != NULL) {
        sim_op_start(sim, unit, op, 0);
        return;
    }
    if (sim->driver.started != NULL) {
        r->phase = SIM_OUTSIDE;
        sim->driver.started(sim, rank);
        return;
    }
    if (sim->threads[rank].count > 0 && sim->threads[rank].first->by == SIM_BY_START)
        sim_op_start(sim, unit, sim_thread_take(sim, rank), 0);
    else if (sim->call.parts[rank].start_left == 0 || sim_shares_starts(&sim->call))
        begin_compute(sim, rank);
}

void sim_rank_begin(xy_sim_t *sim, int32_t rank)
{
    sim->units[sim->threads[rank].unit].is_held = true;
    sim->ranks[rank].phase = SIM_IN_START;
}

/* Copies and reductions fight for the caches of the core with what its sibling computes; to hand a
 * message to the network, and to poll it, takes its pipeline only. */
double sim_speed_beside(const xy_sim_t *sim, const sim_op_t *op)
{
    return op->message >= 0 ? sim->node.costs.smt_spin : sim->node.costs.smt_copy;
}

/* How fast a rank computes while its sibling does what it does. */
static double speed_beside(const xy_sim_t *sim, const sim_unit_t *sibling)
{
    if (sibling->op != NULL)
        return sim_speed_beside(sim, sibling->op);
    return sibling->is_asleep && sibling->polls == 0 ? 1 : sim->node.costs.smt_spin;
}

void sim_unit_polls(xy_sim_t *sim, int32_t unit, int change)
{
    sim->units[unit].polls += change;
    if (sim->units[unit].sibling >= 0)
        sim_compute_speed(sim, sim->units[unit].sibling);
}

void sim_compute_speed(xy_sim_t *sim, int32_t unit)
{
    sim_unit_t *u = &sim->units[unit];
    double rate;

    if (u->compute_rate <= 0 || u->sibling < 0)
        return;
    rate = speed_beside(sim, &sim->units[u->sibling]);
    u->compute_left -= (sim->clock->now - u->compute_since) * u->compute_rate;
    u->compute_since = sim->clock->now;
    u->compute_rate = rate;
    xy_vclock_set(sim->clock, &u->event, sim->clock->now + fmax(0, u->compute_left) / rate);
}

void sim_rank_computed(xy_sim_t *sim, int32_t unit)
{
    sim_unit_t *u = &sim->units[unit];

    u->compute_rate = 0;
    sim_record_compute(sim, u, u->op_start);
    begin_wait(sim, u->rank);
}

void sim_rank_over(xy_sim_t *sim, const sim_part_t *part, double when)
{
    sim_rank_t *r = &sim->ranks[part->rank];

    if (r->phase != SIM_IN_WAIT)
        return;
    r->phase = SIM_DONE;
    r->finish = when;
    sim->result.end = fmax(sim->result.end, when);
    if (--sim->unfinished == 0)
        xy_vclock_stop(sim->clock);
}
