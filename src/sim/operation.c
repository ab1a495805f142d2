/* SPDX-License-Identifier: BSD-3-Clause */
/* The start and the end of operations. */
#include "sim/sim_internal.h"

static int32_t owner(const xy_spot_t *place)
{
    return place->buffer < XY_BUFFER_TEMPORARY ? place->rank : -1;
}

/* The rank that has to see to an operation, or -1. What anyone on its host may do concerns no rank,
 * but a message to another host may start in scratch memory, and without communication cores only
 * ranks that still wait can send it: its sender stays. */
static int32_t doer_of(const sim_op_t *op)
{
    if (op->doer >= 0 || !op->is_remote)
        return op->doer;
    return op->op->kind == XY_OP_MOVE ? op->op->from.rank : op->op->to.rank;
}

bool sim_concerns(const sim_op_t *op, int which, int32_t *rank_p)
{
    bool has_places = op->op->kind >= XY_OP_MOVE;
    int32_t ranks[4] = {has_places ? doer_of(op) : op->op->actor,
                        has_places ? owner(&op->op->from) : -1,
                        has_places ? owner(&op->op->to) : -1,
                        op->op->kind == XY_OP_COMBINE ? owner(&op->op->other) : -1};

    for (int i = 0; i < which; i++)
        if (ranks[i] == ranks[which])
            return false;
    *rank_p = ranks[which];
    return ranks[which] >= 0;
}

/* The oldest first, but what belongs to the start call before what must wait for Wait. */
static void thread_put(xy_sim_t *sim, sim_op_t *op)
{
    sim_thread_t *t = &sim->threads[op->thread];
    bool is_empty = t->count++ == 0;

    if (!is_empty && op->by == SIM_BY_START) {
        op->next = t->first;
        t->first = op;
        return;
    }
    op->next = NULL;
    if (is_empty)
        t->first = op;
    else
        t->last->next = op;
    t->last = op;
}

sim_op_t *sim_thread_take(xy_sim_t *sim, int32_t thread)
{
    sim_thread_t *t = &sim->threads[thread];
    sim_op_t *op = t->first;

    t->first = op->next;
    t->count--;
    return op;
}

/* The oldest first. */
static void start_put(xy_sim_t *sim, sim_op_t *op)
{
    op->next = NULL;
    if (sim->starts == NULL)
        sim->starts = op;
    else
        sim->last_start->next = op;
    sim->last_start = op;
}

sim_op_t *sim_start_take(xy_sim_t *sim)
{
    sim_op_t *op = sim->starts;

    if (op != NULL)
        sim->starts = op->next;
    return op;
}

/* The rank that does what belongs to the start call of another one: any in Wait, `own` if it is
 * there. -1: one that is in a start call now, or comes next; always so in a simulation of a node
 * alone, where all start at the same time. */
static int32_t starter(const xy_sim_t *sim, int32_t own)
{
    int32_t found = -1;

    for (int32_t r = 0; r < sim->node.ranks; r++) {
        if (sim->ranks[r].phase == SIM_IN_START || sim->driver.started == NULL)
            return -1;
        if (sim->ranks[r].phase == SIM_IN_WAIT && (found < 0 || r == own))
            found = r;
    }
    return found;
}

/* Hand it to the thread or list that executes it. */
static void dispatch(xy_sim_t *sim, sim_op_t *op)
{
    int32_t thread = op->thread, rank;

    if (op->by == SIM_BY_START && sim_shares_starts(op->call)) {
        thread = starter(sim, op->thread);
        if (thread < 0) {
            start_put(sim, op);
            return;
        }
        op->thread = thread;
    }
    if (thread < 0) {
        sim_task_push(sim, op);
        return;
    }
    rank = thread < sim->node.ranks ? thread : -1;
    if (rank >= 0 && sim->ranks[rank].phase == SIM_IN_START) {
        thread_put(sim, op);
        sim_rank_in_start(sim, rank);
    } else if (rank >= 0 && sim_is_tasks(sim)) {
        thread_put(sim, op);
        if (sim->ranks[rank].phase == SIM_IN_WAIT &&
            sim->units[sim->threads[thread].unit].op == NULL)
            sim_task_next(sim, sim->threads[thread].unit);
    } else {
        sim_turn_sync(sim, sim->threads[thread].unit);
        thread_put(sim, op);
        sim_turn_changed(sim, thread);
    }
}

