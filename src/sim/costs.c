/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Default costs: a plausible Knights Landing (slow cores, fast memory), not a measured one. Spin
 * and check are fitted so that 63 progress threads of a scan of 64 KiB on one core relate as
 * published: round-robin 42 times and suspend 3.7 times the time of semaphores, suspend and
 * semaphores together 3 times; wait is fitted to the published effect of priorities.
 */
#include "sim/sim_internal.h"

void xy_sim_costs_default(xy_sim_costs_t *costs)
{
    *costs = (xy_sim_costs_t){
        .alpha = 0.5e-6,
        .copy = 5e9,
        .reduce = 3.2e9,
        .numa = 160e9,
        .link = 20e9,
        .swap = 0.3e-6,
        .poll = 0.2e-6,
        .wait = 5e-6,
        .spin = 26e-6,
        .check = 1.3e-6,
        .wake = 2e-6,
        .task = 0.3e-6,
        .packet = 0.05e-6,
        .smt_copy = 0.35,
        .smt_spin = 0.65,
        .piece = 128 * 1024,
    };
}

void xy_sim_costs_scaled(xy_sim_costs_t *costs, double alpha, double copy, double reduce)
{
    double times, faster;

    xy_sim_costs_default(costs);
    times = alpha > 0 ? alpha / costs->alpha : 1;
    faster = copy > 0 ? copy / costs->copy : 1;
    costs->alpha *= times;
    costs->swap *= times;
    costs->poll *= times;
    costs->task *= times;
    costs->packet *= times;
    costs->copy *= faster;
    costs->reduce = reduce > 0 ? reduce : costs->reduce * faster;
    costs->numa *= faster;
    costs->link *= faster;
}

double xy_sim_overlap(const xy_sim_times_t *times)
{
    double hidden = times->t_comm + times->t_comp - times->t_ovrl;
    double most = fmin(times->t_comm, times->t_comp);

    return most > 0 ? 100 * fmax(0, fmin(1, hidden / most)) : 0;
}

double xy_sim_bound(const xy_sim_t *sim, double compute, double work)
{
    int comm = sim->node.progress == XY_SIM_NONE ? 0 : sim->comm_count;
    double cores = sim->node.ranks + comm, carried = 0;

    for (int i = 0; i < sim->memory->count; i++)
        carried += sim_memory_is_limited(sim->memory, i)
                       ? sim->memory->domains[i].capacity / sim->weight
                       : cores;
    return compute + fmax(0, work - compute * comm) / fmin(cores, carried);
}
