/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network between hosts: the links of the machine's tree above them, each with both directions,
 * and the routes that were measured end to end. A message crosses the links upwards from its host
 * to where the ways meet, and downwards to the other host; a route with a bandwidth stands for
 * those above its ends, and all that go the same way share it. Latencies add up, unless a route has
 * one.
 *
 * What crosses the network takes the core that sends it (of a reduction: that fetches its operand)
 * `alpha`; the rest is done by the network. Nothing is ever simulated as if it were memory: a way
 * without latency or bandwidth is refused.
 */
#include "sim/sim_internal.h"

#include <string.h>

static const xy_route_t *route_between(const xy_machine_t *m, xy_obj_t a, xy_obj_t b)
{
    return xy_hash_get(&m->route_index, a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a);
}

/* The topmost end of a route from `object` to below `top`. */
static xy_obj_t routed_above(const xy_machine_t *m, xy_obj_t object, xy_obj_t top)
{
    xy_obj_t routed = XY_OBJ_NONE;

    for (; object != top; object = m->parent[object])
        if (m->flags[object] & XY_OBJ_ROUTED)
            routed = object;
    return routed;
}

/* Links from `object` to below `top`, into the list. */
static int32_t climb(const xy_sim_t *sim, xy_obj_t object, xy_obj_t top, int direction,
                     int32_t *links)
{
    int32_t n = 0;

    for (; object != top; object = sim->node.machine->parent[object])
        if (sim->network.link_of[object] >= 0)
            links[n++] = sim->network.link_of[object] + direction;
    return n;
}

static int32_t find_links(const xy_sim_t *sim, xy_obj_t a, xy_obj_t b, int32_t *links)
{
    const xy_machine_t *m = sim->node.machine;
    xy_obj_t top = xy_machine_common_ancestor(m, a, b);
    xy_obj_t x = routed_above(m, a, top), y = routed_above(m, b, top);
    const xy_route_t *route = NULL;
    int32_t n;

    if (x != XY_OBJ_NONE && y != XY_OBJ_NONE)
        route = route_between(m, x, y);
    if (route == NULL || route->link.bandwidth <= 0) {
        n = climb(sim, a, top, 0, links);
        return n + climb(sim, b, top, 1, links + n);
    }
    n = climb(sim, a, x, 0, links);
    links[n++] = sim->network.route_of[route - m->routes] + (x == route->a ? 0 : 1);
    return n + climb(sim, b, y, 1, links + n);
}

static const char *name_of(const xy_sim_t *sim, int32_t host, char name[32])
{
    const xy_machine_t *m = sim->node.machine;
    xy_obj_t object = sim->hosts[host].object;

    if (*xy_machine_object_name(m, object) != '\0')
        return xy_machine_object_name(m, object);
    snprintf(name, 32, "%s %u", xy_obj_type_name((xy_obj_type_t)m->type[object]),
             m->logical[object]);
    return name;
}

static xy_status_t refuse(const xy_sim_t *sim, int32_t from, int32_t to, xy_link_t link)
{
    char a[32], b[32];
    const char *lacks = link.latency > 0     ? "bandwidth"
                        : link.bandwidth > 0 ? "latency"
                                             : "latency and bandwidth";

    return xy_fail(XY_EUNSUPPORTED,
                   "machine %s gives no %s between %s and %s, and a network is not simulated as "
                   "memory; give its nodes both, as in <node latency=\"1us\" "
                   "bandwidth=\"12.5GB/s\"> or node:8(latency=1us bandwidth=12.5GB/s)",
                   sim->node.machine->name, lacks, name_of(sim, from, a), name_of(sim, to, b));
}

static xy_status_t make_path(xy_sim_t *sim, int32_t from, int32_t to, sim_path_t **path_p)
{
    xy_obj_t a = sim->hosts[from].object, b = sim->hosts[to].object;
    xy_link_t link = xy_machine_path(sim->node.machine, a, b);
    int32_t links[2 * XY_MACHINE_DEPTH_MAX + 1], n;
    sim_path_t *path;

    if (link.latency <= 0 || link.bandwidth <= 0)
        return refuse(sim, from, to, link);
    n = find_links(sim, a, b, links);
    path = xy_arena_alloc(sim->network.arena, sizeof(*path) + (size_t)n * sizeof(int32_t));
    if (path == NULL ||
        xy_hash_set(&sim->network.paths, (uint64_t)from << 32 | (uint64_t)to, path) != XY_OK)
        return xy_fail_memory("simulating a network");
    path->latency = link.latency;
    path->bandwidth = link.bandwidth;
    path->next = sim->network.first_path;
    sim->network.first_path = path;
    memcpy(path->links, links, (size_t)n * sizeof(int32_t));
    xy_flow_path_init(&path->path, &sim->network.flows, path->links, n, link.bandwidth);
    *path_p = path;
    return XY_OK;
}

static xy_status_t find_path(xy_sim_t *sim, int32_t from, int32_t to, sim_path_t **path_p)
{
    *path_p = xy_hash_get(&sim->network.paths, (uint64_t)from << 32 | (uint64_t)to);
    return *path_p != NULL ? XY_OK : make_path(sim, from, to, path_p);
}

/* ---- One run ---- */

/* The host whose data an operation needs on another one. */
static int32_t source_of(const xy_sim_t *sim, const xy_op_t *op)
{
    int32_t to = sim_host_of_rank(sim, op->to.rank), from = sim_host_of_rank(sim, op->from.rank);

    if (from == to && op->kind == XY_OP_COMBINE)
        return sim_host_of_rank(sim, op->other.rank);
    return from;
}

