/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks: the communication cores, and the ranks that are in Wait, take ready operations of the
 * whole graph. The one with the longest path behind it goes first; among free units one in the NUMA
 * node of the destination, communication cores before ranks.
 *
 * Direct collectives as the runtime does them: the ranks' start calls tell one communication core,
 * which counts arrivals at a `poll` each; then pieces are taken in their order, each at a `task`
 * and done to its end by one core. When all are done that core notifies the ranks, at a `packet`
 * each; of many ranks, the free cores take XY_DIRECT_NOTICES each, at a `task`. Without
 * communication cores the ranks do all this in Wait, where they synchronize twice, in log2 rounds.
 */
#include "sim/sim_internal.h"

static bool is_helper(const xy_sim_t *sim, int32_t unit)
{
    int32_t rank = sim->units[unit].rank;

    return rank >= 0 && sim->node.help != XY_SIM_HELP_NOT && !sim_is_model(sim) &&
           sim->ranks[rank].phase == SIM_IN_WAIT;
}

static bool is_free(const xy_sim_t *sim, int32_t unit)
{
    const sim_unit_t *u = &sim->units[unit];

    return u->op < 0 && (u->is_comm || is_helper(sim, unit));
}

static int suits(const xy_sim_t *sim, int32_t unit, int32_t numa)
{
    return 2 * (sim->units[unit].numa == numa) + sim->units[unit].is_comm;
}

/* The free unit that suits best, out of the list; -1: none. Units that are no longer free go. */
static int32_t take_idle(xy_sim_t *sim, sim_host_t *host, int32_t numa)
{
    int32_t *list = host->idle.data;
    size_t best = SIZE_MAX, kept = 0;
    int32_t unit;

    for (size_t i = 0; i < host->idle.count; i++) {
        if (!is_free(sim, list[i])) {
            sim->units[list[i]].is_idle = false;
            continue;
        }
        list[kept] = list[i];
        if (best == SIZE_MAX || suits(sim, list[kept], numa) > suits(sim, list[best], numa))
            best = kept;
        kept++;
        if (suits(sim, list[best], numa) == 3) { /* none better; the rest keeps its place */
            for (i++; i < host->idle.count; i++)
                list[kept++] = list[i];
            break;
        }
    }
    host->idle.count = kept;
    if (best == SIZE_MAX)
        return -1;
    unit = list[best];
    list[best] = list[kept - 1];
    host->idle.count--;
    sim->units[unit].is_idle = false;
    return unit;
}

static void begin(xy_sim_t *sim, int32_t unit, int32_t op)
{
    sim->result.turns++;
    if (!sim->units[unit].is_comm)
        sim->result.helped++;
    sim_op_start(sim, unit, op, sim_is_model(sim) ? 0 : sim->node.costs.task);
}

static int32_t pool_pop(xy_sim_t *sim, int32_t unit)
{
    const sim_op_t *op = xy_heap_pop(&sim_host(sim, unit)->pool, NULL);

    return op != NULL ? (int32_t)(op - sim->ops) : -1;
}

/* The host of an operation: a send is on the sender's host, a reduction on the receiver's. */
static int32_t host_of_op(const xy_sim_t *sim, const sim_op_t *op)
{
    if (op->op->kind < XY_OP_MOVE)
        return sim_host_of_rank(sim, op->op->actor);
    return sim_host_of_rank(sim, op->op->kind == XY_OP_MOVE ? op->op->from.rank : op->op->to.rank);
}

/* The communication core that hears of the last arrival. */
static int32_t progress_unit(const xy_sim_t *sim)
{
    return sim->comm[sim->comm_count - 1];
}

/* The first piece is ready: all ranks have started. */
static void gather(xy_sim_t *sim)
{
    sim->arrivals = SIM_GATHERING;
    xy_vclock_set(&sim->clock, &sim->units[progress_unit(sim)].event,
                  sim->clock.now + sim->node.costs.poll);
}

