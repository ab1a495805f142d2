/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks: the communication cores, and the ranks that are in Wait, take ready operations of the
 * whole graph. The one with the longest path behind it goes first; among free units one in the NUMA
 * node of the destination, communication cores before ranks.
 *
 * Direct collectives as the runtime does them: the ranks' start calls tell one communication core,
 * which counts arrivals at a `poll` each; then pieces are taken in their order, each at a `task`
 * and done to its end by one core. When all are done that core notifies the ranks, at a `packet`
 * each; of many ranks, the free cores take XY_DIRECT_NOTICES each, at a `task`. Ranks without
 * communication cores are a job (sweep_job.c).
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

    return u->op == NULL && (u->is_comm || is_helper(sim, unit));
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

static void begin(xy_sim_t *sim, int32_t unit, sim_op_t *op)
{
    sim->result.turns++;
    if (!sim->units[unit].is_comm)
        sim->result.helped++;
    sim_op_start(sim, unit, op, sim_is_model(sim) ? 0 : sim->node.costs.task);
}

/* The host of an operation: a send is on the sender's host, a reduction on the receiver's. */
static int32_t host_of_op(const sim_op_t *op)
{
    if (op->op->kind < XY_OP_MOVE)
        return sim_host_in(op->call, op->op->actor);
    return sim_host_in(op->call, op->op->kind == XY_OP_MOVE ? op->op->from.rank : op->op->to.rank);
}

/* Keep a piece until a communication core, which hears of the last arrival, has counted them. The
 * first one is ready when all ranks have started. */
static void hold(xy_sim_t *sim, sim_op_t *op)
{
    sim_call_t *call = op->call;

    if (call->arrivals == SIM_ARRIVING)
        xy_vclock_set(sim->clock, &call->gathered, sim->clock->now + sim->node.costs.poll);
    call->arrivals = SIM_GATHERING;
    op->next = NULL;
    if (call->held == NULL)
        call->held = op;
    else
        call->last_held->next = op;
    call->last_held = op;
}

/* Older collectives come first; of one, the longest path, or pieces in their order. */
static void pool_put(xy_sim_t *sim, sim_host_t *host, sim_op_t *op)
{
    const sim_call_t *call = op->call;
    double key = sim_is_direct(call) ? (double)(op - call->ops) : -op->tail;

    if (xy_heap_push(&host->pool, 1e7 * call->number + key, op) != XY_OK)
        xy_vclock_out_of_memory(sim->clock);
}

void sim_task_push(xy_sim_t *sim, sim_op_t *op)
{
    sim_host_t *host = &sim->hosts[host_of_op(op)];
    int32_t unit;
    int32_t numa = host->first_numa + (op->domain >= 0 ? op->domain % sim->memory->columns : 0);

    if (sim_is_direct(op->call) && sim->comm_count > 0 && op->call->arrivals != SIM_GATHERED) {
        hold(sim, op);
        return;
    }
    if (host->pool.count == 0 && host->idle.count > 0) {
        unit = take_idle(sim, host, numa);
        if (unit >= 0) {
            begin(sim, unit, op);
            return;
        }
    }
    pool_put(sim, host, op);
}

static void go_idle(xy_sim_t *sim, int32_t unit)
{
    if (sim->units[unit].is_idle)
        return;
    if (xy_vec_append(&sim_host(sim, unit)->idle, &unit) != XY_OK)
        xy_vclock_out_of_memory(sim->clock);
    sim->units[unit].is_idle = true;
}

void sim_task_next(xy_sim_t *sim, int32_t unit)
{
    int32_t rank = sim->units[unit].rank;
    sim_op_t *op;

    if (rank >= 0 && sim->ranks[rank].phase == SIM_IN_WAIT && sim->ranks[rank].over != NULL &&
        (sim->node.help != XY_SIM_HELP_ALL || sim_is_model(sim) ||
         sim_host(sim, unit)->pool.count == 0))
        sim_rank_sees(sim, rank, sim->clock->now + (sim_is_model(sim) ? 0 : sim->node.costs.poll));
    if (rank >= 0 && sim->ranks[rank].phase != SIM_IN_WAIT)
        return;
    if (rank >= 0 && sim->threads[rank].count > 0) {
        sim_op_start(sim, unit, sim_thread_take(sim, rank), 0);
        return;
    }
    if (rank >= 0 && (op = sim_start_take(sim)) != NULL) {
        sim_op_start(sim, unit, op, 0);
        return;
    }
    if (rank >= 0 && !is_helper(sim, unit))
        return;
    op = xy_heap_pop(&sim_host(sim, unit)->pool, NULL);
    if (op != NULL)
        begin(sim, unit, op);
    else
        go_idle(sim, unit);
}

void sim_task_gathered(xy_event_t *event)
{
    xy_sim_t *sim = event->owner;
    sim_call_t *call = (sim_call_t *)((char *)event - offsetof(sim_call_t, gathered));
    sim_host_t *host = &sim->hosts[0];

    call->arrivals = SIM_GATHERED;
    for (sim_op_t *op = call->held; op != NULL; op = op->next)
        pool_put(sim, host, op);
    for (size_t i = host->idle.count; i > 0 && host->pool.count > 0; i--) {
        int32_t unit = XY_VEC_AT(&host->idle, int32_t, i - 1);

        host->idle.count = i - 1;
        sim->units[unit].is_idle = false;
        if (is_free(sim, unit))
            sim_task_next(sim, unit);
    }
}

bool sim_task_continue(xy_sim_t *sim, int32_t unit, sim_op_t *op)
{
    const sim_call_t *call = op->call;

    if (op + 1 >= call->ops + call->op_count || !op[1].is_chained)
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
    return n > 0 ? n : 1; /* the first that comes to wait */
}

/* How long after the end of the work rank `r` gets to know of it. */
static double notice_delay(const xy_sim_t *sim, int ranks, int r, int cores)
{
    const xy_sim_costs_t *c = &sim->node.costs;
    int turn = r / XY_DIRECT_NOTICES / cores;

    if (ranks <= XY_DIRECT_NOTICES || cores == 1)
        return (r + 1) * c->packet;
    return (turn + 1) * c->task +
           (turn * XY_DIRECT_NOTICES + r % XY_DIRECT_NOTICES + 1) * c->packet;
}

void sim_task_release(xy_sim_t *sim, sim_call_t *call)
{
    int cores = notifiers(sim);

    for (int r = 0; r < call->ranks; r++) {
        sim_part_t *part = &call->parts[r];
        bool waits = sim->ranks[part->rank].phase == SIM_IN_WAIT;

        part->left--;
        part->released = sim->clock->now + notice_delay(sim, call->ranks, r, cores);
        sim->driver.over(sim, part, part->released + (waits ? sim->node.costs.poll : 0));
    }
}
