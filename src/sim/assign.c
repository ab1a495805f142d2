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
static bool is_piece(const xy_sim_t *sim, const xy_op_t *op)
{
    return op->is_direct && (sim_is_direct(sim) || sim->host_count > 1);
}

/* Returns the time of an operation on a core, without memory contention. */
static double op_seconds(const xy_sim_t *sim, const xy_op_t *op)
{
    const xy_sim_costs_t *c = &sim->node.costs;
    double speed = op->kind == XY_OP_MOVE ? c->copy : c->reduce;
    double alpha = is_piece(sim, op) ? 0 : c->alpha;

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
    if (sim_is_direct(sim) && op->bytes == 0) /* a barrier: see progress_tasks.c */
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
static double op_fixed(const xy_sim_t *sim, const xy_op_t *op)
{
    if (op->kind < XY_OP_MOVE || sim_is_model(sim) || sim->node.link != NULL)
        return 0;
    return is_piece(sim, op) ? 0 : sim->node.costs.alpha;
}

/* Between hosts; what the model or a link says does not ask where ranks are. */
static bool is_remote(const xy_sim_t *sim, const xy_op_t *op)
{
    int32_t to;

    if (sim->host_count < 2 || op->kind < XY_OP_MOVE || sim_is_model(sim) || sim->node.link != NULL)
        return false;
    to = sim_host_of_rank(sim, op->to.rank);
    return sim_host_of_rank(sim, op->from.rank) != to ||
           (op->kind == XY_OP_COMBINE && sim_host_of_rank(sim, op->other.rank) != to);
}

/* Data from the network is reduced where it arrives. */
static int32_t op_domain(const xy_sim_t *sim, const sim_op_t *op)
{
    int from, to;

    if (op->op->kind < XY_OP_MOVE || sim_is_model(sim))
        return -1;
    to = sim->core_of[op->op->to.rank];
    from = op->is_remote ? to : sim->core_of[op->op->from.rank];
    if (sim->host_of[from] != sim->host_of[to])
        return -1;
    return sim->cores.numa[from] * sim->numa_max + sim->cores.numa[to] -
           sim->hosts[sim->host_of[to]].first_numa;
}

/* Is the data cached? Data that a NUMA node has read from another stays in its caches: when pieces
 * copy the same bytes to several ranks of a node, all but the first take them from there. */
static bool is_cached(const xy_sim_t *sim, xy_hash_t *read, const xy_op_t *op)
{
    uint64_t numa, key;
    int32_t to;

    if (!op->is_direct || op->kind != XY_OP_MOVE || op->from.offset >= UINT64_C(1) << 36)
        return false;
    to = sim->core_of[op->to.rank];
    numa = (uint64_t)(sim->cores.numa[to] - sim->hosts[sim->host_of[to]].first_numa);
    key = (uint64_t)op->from.rank << 48 | (uint64_t)op->from.buffer << 44 | numa << 36 |
          op->from.offset;
    if (xy_hash_get(read, key) != NULL)
        return true;
    xy_hash_set(read, key, read); /* without memory for it nothing is in a cache */
    return false;
}

static int32_t cached_domain(const xy_sim_t *sim, const xy_op_t *op)
{
    int32_t to = sim->core_of[op->to.rank];

    return sim->cores.numa[to] * sim->numa_max + sim->cores.numa[to] -
           sim->hosts[sim->host_of[to]].first_numa;
}

/* Sets the height of a tree and which operations lead down its levels. */
static void look_at_edges(const xy_sim_t *sim, shape_t *shape)
{
    for (int32_t id = 0; id < sim->op_count; id++) {
        const xy_op_t *op = sim->ops[id].op;
        const xy_op_id_t *after;
        int32_t n = xy_graph_successors(sim->graph, id, &after);

        if (op->level > shape->height)
            shape->height = op->level;
        for (int32_t i = 0; i < n && op->level > 0; i++) {
            int32_t level = sim->ops[after[i]].op->level;

            shape->goes_up |= level > op->level;
            if (level > 0 && level < op->level)
                shape->is_down[id] = shape->goes_down = true;
        }
    }
}

/* Find the one-to-all trees: an operation after one, or a level below, is part of one too. */
static void find_directions(const xy_sim_t *sim, shape_t *shape)
{
    const xy_op_id_t *order = xy_graph_topological(sim->graph);

    for (int32_t i = 0; i < sim->op_count; i++) {
        const xy_op_t *op = sim->ops[order[i]].op;
        const xy_op_id_t *after;
        int32_t n = xy_graph_successors(sim->graph, order[i], &after);

        if (shape->goes_down && !shape->goes_up)
            shape->is_down[order[i]] = true;
        for (int32_t j = 0; j < n; j++)
            shape->is_down[after[j]] |=
                shape->is_down[order[i]] || (op->level > 0 && sim->ops[after[j]].op->level > 0 &&
                                             op->level > sim->ops[after[j]].op->level);
    }
}

static uint8_t who(const xy_sim_t *sim, const shape_t *shape, int32_t id)
{
    const xy_op_t *op = sim->ops[id].op;

    if (sim_is_direct(sim) && !op->is_direct && op->bytes > 0)
        return SIM_BY_START; /* left for the others before the barrier */
    if (sim->split == 0 || op->level > sim->split)
        return SIM_BY_ENGINE;
    if (!shape->is_after_rest[id] && !shape->is_down[id])
        return SIM_BY_START;
    return op->level > 0 ? SIM_BY_WAIT : SIM_BY_ENGINE;
}

static int32_t thread_for(const xy_sim_t *sim, const sim_op_t *op)
{
    bool is_message =
        op->op->kind == XY_OP_MOVE && op->op->from.rank != op->op->to.rank && !op->op->is_direct;
    int32_t rank = is_message ? op->op->from.rank : op->op->actor;

    if (op->by != SIM_BY_ENGINE || sim->node.progress == XY_SIM_NONE)
        return rank;
    return sim_is_tasks(sim) ? -1 : sim->node.ranks + rank;
}

/* Assigns each operation to a core or thread, counts the operations of each rank, and sets the time
 * from each operation to the end. */
static void assign(xy_sim_t *sim, const shape_t *shape)
{
    const xy_op_id_t *order = xy_graph_topological(sim->graph);

    for (int32_t i = 0; i < sim->op_count; i++) {
        int32_t id = order[i], rank;
        sim_op_t *op = &sim->ops[id];
        const xy_op_id_t *after;
        int32_t n = xy_graph_successors(sim->graph, id, &after);

        op->by = who(sim, shape, id);
        op->thread = thread_for(sim, op);
        if (op->by == SIM_BY_START)
            sim->ranks[op->thread].start_left++;
        for (int32_t j = 0; j < n; j++)
            shape->is_after_rest[after[j]] |= op->by != SIM_BY_START;
        for (int j = 0; j < 4; j++)
            if (sim_concerns(sim, op, j, &rank)) {
                sim->ranks[rank].left++;
                if (op->by == SIM_BY_ENGINE && sim->node.progress == XY_SIM_THREADS) {
                    sim->threads[sim->node.ranks + rank].left++;
                    sim->threads[sim->node.ranks + rank].remote += op->is_remote;
                }
            }
    }
    for (int r = 0; r < sim->node.ranks && sim_is_direct(sim); r++)
        sim->ranks[r].left++; /* ends for all ranks at once: sim_task_release() */
    for (int32_t i = sim->op_count - 1; i >= 0; i--) {
        const xy_op_id_t *after;
        int32_t n = xy_graph_successors(sim->graph, order[i], &after);

        for (int32_t j = 0; j < n; j++)
            sim->ops[order[i]].tail = fmax(sim->ops[order[i]].tail, sim->ops[after[j]].tail);
        sim->ops[order[i]].tail += sim->ops[order[i]].seconds;
        if (sim->ops[order[i]].is_remote)
            sim->ops[order[i]].tail += sim_transfer_time(sim, order[i]);
    }
}

/* Levels of the model in the order of time: up, then down. */
static xy_status_t find_levels(xy_sim_t *sim, const shape_t *shape)
{
    int32_t count = 2 * shape->height + 2;

    sim->level_left = xy_calloc((size_t)count, sizeof(*sim->level_left));
    sim->level_first = xy_malloc((size_t)count * sizeof(*sim->level_first));
    if (sim->level_left == NULL || sim->level_first == NULL)
        return xy_fail_memory("simulating");
    sim->level_count = count;
    sim->level = 1;
    memset(sim->level_first, -1, (size_t)count * sizeof(*sim->level_first));
    for (int32_t id = 0; id < sim->op_count && sim_is_model(sim); id++) {
        sim_op_t *op = &sim->ops[id];

        if (op->op->level == 0)
            continue;
        op->level = op->op->level;
        if (shape->is_down[id])
            op->level = (shape->goes_up ? 2 : 1) * shape->height + 1 - op->level;
        sim->level_left[op->level]++;
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
static xy_status_t prepare_ops(xy_sim_t *sim)
{
    xy_hash_t read; /* direct: what NUMA nodes have read */
    double taken = 0;

    sim->op_count = xy_graph_ops(sim->graph);
    sim->ops = xy_calloc((size_t)sim->op_count + 1, sizeof(*sim->ops));
    if (sim->ops == NULL)
        return xy_fail_memory("simulating");
    sim->is_direct = sim_graph_is_direct(sim->graph);
    xy_hash_init(&read, XY_HASH_U64);
    for (int32_t id = 0; id < sim->op_count; id++) {
        sim_op_t *op = &sim->ops[id];

        op->op = xy_graph_op(sim->graph, id);
        op->is_chained = is_piece(sim, op->op) && op->op->is_chained;
        op->seconds = op_seconds(sim, op->op);
        op->weight = op_weight(sim, op->op);
        op->fixed = op_fixed(sim, op->op);
        op->before = xy_graph_predecessors(sim->graph, id);
        op->is_remote = is_remote(sim, op->op);
        op->domain = op_domain(sim, op);
        if (is_piece(sim, op->op) && is_cached(sim, &read, op->op))
            op->domain = cached_domain(sim, op->op);
        op->next = op->message = -1;
        sim->result.work += op->is_remote ? 0 : op->seconds;
        taken += op->is_remote ? 0 : op->seconds * op->weight;
    }
    sim->weight = sim->result.work > 0 && taken > 0 ? taken / sim->result.work : 1;
    xy_hash_cleanup(&read);
    return sim_network_prepare(sim);
}

xy_status_t sim_assign(xy_sim_t *sim, const xy_graph_t *graph)
{
    shape_t shape = {0};
    xy_status_t st;

    sim->graph = graph;
    st = prepare_ops(sim);
    if (st != XY_OK)
        return st;
    shape.is_down = xy_calloc(2 * ((size_t)sim->op_count + 1), 1);
    if (shape.is_down == NULL)
        return xy_fail_memory("simulating");
    shape.is_after_rest = shape.is_down + sim->op_count + 1;
    look_at_edges(sim, &shape);
    find_directions(sim, &shape);
    sim->split = sim->result.split = sim->is_direct ? 0 : sim->node.split;
    assign(sim, &shape);
    st = find_levels(sim, &shape);
    xy_free(shape.is_down);
    return st;
}

void sim_assign_cleanup(xy_sim_t *sim)
{
    xy_free(sim->ops);
    xy_free(sim->network.messages);
    sim->network.messages = NULL;
    xy_free(sim->level_left);
    xy_free(sim->level_first);
    sim->ops = NULL;
    sim->level_left = sim->level_first = NULL;
    sim->op_count = 0;
}
