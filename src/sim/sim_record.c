/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of a run: one row per hardware thread; computing, progress, waiting, idle. */
#include "sim/sim_internal.h"

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)llround(seconds * 1e9);
}

/* Creates the trace row of a unit. */
static xy_status_t add_row(xy_sim_t *sim, xy_trace_t *trace, sim_unit_t *u)
{
    char name[64], group[32];
    bool is_sibling = u->sibling >= 0 && u->sibling < (int32_t)(u - sim->units);

    if (u->rank >= 0)
        snprintf(name, sizeof(name), "core %d, rank %d", u->core, u->rank);
    else
        snprintf(name, sizeof(name), "core %d%s", u->core,
                 is_sibling ? ", sibling" : (u->is_comm ? ", communication" : ""));
    if (sim->host_count > 1)
        snprintf(group, sizeof(group), "node %d, NUMA node %d", u->host, u->numa);
    else
        snprintf(group, sizeof(group), "NUMA node %d", u->numa);
    return xy_trace_row_create(trace, name, group, &u->row);
}

xy_status_t sim_record_begin(xy_sim_t *sim, xy_trace_t *trace)
{
    xy_status_t st = XY_OK;

    sim->trace = trace;
    for (int i = 0; i < sim->unit_count; i++)
        sim->units[i].row = NULL;
    if (trace == NULL)
        return XY_OK;
    sim->kind_compute = xy_trace_kind(trace, "compute", XY_TRACE_COMPUTE, 0);
    sim->kind_progress = xy_trace_kind(trace, "progress", XY_TRACE_PROGRESS, 0);
    sim->kind_wait = xy_trace_kind(trace, "wait", XY_TRACE_WAIT, 0);
    sim->kind_idle = xy_trace_kind(trace, "idle", XY_TRACE_IDLE, 0);
    for (int i = 0; i < sim->unit_count && st == XY_OK; i++)
        st = add_row(sim, trace, &sim->units[i]);
    return st;
}

static const sim_unit_t *unit_of(const sim_call_t *call, int32_t rank)
{
    return &call->sim->units[sim_core_of(call, rank)];
}

static void record_link(const sim_unit_t *unit, const sim_op_t *of, uint64_t start, uint64_t end)
{
    const xy_op_t *op = of->op;

    xy_trace_link_at(unit->row, xy_trace_row_number(unit_of(of->call, op->from.rank)->row), start,
                     xy_trace_row_number(unit_of(of->call, op->to.rank)->row), end, op->bytes,
                     XY_TRACE_NO_LABEL);
}

void sim_record_op(xy_sim_t *sim, const sim_unit_t *unit, const sim_op_t *op)
{
    uint64_t start, end;

    if (sim->trace == NULL)
        return;
    start = nanoseconds(unit->op_start);
    end = nanoseconds(sim->clock->now);
    xy_trace_state_at(unit->row, start, end, sim->kind_progress, op->op->actor, XY_TRACE_NO_LABEL);
    if (!op->is_remote && op->op->kind >= XY_OP_MOVE && op->op->from.rank != op->op->to.rank)
        record_link(unit, op, start, end);
}

void sim_record_message(xy_sim_t *sim, const sim_message_t *message)
{
    const sim_op_t *op = message->op;

    if (sim->trace != NULL)
        record_link(unit_of(op->call, op->op->from.rank), op, nanoseconds(message->start),
                    nanoseconds(sim->clock->now));
}

void sim_record_compute(xy_sim_t *sim, const sim_unit_t *unit, double start)
{
    xy_trace_state_at(unit->row, nanoseconds(start), nanoseconds(sim->clock->now),
                      sim->kind_compute, unit->rank, XY_TRACE_NO_LABEL);
}

/* Communication cores poll all the time, unless their threads are woken by semaphores. */
void sim_record_end(xy_sim_t *sim)
{
    bool polls =
        sim_is_tasks(sim) || sim->order->admits(&(xy_order_thread_t){.has_collective = true});

    if (sim->trace == NULL)
        return;
    for (int i = 0; i < sim->unit_count; i++) {
        const sim_unit_t *u = &sim->units[i];
        const sim_rank_t *r = u->rank >= 0 ? &sim->ranks[u->rank] : NULL;

        if (r != NULL && r->finish > r->wait_since)
            xy_trace_state_at(u->row, nanoseconds(r->wait_since), nanoseconds(r->finish),
                              sim->kind_wait, u->rank, XY_TRACE_NO_LABEL);
        else if (r == NULL)
            xy_trace_state_at(u->row, 0, nanoseconds(sim->result.end),
                              polls && u->is_comm ? sim->kind_wait : sim->kind_idle, XY_TRACE_NO_ID,
                              XY_TRACE_NO_LABEL);
    }
}
