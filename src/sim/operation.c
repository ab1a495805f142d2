/* SPDX-License-Identifier: BSD-3-Clause */
/* The start and the end of operations. */
#include "sim/sim_internal.h"

static int32_t owner(const xy_spot_t *place)
{
    return place->buffer < XY_BUFFER_TEMPORARY ? place->rank : -1;
}

/* The ranks whose buffers it touches (temporaries belong to the runtime) and the one that does it.
 */
/* The rank that has to see to an operation, or -1. What anyone on its host may do concerns no rank,
 * but a message to another host may start in scratch memory, and without communication cores only
 * ranks that still wait can send it: its sender stays. */
static int32_t doer_of(const xy_sim_t *sim, const sim_op_t *op)
{
    if (op->thread >= 0)
        return sim->threads[op->thread].rank;
    if (!op->is_remote)
        return -1;
    return op->op->kind == XY_OP_MOVE ? op->op->from.rank : op->op->to.rank;
}

bool sim_concerns(const xy_sim_t *sim, const sim_op_t *op, int which, int32_t *rank_p)
{
    bool has_places = op->op->kind >= XY_OP_MOVE;
    int32_t doer = doer_of(sim, op);
    int32_t ranks[4] = {has_places ? doer : op->op->actor, has_places ? owner(&op->op->from) : -1,
                        has_places ? owner(&op->op->to) : -1,
                        op->op->kind == XY_OP_COMBINE ? owner(&op->op->other) : -1};

    for (int i = 0; i < which; i++)
        if (ranks[i] == ranks[which])
            return false;
    *rank_p = ranks[which];
    return ranks[which] >= 0;
}

/* The oldest first, but what belongs to the start call before what must wait for Wait. */
static void thread_put(xy_sim_t *sim, int32_t thread, int32_t op)
{
    sim_thread_t *t = &sim->threads[thread];
    bool is_empty = t->count++ == 0;

    if (!is_empty && sim->ops[op].by == SIM_BY_START) {
        sim->ops[op].next = t->first;
        t->first = op;
        return;
    }
    sim->ops[op].next = -1;
    if (is_empty)
        t->first = op;
    else
        sim->ops[t->last].next = op;
    t->last = op;
}

int32_t sim_thread_take(xy_sim_t *sim, int32_t thread)
{
    sim_thread_t *t = &sim->threads[thread];
    int32_t op = t->first;

    t->first = sim->ops[op].next;
    t->count--;
    return op;
}

/* Hand it to the thread or list that executes it. */
static void dispatch(xy_sim_t *sim, int32_t id)
{
    int32_t thread = sim->ops[id].thread, rank;

    if (thread < 0) {
        sim_task_push(sim, id);
        return;
    }
    rank = thread < sim->node.ranks ? thread : -1;
    if (rank >= 0 && sim->ranks[rank].phase == SIM_IN_START) {
        thread_put(sim, thread, id);
        sim_rank_in_start(sim, rank);
    } else if (rank >= 0 && sim_is_tasks(sim)) {
        thread_put(sim, thread, id);
        if (sim->ranks[rank].phase == SIM_IN_WAIT && sim->units[sim->threads[thread].unit].op < 0)
            sim_task_next(sim, sim->threads[thread].unit);
    } else {
        sim_turn_sync(sim, sim->threads[thread].unit);
        thread_put(sim, thread, id);
        sim_turn_changed(sim, thread);
    }
}

void sim_op_ready(xy_sim_t *sim, int32_t id)
{
    sim_op_t *op = &sim->ops[id];

    if (op->level > sim->level) { /* model: its level did not begin yet */
        op->next = sim->level_first[op->level];
        sim->level_first[op->level] = id;
    } else if (op->is_chained) {
        return; /* the unit that did the previous one continues with it */
    } else if (op->op->kind == XY_OP_NONE ||
               ((sim_is_model(sim) || sim_is_direct(sim)) && op->seconds == 0)) {
        op->next = -1; /* over at once, but not from here: a long chain of them would recurse */
        if (sim->instant_first < 0)
            sim->instant_first = id;
        else
            sim->ops[sim->instant_last].next = id;
        sim->instant_last = id;
    } else {
        dispatch(sim, id);
    }
}

void sim_op_start(xy_sim_t *sim, int32_t unit, int32_t id, double overhead)
{
    sim_unit_t *u = &sim->units[unit];
    double seconds = overhead + sim->ops[id].seconds, fixed = overhead + sim->ops[id].fixed;
    int32_t domain = sim->ops[id].domain;

    if (u->sibling >= 0 && sim->units[u->sibling].compute_rate > 0) {
        seconds /= sim_speed_beside(sim, id);
        fixed /= sim_speed_beside(sim, id);
    }
    u->op = id;
    u->share.weight = sim->ops[id].weight;
    u->op_start = sim->clock.now;
    if (domain < 0 || sim->ops[id].message >= 0 || sim->domains[domain].capacity <= 0) {
        xy_vclock_set(&sim->clock, &u->event, sim->clock.now + seconds);
    } else {
        u->flow = fmax(0, seconds - fixed);
        xy_vclock_set(&sim->clock, &u->event, sim->clock.now + fixed);
    }
    if (u->sibling >= 0)
        sim_compute_speed(sim, u->sibling);
}

