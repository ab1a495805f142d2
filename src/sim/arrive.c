/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node as part of a larger simulation, by its clock: ranks start collectives when they like, run
 * code of their own, and wait. An operation may begin after the end of those before it and the
 * arrival of all ranks that it concerns. Any rank in a start call, or in Wait, does what belongs to
 * start calls: none waits there for other ranks.
 */
#include "sim/sim_internal.h"

#include <stdlib.h>

/* Progress threads, and communication cores, look for work from now on. */
void sim_node_begin(xy_sim_t *sim)
{
    sim_reset(sim);
    for (int r = 0; r < sim->node.ranks; r++) {
        sim->ranks[r].phase = SIM_OUTSIDE;
        sim->units[sim->core_of[r]].is_held = true;
    }
    sim_threads_begin(sim);
}

/* The ranks whose coming an operation waits for, 0 to 3: those that it concerns. One that comes
 * before all others and concerns none waits for its actor. */
static bool waits_for(const sim_op_t *op, int which, int32_t *rank_p)
{
    int32_t rank;

    if (sim_concerns(op, which, rank_p))
        return true;
    if (which > 0 || xy_graph_predecessors(op->call->graph, (int32_t)(op - op->call->ops)) > 0)
        return false;
    for (int i = 1; i < 4; i++)
        if (sim_concerns(op, i, &rank))
            return false;
    *rank_p = op->op->actor;
    return true;
}

/* The operations that wait for each rank, in order: of rank r those from first[r] on. */
static xy_status_t find_waiting(sim_call_t *call)
{
    int32_t *first = xy_calloc((size_t)call->ranks + 1, sizeof(*first)), rank;

    call->waiting_first = first;
    if (first == NULL)
        return xy_fail_memory("simulating");
    for (int32_t id = 0; id < call->op_count; id++)
        for (int i = 0; i < 4; i++)
            if (waits_for(&call->ops[id], i, &rank))
                first[rank]++;
    for (int32_t r = 0; r < call->ranks; r++)
        first[r + 1] += first[r];
    call->waiting = xy_calloc((size_t)first[call->ranks] + 1, sizeof(*call->waiting));
    if (call->waiting == NULL)
        return xy_fail_memory("simulating");
    /* Filled from behind, each end becomes the first of its rank. */
    for (int32_t id = call->op_count - 1; id >= 0; id--)
        for (int i = 0; i < 4; i++)
            if (waits_for(&call->ops[id], i, &rank)) {
                call->waiting[--first[rank]] = &call->ops[id];
                call->ops[id].before++;
            }
    return XY_OK;
}

static int compare_ops(const void *a, const void *b)
{
    const sim_op_t *const *x = a, *const *y = b;

    return (*x > *y) - (*x < *y);
}

/* Makes the operations ready that waited for the arrivals of this moment, in the order of the
 * graph.
 */
static void arrivals_over(xy_event_t *event)
{
    sim_call_t *call = (sim_call_t *)((char *)event - offsetof(sim_call_t, arrived));
    xy_sim_t *sim = event->owner;
    xy_vec_t fresh = call->fresh;

    call->fresh = XY_VEC_INIT(sim_op_t *);
    qsort(fresh.data, fresh.count, sizeof(sim_op_t *), compare_ops);
    for (size_t i = 0; i < fresh.count; i++)
        sim_op_ready(sim, XY_VEC_AT(&fresh, sim_op_t *, i));
    xy_vec_cleanup(&fresh);
    sim_instants_over(sim);
    for (int32_t r = 0; r < call->ranks; r++)
        sim_rank_in_start(sim, call->parts[r].rank);
    for (int32_t r = 0; r < call->ranks && sim->starts != NULL && sim_is_tasks(sim); r++)
        if (!sim_rank_is_busy(sim, call->parts[r].rank))
            sim_task_next(sim, sim->core_of[call->parts[r].rank]);
}

