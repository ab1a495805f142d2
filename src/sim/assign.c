/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of a graph: how long each takes, whose bandwidth, and who does it.
 *
 * Split-tree is read from the graph alone. Along its edges the levels of an all-to-one tree grow,
 * those of a one-to-all tree shrink. A level of the first S belongs to the start call as long as
 * nothing before it is left to the engine and its tree goes up; otherwise to Wait. An allreduce is
 * both trees, one after the other, and gets both.
 */
#include "sim/sim_internal.h"

#include <string.h>

/* The known shape of the graph. */
typedef struct {
    bool goes_up, goes_down;
    int32_t height;         /* highest level; 0: no tree */
    uint8_t *is_down;       /* per operation: part of a one-to-all tree */
    uint8_t *is_after_rest; /* per operation: something before it is not part of the start call */
} shape_t;

/* Is it no message? Between hosts so are the pieces of what is done inside one. */
static bool is_piece(const sim_call_t *call, const xy_op_t *op)
{
    return op->is_direct && (sim_is_direct(call) || call->sim->host_count > 1);
}

/* Returns the time of an operation on a core, without memory contention. */
static double op_seconds(const sim_call_t *call, const xy_op_t *op)
{
    const xy_sim_t *sim = call->sim;
    const xy_sim_costs_t *c = &sim->node.costs;
    double speed = op->kind == XY_OP_MOVE ? c->copy : c->reduce;
    double alpha = is_piece(call, op) ? 0 : c->alpha;

    if (op->kind == XY_OP_NONE)
        return 0;
    if (op->kind == XY_OP_COMPUTE)
        return op->seconds;
    if (sim_is_model(sim)) {
        if (op->from.rank == op->to.rank)
            return 0;
        return sim->node.model == XY_SIM_MODEL_CONSTANT ? 1 : exp2(op->level - 1);
    }
    if (sim->node.link != NULL)
        return xy_coll_seconds(op, sim->node.link);
    if (sim_is_direct(call) && op->bytes == 0) /* a barrier: see progress_tasks.c */
        return 0;
    return alpha + (speed > 0 ? (double)op->bytes / speed : 0);
}

/* A reduction is slower than a copy, and takes less of the bandwidth. */
static double op_weight(const xy_sim_t *sim, const xy_op_t *op)
{
    const xy_sim_costs_t *c = &sim->node.costs;

    return op->kind > XY_OP_MOVE && c->copy > 0 && c->reduce > 0 ? c->reduce / c->copy : 1;
}

/* The part that takes no bandwidth. */
static double op_fixed(const sim_call_t *call, const xy_op_t *op)
{
    const xy_sim_t *sim = call->sim;

    if (op->kind < XY_OP_MOVE || sim_is_model(sim) || sim->node.link != NULL)
        return 0;
    return is_piece(call, op) ? 0 : sim->node.costs.alpha;
}

/* Between hosts; what the model or a link says does not ask where ranks are. */
static bool is_remote(const sim_call_t *call, const xy_op_t *op)
{
    const xy_sim_t *sim = call->sim;
    int32_t to;

    if (sim->host_count < 2 || op->kind < XY_OP_MOVE || sim_is_model(sim) || sim->node.link != NULL)
        return false;
    to = sim_host_in(call, op->to.rank);
    return sim_host_in(call, op->from.rank) != to ||
           (op->kind == XY_OP_COMBINE && sim_host_in(call, op->other.rank) != to);
}

/* Data from the network is reduced where it arrives. `read`: see sim_memory.h. */
static int32_t op_domain(const sim_call_t *call, const sim_op_t *op, xy_hash_t *read)
{
    const xy_sim_t *sim = call->sim;
    int from, to;

    if (op->op->kind < XY_OP_MOVE || sim_is_model(sim))
        return -1;
    to = sim_core_of(call, op->op->to.rank);
    from = op->is_remote ? to : sim_core_of(call, op->op->from.rank);
    return is_piece(call, op->op) ? sim_memory_piece(sim->memory, read, op->op, from, to)
                                  : sim_memory_domain(sim->memory, from, to);
}

/* Sets the height of a tree and which operations lead down its levels. */
static void look_at_edges(const sim_call_t *call, shape_t *shape)
{
    for (int32_t id = 0; id < call->op_count; id++) {
        const xy_op_t *op = call->ops[id].op;
        const xy_op_id_t *after;
        int32_t n = xy_graph_successors(call->graph, id, &after);

        if (op->level > shape->height)
            shape->height = op->level;
        for (int32_t i = 0; i < n && op->level > 0; i++) {
            int32_t level = call->ops[after[i]].op->level;

            shape->goes_up |= level > op->level;
            if (level > 0 && level < op->level)
                shape->is_down[id] = shape->goes_down = true;
        }
    }
}