/* The rank, and its progress thread, have one thing less to wait for. */
static void concern_over(xy_sim_t *sim, const sim_op_t *op, int32_t rank)
{
    sim_rank_t *r = &sim->ranks[rank];
    int32_t unit = sim->threads[rank].unit, thread = sim->node.ranks + rank;

    if (sim->node.progress == XY_SIM_THREADS && op->by == SIM_BY_ENGINE &&
        sim->threads[thread].left == 1)
        sim_turn_sync(sim, sim->threads[thread].unit);
    if (sim->node.progress == XY_SIM_THREADS && op->by == SIM_BY_ENGINE &&
        --sim->threads[thread].left == 0) {
        sim->units[sim->threads[thread].unit].idlers++;
        sim_turn_changed(sim, thread);
    }
    if (sim->node.progress == XY_SIM_THREADS && op->by == SIM_BY_ENGINE && op->is_remote &&
        --sim->threads[thread].remote == 0)
        sim_unit_polls(sim, sim->threads[thread].unit, -1);
    if (r->left > 1 || r->phase != SIM_IN_WAIT) {
        r->left--;
    } else if (sim_is_tasks(sim)) {
        r->left--;
        if (sim->units[unit].op < 0)
            sim_rank_finish(sim, rank,
                            sim->clock.now + (sim_is_model(sim) ? 0 : sim->node.costs.poll));
    } else {
        sim_turn_sync(sim, unit);
        r->left--;
        sim_turn_changed(sim, rank);
    }
}

void sim_level_over(xy_sim_t *sim)
{
    while (sim->level < sim->level_count && sim->level_left[sim->level] == 0) {
        int32_t id;

        if (++sim->level == sim->level_count)
            break;
        id = sim->level_first[sim->level];
        sim->level_first[sim->level] = -1;
        while (id >= 0) {
            int32_t next = sim->ops[id].next;

            sim_op_ready(sim, id);
            id = next;
        }
    }
}

/* Ends an operation and releases its successors. */
static void over(xy_sim_t *sim, int32_t id)
{
    const sim_op_t *op = &sim->ops[id];
    const xy_op_id_t *after;
    int32_t n = xy_graph_successors(sim->graph, id, &after), rank;

    sim->result.ops++;
    if (op->by == SIM_BY_START)
        sim->ranks[op->thread].start_left--;
    for (int32_t i = 0; i < n; i++)
        if (--sim->ops[after[i]].before == 0)
            sim_op_ready(sim, after[i]);
    for (int i = 0; i < 4; i++)
        if (sim_concerns(sim, op, i, &rank))
            concern_over(sim, op, rank);
    if (op->level > 0) {
        sim->level_left[op->level]--;
        sim_level_over(sim);
    }
    if (sim_is_direct(sim) && sim->result.ops == (uint64_t)sim->op_count)
        sim_task_release(sim);
}

void sim_instants_over(xy_sim_t *sim)
{
    while (sim->instant_first >= 0) {
        int32_t id = sim->instant_first;

        sim->instant_first = sim->ops[id].next;
        over(sim, id);
        if (sim->ops[id].by == SIM_BY_START)
            sim_rank_in_start(sim, sim->ops[id].thread);
    }
}

/* Ends the operation of a unit, or sends its message, and gives the unit its next work. */
static void finished(xy_sim_t *sim, int32_t unit)
{
    sim_unit_t *u = &sim->units[unit];
    int32_t id = u->op;
    bool is_start = u->is_held;

    sim_record_op(sim, u, &sim->ops[id]);
    if (sim->ops[id].message >= 0) {
        sim_network_send(sim, id);
    } else {
        over(sim, id);
        sim_instants_over(sim);
    }
    u->op = -1;
    if (u->sibling >= 0)
        sim_compute_speed(sim, u->sibling);
    if (is_start)
        sim_rank_in_start(sim, u->rank);
    else if (sim_is_tasks(sim)) {
        if (!sim_task_continue(sim, unit, id))
            sim_task_next(sim, unit);
    } else
        sim_turn_next(sim, unit);
}

void sim_flow_done(void *model, void *unit)
{
    xy_sim_t *sim = model;

    finished(sim, (int32_t)((sim_unit_t *)unit - sim->units));
}

void sim_message_done(void *model, xy_flow_t *flow)
{
    xy_sim_t *sim = model;
    const sim_message_t *message = (const sim_message_t *)flow;
    sim_op_t *op = &sim->ops[message->op];

    sim_record_message(sim, message);
    op->seconds = message->rest;
    if (message->rest > 0)
        sim_op_ready(sim, message->op);
    else
        over(sim, message->op);
    sim_instants_over(sim);
    if (op->by == SIM_BY_START)
        sim_rank_in_start(sim, op->thread);
}

void sim_unit_due(xy_event_t *event)
{
    xy_sim_t *sim = event->owner;
    sim_unit_t *u = &sim->units[event->index];

    if (u->op >= 0 && u->flow > 0) {
        double flow = u->flow;

        u->flow = 0;
        xy_share_start(&sim->domains[sim->ops[u->op].domain], &u->share, flow);
    } else if (u->op >= 0) {
        finished(sim, event->index);
    } else if (u->compute_rate > 0) {
        sim_rank_computed(sim, event->index);
    } else if (sim->arrivals == SIM_GATHERING) {
        sim_task_gathered(sim);
    } else {
        sim_turn_due(sim, event->index);
    }
}
