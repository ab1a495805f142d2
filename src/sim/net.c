/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/net.h"

#include <math.h>
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
static int32_t climb(const sim_net_t *net, xy_obj_t object, xy_obj_t top, int direction,
                     int32_t *links)
{
    int32_t n = 0;

    for (; object != top; object = net->machine->parent[object])
        if (net->link_of[object] >= 0)
            links[n++] = net->link_of[object] + direction;
    return n;
}

/* Lists the links from host `a` to host `b`, over a route if there is one; returns their number. */
static int32_t find_links(const sim_net_t *net, xy_obj_t a, xy_obj_t b, int32_t *links)
{
    const xy_machine_t *m = net->machine;
    xy_obj_t top = xy_machine_common_ancestor(m, a, b);
    xy_obj_t x = routed_above(m, a, top), y = routed_above(m, b, top);
    const xy_route_t *route = NULL;
    int32_t n;

    if (x != XY_OBJ_NONE && y != XY_OBJ_NONE)
        route = route_between(m, x, y);
    if (route == NULL || route->link.bandwidth <= 0) {
        n = climb(net, a, top, 0, links);
        return n + climb(net, b, top, 1, links + n);
    }
    n = climb(net, a, x, 0, links);
    links[n++] = net->route_of[route - m->routes] + (x == route->a ? 0 : 1);
    return n + climb(net, b, y, 1, links + n);
}

static const char *name_of(const sim_net_t *net, int32_t host, char name[32])
{
    const xy_machine_t *m = net->machine;
    xy_obj_t object = net->hosts[host];

    if (*xy_machine_object_name(m, object) != '\0')
        return xy_machine_object_name(m, object);
    snprintf(name, 32, "%s %u", xy_obj_type_name((xy_obj_type_t)m->type[object]),
             m->logical[object]);
    return name;
}

static xy_status_t refuse(const sim_net_t *net, int32_t from, int32_t to, xy_link_t link)
{
    char a[32], b[32];
    const char *lacks = link.latency > 0     ? "bandwidth"
                        : link.bandwidth > 0 ? "latency"
                                             : "latency and bandwidth";

    return xy_fail(XY_EUNSUPPORTED,
                   "machine %s gives no %s between %s and %s, and a network is not simulated as "
                   "memory; give its nodes both, as in <node latency=\"1us\" "
                   "bandwidth=\"12.5GB/s\"> or node:8(latency=1us bandwidth=12.5GB/s)",
                   net->machine->name, lacks, name_of(net, from, a), name_of(net, to, b));
}

/* Makes the path between two hosts; fails if latency or bandwidth is unknown. */
static xy_status_t make_path(sim_net_t *net, int32_t from, int32_t to, sim_path_t **path_p)
{
    xy_obj_t a = net->hosts[from], b = net->hosts[to];
    xy_link_t link = xy_machine_path(net->machine, a, b);
    int32_t links[2 * XY_MACHINE_DEPTH_MAX + 1], n;
    sim_path_t *path;

    if (link.latency <= 0 || link.bandwidth <= 0)
        return refuse(net, from, to, link);
    n = find_links(net, a, b, links);
    path = xy_arena_alloc(net->arena, sizeof(*path) + (size_t)n * sizeof(int32_t));
    if (path == NULL ||
        xy_hash_set(&net->paths, (uint64_t)from << 32 | (uint64_t)to, path) != XY_OK)
        return xy_fail_memory("simulating a network");
    path->latency = link.latency;
    path->bandwidth = link.bandwidth;
    for (int32_t i = 0; i < n; i++)
        path->bandwidth = fmin(path->bandwidth, net->flows.links[links[i]].rate);
    path->next = net->first_path;
    net->first_path = path;
    memcpy(path->links, links, (size_t)n * sizeof(int32_t));
    xy_flow_path_init(&path->path, &net->flows, path->links, n, path->bandwidth);
    *path_p = path;
    return XY_OK;
}

xy_status_t sim_net_path(sim_net_t *net, int32_t from, int32_t to, sim_path_t **path_p)
{
    *path_p = xy_hash_get(&net->paths, (uint64_t)from << 32 | (uint64_t)to);
    return *path_p != NULL ? XY_OK : make_path(net, from, to, path_p);
}