/* Find the one-to-all trees: an operation after one, or a level below, is part of one too. */
static void find_directions(const sim_call_t *call, shape_t *shape)
{
    const xy_op_id_t *order = xy_graph_topological(call->graph);

    for (int32_t i = 0; i < call->op_count; i++) {
        const xy_op_t *op = call->ops[order[i]].op;
        const xy_op_id_t *after;
        int32_t n = xy_graph_successors(call->graph, order[i], &after);

        if (shape->goes_down && !shape->goes_up)
            shape->is_down[order[i]] = true;
        for (int32_t j = 0; j < n; j++)
            shape->is_down[after[j]] |=
                shape->is_down[order[i]] || (op->level > 0 && call->ops[after[j]].op->level > 0 &&
                                             op->level > call->ops[after[j]].op->level);
    }
}

static uint8_t who(const sim_call_t *call, const shape_t *shape, int32_t id)
{
    const xy_op_t *op = call->ops[id].op;

    if (sim_is_direct(call) && !op->is_direct && op->bytes > 0)
        return SIM_BY_START; /* left for the others before the barrier */
    if (call->split == 0 || op->level > call->split)
        return SIM_BY_ENGINE;
    if (!shape->is_after_rest[id] && !shape->is_down[id])
        return SIM_BY_START;
    return op->level > 0 ? SIM_BY_WAIT : SIM_BY_ENGINE;
}

/* The rank of the graph whose thread does an operation; -1: any. */
static int32_t doer_for(const sim_call_t *call, const sim_op_t *op)
{
    bool is_message =
        op->op->kind == XY_OP_MOVE && op->op->from.rank != op->op->to.rank && !op->op->is_direct;

    if (op->by == SIM_BY_ENGINE && sim_is_tasks(call->sim))
        return -1;
    return is_message ? op->op->from.rank : op->op->actor;
}

static int32_t thread_for(const sim_call_t *call, const sim_op_t *op)
{
    int32_t rank = op->doer < 0 ? -1 : sim_rank_of(call, op->doer);
    bool is_own = op->by != SIM_BY_ENGINE || call->sim->node.progress == XY_SIM_NONE;

    return is_own || rank < 0 ? rank : call->sim->node.ranks + rank;
}

/* Sets the time from each operation to the end. */
static void find_tails(sim_call_t *call)
{
    const xy_op_id_t *order = xy_graph_topological(call->graph);

    for (int32_t i = call->op_count - 1; i >= 0; i--) {
        sim_op_t *op = &call->ops[order[i]];
        const xy_op_id_t *after;
        int32_t n = xy_graph_successors(call->graph, order[i], &after);

        for (int32_t j = 0; j < n; j++)
            op->tail = fmax(op->tail, call->ops[after[j]].tail);
        op->tail += op->seconds;
        if (op->is_remote)
            op->tail += sim_transfer_time(op);
    }
}

/* Assigns each operation to a core or thread, and counts the operations of each rank. */
static void assign(sim_call_t *call, const shape_t *shape)
{
    const xy_op_id_t *order = xy_graph_topological(call->graph);

    for (int32_t i = 0; i < call->op_count; i++) {
        int32_t id = order[i], rank;
        sim_op_t *op = &call->ops[id];
        const xy_op_id_t *after;
        int32_t n = xy_graph_successors(call->graph, id, &after);

        op->by = who(call, shape, id);
        op->doer = doer_for(call, op);
        op->thread = thread_for(call, op);
        if (op->by == SIM_BY_START)
            call->parts[op->doer].start_left++;
        for (int32_t j = 0; j < n; j++)
            shape->is_after_rest[after[j]] |= op->by != SIM_BY_START;
        for (int j = 0; j < 4; j++)
            if (sim_concerns(op, j, &rank)) {
                call->parts[rank].left++;
                call->parts[rank].engine += op->by == SIM_BY_ENGINE;
                call->parts[rank].remote += op->by == SIM_BY_ENGINE && op->is_remote;
            }
    }
    for (int r = 0; r < call->ranks && sim_is_direct(call); r++)
        call->parts[r].left++; /* ends for all ranks at once: sim_task_release() */
    find_tails(call);
}