void sim_task_push(xy_sim_t *sim, int32_t op)
{
    sim_host_t *host = &sim->hosts[host_of_op(sim, &sim->ops[op])];
    int32_t domain = sim->ops[op].domain, unit;
    int32_t numa = host->first_numa + (domain >= 0 ? domain % sim->numa_max : 0);
    double key = sim_is_direct(sim) ? (double)op : -sim->ops[op].tail;

    if (sim_is_direct(sim) && sim->comm_count > 0 && sim->arrivals == SIM_ARRIVING)
        gather(sim);
    if (host->pool.count == 0 && host->idle.count > 0 && sim->arrivals != SIM_GATHERING) {
        unit = take_idle(sim, host, numa);
        if (unit >= 0) {
            begin(sim, unit, op);
            return;
        }
    }
    if (xy_heap_push(&host->pool, key, &sim->ops[op]) != XY_OK)
        xy_vclock_out_of_memory(&sim->clock);
}

static void go_idle(xy_sim_t *sim, int32_t unit)
{
    if (sim->units[unit].is_idle)
        return;
    if (xy_vec_append(&sim_host(sim, unit)->idle, &unit) != XY_OK)
        xy_vclock_out_of_memory(&sim->clock);
    sim->units[unit].is_idle = true;
}

void sim_task_next(xy_sim_t *sim, int32_t unit)
{
    int32_t rank = sim->units[unit].rank, op;

    if (rank >= 0 && sim->ranks[rank].phase != SIM_IN_WAIT)
        return;
    if (rank >= 0 && sim->ranks[rank].left == 0 &&
        (sim->node.help != XY_SIM_HELP_ALL || sim_is_model(sim) ||
         sim_host(sim, unit)->pool.count == 0)) {
        sim_rank_finish(sim, rank, sim->clock.now + (sim_is_model(sim) ? 0 : sim->node.costs.poll));
        return;
    }
    if (rank >= 0 && sim->threads[rank].count > 0) {
        sim_op_start(sim, unit, sim_thread_take(sim, rank), 0);
        return;
    }
    if (rank >= 0 && !is_helper(sim, unit))
        return;
    op = sim->arrivals == SIM_GATHERING ? -1 : pool_pop(sim, unit);
    if (op >= 0)
        begin(sim, unit, op);
    else
        go_idle(sim, unit);
}

void sim_task_gathered(xy_sim_t *sim)
{
    sim_host_t *host = &sim->hosts[0];

    sim->arrivals = SIM_GATHERED;
    for (size_t i = host->idle.count; i > 0 && host->pool.count > 0; i--) {
        int32_t unit = XY_VEC_AT(&host->idle, int32_t, i - 1);

        host->idle.count = i - 1;
        sim->units[unit].is_idle = false;
        if (is_free(sim, unit))
            sim_task_next(sim, unit);
    }
}

bool sim_task_continue(xy_sim_t *sim, int32_t unit, int32_t op)
{
    if (op + 1 >= sim->op_count || !sim->ops[op + 1].is_chained)
        return false;
    sim_op_start(sim, unit, op + 1, 0);
    return true;
}

/* The cores that share in notifying the ranks. */
static int notifiers(const xy_sim_t *sim)
{
    int n = sim->comm_count;

    for (int r = 0; r < sim->node.ranks; r++)
        n += is_helper(sim, sim->threads[r].unit);
    return n;
}

/* How long after the end of the work rank `r` gets to know of it. */
static double notice_delay(const xy_sim_t *sim, int r, int cores)
{
    const xy_sim_costs_t *c = &sim->node.costs;
    int turn = r / XY_DIRECT_NOTICES / cores;

    if (sim->comm_count == 0)
        return 2 * xy_split_height(sim->node.ranks, 2) * c->poll;
    if (sim->node.ranks <= XY_DIRECT_NOTICES || cores == 1)
        return (r + 1) * c->packet;
    return (turn + 1) * c->task +
           (turn * XY_DIRECT_NOTICES + r % XY_DIRECT_NOTICES + 1) * c->packet;
}

void sim_task_release(xy_sim_t *sim)
{
    const xy_sim_costs_t *c = &sim->node.costs;
    int cores = notifiers(sim);

    for (int r = 0; r < sim->node.ranks; r++) {
        sim_rank_t *rank = &sim->ranks[r];

        rank->left--;
        rank->released = sim->clock.now + notice_delay(sim, r, cores);
        if (rank->phase == SIM_IN_WAIT)
            sim_rank_finish(sim, r, rank->released + c->poll);
    }
}