/* ---- Hosts ---- */

static xy_obj_t host_of_leaf(const xy_machine_t *m, xy_obj_t leaf)
{
    xy_obj_t object = xy_machine_above(m, leaf, XY_OBJ_NODE);

    if (object != XY_OBJ_NONE)
        return object;
    for (object = leaf; m->type[object] > XY_OBJ_NODE;)
        object = m->parent[object];
    return object;
}

int sim_net_hosts(const xy_machine_t *m, int *host_of, xy_obj_t *hosts)
{
    xy_obj_t last_core = XY_OBJ_NONE;
    int core = 0, count = 0;

    for (uint32_t i = 0; i < m->leaves; i++) {
        xy_obj_t leaf = m->leaf[i], of = xy_machine_above(m, leaf, XY_OBJ_CORE), object;

        of = of != XY_OBJ_NONE ? of : leaf;
        if (!xy_machine_is_usable(m, leaf) || of == last_core)
            continue;
        last_core = of;
        object = host_of_leaf(m, leaf);
        if (count == 0 || hosts[count - 1] != object)
            hosts[count++] = object;
        host_of[core++] = count - 1;
    }
    return count;
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
static int32_t find_all(sim_net_t *net, double *rates, xy_obj_t objects)
{
    const xy_machine_t *m = net->machine;
    int32_t count = 0;

    for (xy_obj_t o = 0; o < objects; o++) {
        double bandwidth = m->type[o] <= XY_OBJ_NODE ? xy_machine_link(m, o).bandwidth : 0;

        count = add_link(rates, count, bandwidth, &net->link_of[o]);
    }
    for (uint32_t r = 0; r < m->route_count; r++)
        count = add_link(rates, count, m->routes[r].link.bandwidth, &net->route_of[r]);
    return count;
}

static xy_obj_t objects_up_to_last(const xy_obj_t *hosts, int count)
{
    xy_obj_t objects = 0;

    for (int h = 0; h < count; h++)
        if (hosts[h] >= objects)
            objects = hosts[h] + 1;
    return objects;
}

xy_status_t sim_net_make(sim_net_t *net, const xy_machine_t *machine, const xy_obj_t *hosts,
                         int count, xy_vclock_t *clock, void *model, xy_flow_fn done)
{
    xy_obj_t objects = objects_up_to_last(hosts, count);
    size_t n = 2 * ((size_t)objects + machine->route_count);
    double *rates;
    xy_status_t st = XY_ENOMEM;

    *net = (sim_net_t){.machine = machine};
    xy_hash_init(&net->paths, XY_HASH_U64);
    if (count < 2)
        return XY_OK;
    rates = xy_calloc(n, sizeof(*rates));
    net->hosts = xy_calloc((size_t)count, sizeof(*net->hosts));
    net->link_of = xy_calloc(objects, sizeof(*net->link_of));
    net->route_of = xy_calloc((size_t)machine->route_count + 1, sizeof(*net->route_of));
    if (rates != NULL && net->hosts != NULL && net->link_of != NULL && net->route_of != NULL &&
        xy_arena_create(&net->arena) == XY_OK) {
        memcpy(net->hosts, hosts, (size_t)count * sizeof(*hosts));
        st = xy_flows_init(&net->flows, clock, rates, find_all(net, rates, objects), model, done);
    }
    xy_free(rates);
    return st == XY_OK ? XY_OK : xy_fail_memory("simulating a network");
}

void sim_net_reset(sim_net_t *net)
{
    for (sim_path_t *p = net->first_path; p != NULL; p = p->next)
        xy_flow_path_reset(&p->path);
    xy_flows_reset(&net->flows);
}

void sim_net_cleanup(sim_net_t *net)
{
    for (sim_path_t *p = net->first_path; p != NULL; p = p->next)
        xy_flow_path_cleanup(&p->path);
    xy_flows_cleanup(&net->flows);
    xy_free(net->hosts);
    xy_free(net->link_of);
    xy_free(net->route_of);
    xy_hash_cleanup(&net->paths);
    xy_arena_destroy(net->arena);
}