xy_status_t sim_call_begin(xy_sim_t *sim, sim_call_t *call)
{
    xy_status_t st = sim_call_init(sim, call);

    if (st == XY_OK)
        st = find_waiting(call);
    xy_event_init(&call->arrived, arrivals_over, sim, 0);
    call->fresh = XY_VEC_INIT(sim_op_t *);
    sim->running++;
    return st;
}

void sim_call_end(sim_call_t *call)
{
    if (--call->sim->running == 0)
        call->sim->calls = 0;
    xy_event_cancel(&call->gathered);
}

/* The progress thread of the rank has a collective more. */
static void thread_more(xy_sim_t *sim, const sim_part_t *part)
{
    int32_t thread = sim->node.ranks + part->rank;
    sim_thread_t *t = &sim->threads[thread];

    if (sim->node.progress != XY_SIM_THREADS || part->engine == 0)
        return;
    sim_turn_sync(sim, t->unit);
    sim->units[t->unit].idlers -= t->left == 0;
    if (t->remote == 0 && part->remote > 0)
        sim_unit_polls(sim, t->unit, 1);
    t->left += part->engine;
    t->remote += part->remote;
    sim_turn_changed(sim, thread);
}

void sim_call_arrive(sim_call_t *call, int32_t rank, bool is_in_start)
{
    xy_sim_t *sim = call->sim;
    sim_part_t *part = &call->parts[rank];
    sim_rank_t *r = &sim->ranks[part->rank];

    if (is_in_start)
        r->phase = SIM_IN_START;
    thread_more(sim, part);
    for (int32_t i = call->waiting_first[rank]; i < call->waiting_first[rank + 1]; i++)
        if (--call->waiting[i]->before == 0 &&
            xy_vec_append(&call->fresh, &call->waiting[i]) != XY_OK)
            xy_vclock_out_of_memory(sim->clock);
    xy_vclock_set_last(sim->clock, &call->arrived);
    if (part->left == 0) /* the end of the last part frees the call, after its arrivals */
        sim->driver.over(sim, part, sim->clock->now);
}

void sim_rank_wait(xy_sim_t *sim, int32_t rank)
{
    sim_unit_t *u = &sim->units[sim->core_of[rank]];
    bool is_new = sim->ranks[rank].phase == SIM_OUTSIDE;

    if (sim->ranks[rank].phase == SIM_IN_START)
        return;
    sim->ranks[rank].phase = SIM_IN_WAIT;
    u->is_held = false;
    if (sim_is_tasks(sim) && u->op == NULL) {
        sim_task_next(sim, sim->core_of[rank]);
    } else if (!sim_is_tasks(sim) && is_new) {
        sim_starts_take_over(sim, rank);
        u->turn_end = sim->clock->now;
        u->is_asleep = false;
        sim_turn_changed(sim, rank);
    }
}

void sim_rank_poll(xy_sim_t *sim, int32_t rank)
{
    sim_rank_wait(sim, rank);
    if (!sim_is_tasks(sim) && sim->ranks[rank].phase == SIM_IN_WAIT)
        sim_turn_now(sim, sim->core_of[rank]);
}

bool sim_rank_is_busy(const xy_sim_t *sim, int32_t rank)
{
    return sim->units[sim->core_of[rank]].op != NULL;
}

void sim_rank_leave(xy_sim_t *sim, int32_t rank)
{
    int32_t unit = sim->core_of[rank];

    if (sim->ranks[rank].phase != SIM_IN_WAIT)
        return;
    if (!sim_is_tasks(sim))
        sim_turn_sync(sim, unit);
    sim->ranks[rank].phase = SIM_OUTSIDE;
    sim_starts_leave(sim, rank);
    sim->units[unit].is_held = true;
    if (!sim_is_tasks(sim))
        sim_turn_changed(sim, rank);
    sim_rank_sees(sim, rank, sim->clock->now);
}