static xy_status_t prepare_message(xy_sim_t *sim, int32_t id)
{
    sim_network_t *net = &sim->network;
    sim_op_t *op = &sim->ops[id];
    sim_message_t *message = &net->messages[net->message_count];
    xy_status_t st = find_path(sim, source_of(sim, op->op), sim_host_of_rank(sim, op->op->to.rank),
                               &message->path);

    if (st != XY_OK)
        return st;
    message->op = id;
    message->rest = op->op->kind == XY_OP_MOVE ? 0 : op->seconds;
    op->seconds = sim->node.costs.alpha; /* to send it, or to ask for what will be reduced */
    sim->result.work += op->seconds + message->rest;
    xy_flow_init(&message->flow, &message->path->path);
    op->message = net->message_count++;
    for (int32_t i = 0; i < message->path->path.link_count; i++) {
        int32_t link = message->path->links[i];

        net->load[link] += (double)op->op->bytes;
        sim->result.network =
            fmax(sim->result.network, net->load[link] / net->flows.links[link].rate);
    }
    return XY_OK;
}

xy_status_t sim_network_prepare(xy_sim_t *sim)
{
    sim_network_t *net = &sim->network;
    size_t n = 0;
    xy_status_t st = XY_OK;

    for (int32_t id = 0; id < sim->op_count; id++)
        n += sim->ops[id].is_remote;
    net->message_count = 0;
    if (n == 0)
        return XY_OK;
    memset(net->load, 0, (size_t)net->flows.link_count * sizeof(*net->load));
    net->messages = xy_calloc(n, sizeof(*net->messages));
    if (net->messages == NULL)
        return xy_fail_memory("simulating");
    for (int32_t id = 0; id < sim->op_count && st == XY_OK; id++)
        if (sim->ops[id].is_remote)
            st = prepare_message(sim, id);
    return st;
}

double sim_transfer_time(const xy_sim_t *sim, int32_t id)
{
    const sim_op_t *op = &sim->ops[id];
    const sim_message_t *message = &sim->network.messages[op->message];

    return message->path->latency + (double)op->op->bytes / message->path->bandwidth +
           message->rest;
}

void sim_network_send(xy_sim_t *sim, int32_t id)
{
    sim_op_t *op = &sim->ops[id];
    sim_message_t *message = &sim->network.messages[op->message];

    op->message = -1;
    message->start = sim->clock.now;
    xy_flow_start(&message->flow, message->path->latency, (double)op->op->bytes);
}

/* ---- Links ---- */

static int32_t add_link(double *rates, int32_t count, double bandwidth, int32_t *link_p)
{
    *link_p = -1;
    if (bandwidth <= 0)
        return count;
    rates[count] = rates[count + 1] = bandwidth;
    *link_p = count;
    return count + 2;
}

/* All links above the hosts, then the routes. */
static int32_t find_all(xy_sim_t *sim, double *rates, xy_obj_t objects)
{
    const xy_machine_t *m = sim->node.machine;
    int32_t count = 0;

    for (xy_obj_t o = 0; o < objects; o++) {
        double bandwidth = m->type[o] <= XY_OBJ_NODE ? xy_machine_link(m, o).bandwidth : 0;

        count = add_link(rates, count, bandwidth, &sim->network.link_of[o]);
    }
    for (uint32_t r = 0; r < m->route_count; r++)
        count = add_link(rates, count, m->routes[r].link.bandwidth, &sim->network.route_of[r]);
    return count;
}

xy_status_t sim_network_make(xy_sim_t *sim)
{
    const xy_machine_t *m = sim->node.machine;
    sim_network_t *net = &sim->network;
    xy_obj_t objects = 0;
    double *rates;
    size_t n;
    xy_status_t st = XY_ENOMEM;

    xy_hash_init(&net->paths, XY_HASH_U64);
    if (sim->host_count < 2)
        return XY_OK;
    for (int h = 0; h < sim->host_count; h++)
        if (sim->hosts[h].object >= objects)
            objects = sim->hosts[h].object + 1;
    n = 2 * ((size_t)objects + m->route_count);
    rates = xy_calloc(n, sizeof(*rates));
    net->link_of = xy_calloc(objects, sizeof(*net->link_of));
    net->route_of = xy_calloc((size_t)m->route_count + 1, sizeof(*net->route_of));
    net->load = xy_calloc(n, sizeof(*net->load));
    if (rates != NULL && net->link_of != NULL && net->route_of != NULL && net->load != NULL &&
        xy_arena_create(&net->arena) == XY_OK)
        st = xy_flows_init(&net->flows, &sim->clock, rates, find_all(sim, rates, objects), sim,
                           sim_message_done);
    xy_free(rates);
    return st == XY_OK ? XY_OK : xy_fail_memory("simulating a network");
}

void sim_network_reset(xy_sim_t *sim)
{
    for (sim_path_t *p = sim->network.first_path; p != NULL; p = p->next)
        xy_flow_path_reset(&p->path);
    xy_flows_reset(&sim->network.flows);
}

void sim_network_cleanup(xy_sim_t *sim)
{
    sim_network_t *net = &sim->network;

    for (sim_path_t *p = net->first_path; p != NULL; p = p->next)
        xy_flow_path_cleanup(&p->path);
    xy_flows_cleanup(&net->flows);
    xy_free(net->link_of);
    xy_free(net->route_of);
    xy_free(net->load);
    xy_hash_cleanup(&net->paths);
    xy_arena_destroy(net->arena);
}