void sim_starts_take_over(xy_sim_t *sim, int32_t rank)
{
    sim_op_t *op;

    while ((op = sim_start_take(sim)) != NULL) {
        op->thread = rank;
        thread_put(sim, op);
    }
}

void sim_starts_leave(xy_sim_t *sim, int32_t rank)
{
    sim_thread_t *t = &sim->threads[rank];

    while (t->count > 0 && t->first->by == SIM_BY_START && sim_shares_starts(t->first->call))
        dispatch(sim, sim_thread_take(sim, rank));
}

void sim_op_ready(xy_sim_t *sim, sim_op_t *op)
{
    sim_call_t *call = op->call;

    if (op->level > call->level) { /* model: its level did not begin yet */
        op->next = call->level_first[op->level];
        call->level_first[op->level] = op;
    } else if (op->is_chained) {
        return; /* the unit that did the previous one continues with it */
    } else if (op->op->kind == XY_OP_NONE ||
               ((sim_is_model(sim) || sim_is_direct(call)) && op->seconds == 0)) {
        op->next = NULL; /* over at once, but not from here: a long chain of them would recurse */
        if (sim->instant_first == NULL)
            sim->instant_first = op;
        else
            sim->instant_last->next = op;
        sim->instant_last = op;
    } else {
        dispatch(sim, op);
    }
}

void sim_op_start(xy_sim_t *sim, int32_t unit, sim_op_t *op, double overhead)
{
    sim_unit_t *u = &sim->units[unit];
    double seconds = overhead + op->seconds, fixed = overhead + op->fixed;

    if (u->sibling >= 0 && sim->units[u->sibling].compute_rate > 0) {
        seconds /= sim_speed_beside(sim, op);
        fixed /= sim_speed_beside(sim, op);
    }
    u->op = op;
    u->share.weight = op->weight;
    u->op_start = sim->clock->now;
    if (op->message >= 0 || !sim_memory_is_limited(sim->memory, op->domain)) {
        xy_vclock_set(sim->clock, &u->event, sim->clock->now + seconds);
    } else {
        u->flow = fmax(0, seconds - fixed);
        xy_vclock_set(sim->clock, &u->event, sim->clock->now + fixed);
    }
    if (u->sibling >= 0)
        sim_compute_speed(sim, u->sibling);
}

/* Its progress thread has an operation less to wait for. */
static void thread_less(xy_sim_t *sim, const sim_op_t *op, int32_t thread)
{
    sim_thread_t *t = &sim->threads[thread];

    if (t->left == 1)
        sim_turn_sync(sim, t->unit);
    if (--t->left == 0) {
        sim->units[t->unit].idlers++;
        sim_turn_changed(sim, thread);
    }
    if (op->is_remote && --t->remote == 0)
        sim_unit_polls(sim, t->unit, -1);
}

void sim_rank_sees(xy_sim_t *sim, int32_t rank, double when)
{
    sim_part_t *part = sim->ranks[rank].over;

    sim->ranks[rank].over = NULL;
    while (part != NULL) {
        sim_part_t *next = part->next;

        sim->driver.over(sim, part, when);
        part = next;
    }
}

/* The rank has nothing left to wait for. */
static void end_part(xy_sim_t *sim, sim_part_t *part)
{
    sim_rank_t *r = &sim->ranks[part->rank];
    int32_t unit = sim->threads[part->rank].unit;

    if (r->phase != SIM_IN_WAIT) {
        sim->driver.over(sim, part, fmax(sim->clock->now, part->released));
        return;
    }
    if (!sim_is_tasks(sim))
        sim_turn_sync(sim, unit);
    part->next = r->over;
    r->over = part;
    if (!sim_is_tasks(sim))
        sim_turn_changed(sim, part->rank);
    else if (sim->units[unit].op == NULL)
        sim_rank_sees(sim, part->rank,
                      sim->clock->now + (sim_is_model(sim) ? 0 : sim->node.costs.poll));
}