/* Levels of the model in the order of time: up, then down. */
static xy_status_t find_levels(sim_call_t *call, const shape_t *shape)
{
    int32_t count = 2 * shape->height + 2;

    call->level_left = xy_calloc((size_t)count, sizeof(*call->level_left));
    call->level_first = xy_calloc((size_t)count, sizeof(*call->level_first));
    if (call->level_left == NULL || call->level_first == NULL)
        return xy_fail_memory("simulating");
    call->level_count = count;
    call->level = 1;
    for (int32_t id = 0; id < call->op_count && sim_is_model(call->sim); id++) {
        sim_op_t *op = &call->ops[id];

        if (op->op->level == 0)
            continue;
        op->level = op->op->level;
        if (shape->is_down[id])
            op->level = (shape->goes_up ? 2 : 1) * shape->height + 1 - op->level;
        call->level_left[op->level]++;
    }
    return XY_OK;
}

bool sim_graph_is_direct(const xy_graph_t *graph)
{
    for (int32_t id = 0; id < xy_graph_ops(graph); id++)
        if (xy_graph_op(graph, id)->is_direct)
            return true;
    return false;
}

/* Computes the cost, memory domain and predecessors of each operation, and prepares messages
 * between hosts. */
static xy_status_t prepare_ops(sim_call_t *call)
{
    xy_sim_t *sim = call->sim;
    xy_hash_t read; /* direct: what NUMA nodes have read */
    double taken = 0;

    call->is_direct = sim_graph_is_direct(call->graph);
    xy_hash_init(&read, XY_HASH_U64);
    for (int32_t id = 0; id < call->op_count; id++) {
        sim_op_t *op = &call->ops[id];

        op->op = xy_graph_op(call->graph, id);
        op->call = call;
        op->is_chained = is_piece(call, op->op) && op->op->is_chained;
        op->seconds = op_seconds(call, op->op);
        op->weight = op_weight(sim, op->op);
        op->fixed = op_fixed(call, op->op);
        op->before = xy_graph_predecessors(call->graph, id);
        op->is_remote = is_remote(call, op->op);
        op->domain = op_domain(call, op, &read);
        op->message = -1;
        sim->result.work += op->is_remote ? 0 : op->seconds;
        taken += op->is_remote ? 0 : op->seconds * op->weight;
    }
    sim->weight = sim->result.work > 0 && taken > 0 ? taken / sim->result.work : 1;
    xy_hash_cleanup(&read);
    return sim_network_prepare(call);
}

/* Allocates the parts and operations of a call. */
static xy_status_t allocate(xy_sim_t *sim, sim_call_t *call)
{
    call->sim = sim;
    call->op_count = call->left = xy_graph_ops(call->graph);
    call->number = sim->calls++;
    call->parts = xy_calloc((size_t)call->ranks, sizeof(*call->parts));
    call->ops = xy_calloc((size_t)call->op_count + 1, sizeof(*call->ops));
    if (call->parts == NULL || call->ops == NULL)
        return xy_fail_memory("simulating");
    for (int32_t r = 0; r < call->ranks; r++) {
        call->parts[r].call = call;
        call->parts[r].rank = sim_rank_of(call, r);
    }
    xy_event_init(&call->gathered, sim_task_gathered, sim, 0);
    return XY_OK;
}

xy_status_t sim_call_init(xy_sim_t *sim, sim_call_t *call)
{
    shape_t shape = {0};
    xy_status_t st = allocate(sim, call);

    if (st == XY_OK)
        st = prepare_ops(call);
    if (st != XY_OK)
        return st;
    shape.is_down = xy_calloc(2 * ((size_t)call->op_count + 1), 1);
    if (shape.is_down == NULL)
        return xy_fail_memory("simulating");
    shape.is_after_rest = shape.is_down + call->op_count + 1;
    look_at_edges(call, &shape);
    find_directions(call, &shape);
    if (call->is_direct)
        call->split = 0;
    assign(call, &shape);
    st = find_levels(call, &shape);
    xy_free(shape.is_down);
    return st;
}

void sim_call_cleanup(sim_call_t *call)
{
    xy_free(call->parts);
    xy_free(call->ops);
    xy_free(call->messages);
    xy_free(call->level_left);
    xy_free(call->level_first);
    xy_free(call->waiting);
    xy_free(call->waiting_first);
    xy_vec_cleanup(&call->fresh);
    *call = (sim_call_t){0};
}
