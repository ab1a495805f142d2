/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of a graph between hosts. What crosses the network takes the core that sends it (of
 * a reduction: that fetches its operand) `alpha`; the rest is done by the network (net.h).
 */
#include "sim/sim_internal.h"

#include <string.h>

/* Some seconds of looking for rates. */
#define STEPS_MAX UINT64_C(100000000)

/* The host whose data an operation needs on another one. */
static int32_t source_of(const sim_call_t *call, const xy_op_t *op)
{
    int32_t to = sim_host_in(call, op->to.rank), from = sim_host_in(call, op->from.rank);

    if (from == to && op->kind == XY_OP_COMBINE)
        return sim_host_in(call, op->other.rank);
    return from;
}

/* Prepares the message of a remote operation and adds its bytes to the load of its links. */
static xy_status_t prepare_message(sim_call_t *call, sim_op_t *op)
{
    xy_sim_t *sim = call->sim;
    sim_network_t *net = &sim->network;
    sim_message_t *message = &call->messages[call->message_count];
    xy_status_t st = sim_net_path(&net->net, source_of(call, op->op),
                                  sim_host_in(call, op->op->to.rank), &message->path);

    if (st != XY_OK)
        return st;
    message->op = op;
    message->rest = op->op->kind == XY_OP_MOVE ? 0 : op->seconds;
    op->seconds = sim->node.costs.alpha; /* to send it, or to ask for what will be reduced */
    sim->result.work += op->seconds + message->rest;
    xy_flow_init(&message->flow, &message->path->path);
    op->message = call->message_count++;
    for (int32_t i = 0; i < message->path->path.link_count; i++) {
        int32_t link = message->path->links[i];

        net->load[link] += (double)op->op->bytes;
        sim->result.network =
            fmax(sim->result.network, net->load[link] / net->net.flows.links[link].rate);
    }
    return XY_OK;
}

xy_status_t sim_network_prepare(sim_call_t *call)
{
    sim_network_t *net = &call->sim->network;
    size_t n = 0;
    xy_status_t st = XY_OK;

    for (int32_t id = 0; id < call->op_count; id++)
        n += call->ops[id].is_remote;
    if (n == 0)
        return XY_OK;
    memset(net->load, 0, (size_t)net->net.flows.link_count * sizeof(*net->load));
    call->messages = xy_calloc(n, sizeof(*call->messages));
    if (call->messages == NULL)
        return xy_fail_memory("simulating");
    for (int32_t id = 0; id < call->op_count && st == XY_OK; id++)
        if (call->ops[id].is_remote)
            st = prepare_message(call, &call->ops[id]);
    return st;
}

bool sim_network_gave_up(const xy_sim_t *sim)
{
    return sim->network.net.flows.steps > STEPS_MAX;
}

double sim_transfer_time(const sim_op_t *op)
{
    const sim_message_t *message = &op->call->messages[op->message];

    return message->path->latency + (double)op->op->bytes / message->path->bandwidth +
           message->rest;
}

void sim_network_send(xy_sim_t *sim, sim_op_t *op)
{
    sim_message_t *message = &op->call->messages[op->message];

    if (sim->network.net.flows.steps > STEPS_MAX) {
        xy_vclock_stop(sim->clock);
        return;
    }
    op->message = -1;
    message->start = sim->clock->now;
    xy_flow_start(&message->flow, message->path->latency, (double)op->op->bytes);
}

xy_status_t sim_network_make(xy_sim_t *sim)
{
    sim_network_t *net = &sim->network;
    xy_obj_t *objects = xy_calloc((size_t)sim->host_count, sizeof(*objects));
    xy_status_t st;

    if (objects == NULL)
        return xy_fail_memory("simulating a network");
    for (int h = 0; h < sim->host_count; h++)
        objects[h] = sim->hosts[h].object;
    st = sim_net_make(&net->net, sim->node.machine, objects, sim->host_count, sim->clock, sim,
                      sim_message_done);
    xy_free(objects);
    if (st != XY_OK)
        return st;
    net->load = xy_calloc((size_t)net->net.flows.link_count + 1, sizeof(*net->load));
    return net->load != NULL ? XY_OK : xy_fail_memory("simulating a network");
}

void sim_network_reset(xy_sim_t *sim)
{
    sim_net_reset(&sim->network.net);
}

void sim_network_cleanup(xy_sim_t *sim)
{
    sim_net_cleanup(&sim->network.net);
    xy_free(sim->network.load);
}