/* The rank, and its progress thread, have one thing less to wait for. */
static void concern_over(xy_sim_t *sim, const sim_op_t *op, int32_t rank)
{
    sim_part_t *part = &op->call->parts[rank];

    if (sim->node.progress == XY_SIM_THREADS && op->by == SIM_BY_ENGINE)
        thread_less(sim, op, sim->node.ranks + part->rank);
    if (--part->left == 0)
        end_part(sim, part);
}

void sim_level_over(sim_call_t *call)
{
    while (call->level < call->level_count && call->level_left[call->level] == 0) {
        sim_op_t *op;

        if (++call->level == call->level_count)
            break;
        op = call->level_first[call->level];
        call->level_first[call->level] = NULL;
        while (op != NULL) {
            sim_op_t *next = op->next;

            sim_op_ready(call->sim, op);
            op = next;
        }
    }
}

/* Ends an operation and releases its successors. */
static void over(xy_sim_t *sim, sim_op_t *op)
{
    sim_call_t *call = op->call;
    const xy_op_id_t *after;
    int32_t n = xy_graph_successors(call->graph, (int32_t)(op - call->ops), &after), rank;

    sim->result.ops++;
    call->left--;
    if (op->by == SIM_BY_START)
        call->parts[op->doer].start_left--;
    for (int32_t i = 0; i < n; i++)
        if (--call->ops[after[i]].before == 0)
            sim_op_ready(sim, &call->ops[after[i]]);
    for (int i = 0; i < 4; i++)
        if (sim_concerns(op, i, &rank))
            concern_over(sim, op, rank);
    if (op->level > 0) {
        call->level_left[op->level]--;
        sim_level_over(call);
    }
    if (sim_is_direct(call) && call->left == 0)
        sim_task_release(sim, call);
}

void sim_instants_over(xy_sim_t *sim)
{
    while (sim->instant_first != NULL) {
        sim_op_t *op = sim->instant_first;

        sim->instant_first = op->next;
        over(sim, op);
        if (op->by == SIM_BY_START && !sim_shares_starts(op->call))
            sim_rank_in_start(sim, op->thread);
    }
}

/* Ends the operation of a unit, or sends its message, and gives the unit its next work. */
static void finished(xy_sim_t *sim, int32_t unit)
{
    sim_unit_t *u = &sim->units[unit];
    sim_op_t *op = u->op;
    bool is_start = u->is_held;

    sim_record_op(sim, u, op);
    if (op->message >= 0) {
        sim_network_send(sim, op);
    } else {
        over(sim, op);
        sim_instants_over(sim);
    }
    u->op = NULL;
    if (u->sibling >= 0)
        sim_compute_speed(sim, u->sibling);
    if (is_start) {
        sim_rank_in_start(sim, u->rank);
        return;
    }
    if (!sim_is_tasks(sim))
        sim_turn_next(sim, unit);
    else if (sim_task_continue(sim, unit, op))
        return;
    if (u->op == NULL && u->rank >= 0 && sim->driver.is_free != NULL)
        sim->driver.is_free(sim, u->rank);
    if (u->op == NULL && sim_is_tasks(sim))
        sim_task_next(sim, unit);
}

void sim_flow_done(xy_share_user_t *user)
{
    const xy_event_t *event = &((sim_unit_t *)user)->event;

    finished(event->owner, event->index);
}

void sim_message_done(void *model, xy_flow_t *flow)
{
    xy_sim_t *sim = model;
    const sim_message_t *message = (const sim_message_t *)flow;
    sim_op_t *op = message->op;

    sim_record_message(sim, message);
    op->seconds = message->rest;
    if (message->rest > 0)
        sim_op_ready(sim, op);
    else
        over(sim, op);
    sim_instants_over(sim);
    if (op->by == SIM_BY_START)
        sim_rank_in_start(sim, op->thread);
}

void sim_unit_due(xy_event_t *event)
{
    xy_sim_t *sim = event->owner;
    sim_unit_t *u = &sim->units[event->index];

    if (u->op != NULL && u->flow > 0) {
        double flow = u->flow;

        u->flow = 0;
        xy_share_start(&sim->memory->domains[u->op->domain], &u->share, flow);
    } else if (u->op != NULL) {
        finished(sim, event->index);
    } else if (u->compute_rate > 0) {
        sim_rank_computed(sim, event->index);
    } else {
        sim_turn_due(sim, event->index);
    }
}
