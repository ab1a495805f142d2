/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/net.h"

#include <math.h>
#include <string.h>

/* Rates, paths and events of 64 million links take some gigabytes. */
enum { LINKS_MAX = 1 << 26 };

/* The links of a way, as numbers of the network's flows; those without a bandwidth are left out. */
typedef struct {
    const sim_net_t *net;
    int32_t *links; /* NULL: only count */
    int32_t count;
} list_t;

/* Adds one link of a way to a list_t, or only counts it. */
static void add_wire(void *context, const xy_wire_t *wire)
{
    list_t *l = context;
    const int32_t *first_of[] = {[XY_WIRE_LINK] = l->net->link_of,
                                 [XY_WIRE_GRID] = l->net->grid_of,
                                 [XY_WIRE_ROUTE] = l->net->route_of};
    int32_t first = first_of[wire->kind][wire->owner];

    if (first < 0)
        return;
    if (l->links != NULL)
        l->links[l->count] = first + 2 * (int32_t)wire->number + (int32_t)wire->direction;
    l->count++;
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
    list_t list = {.net = net};
    sim_path_t *path;
    int32_t n;

    if (link.latency <= 0 || link.bandwidth <= 0)
        return refuse(net, from, to, link);
    xy_machine_route(net->machine, a, b, add_wire, &list);
    n = list.count;
    path = xy_arena_alloc(net->arena, sizeof(*path) + (size_t)n * sizeof(int32_t));
    if (path == NULL ||
        xy_hash_set(&net->paths, (uint64_t)from << 32 | (uint64_t)to, path) != XY_OK)
        return xy_fail_memory("simulating a network");
    list = (list_t){.net = net, .links = path->links};
    xy_machine_route(net->machine, a, b, add_wire, &list);
    path->latency = link.latency;
    path->bandwidth = link.bandwidth;
    for (int32_t i = 0; i < n; i++)
        path->bandwidth = fmin(path->bandwidth, net->flows.links[path->links[i]].rate);
    path->next = net->first_path;
    net->first_path = path;
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

/* So many links, each in both directions; `rates` NULL: only counted. */
static int64_t add_links(double *rates, int64_t count, int64_t links, double bandwidth,
                         int32_t *first_p)
{
    if (first_p != NULL)
        *first_p = bandwidth > 0 ? (int32_t)count : -1;
    if (bandwidth <= 0)
        return count;
    for (int64_t i = 0; rates != NULL && i < 2 * links; i++)
        rates[count + i] = bandwidth;
    return count + 2 * links;
}

/* All links above the hosts, then those of grids and the routes; returns their number. */
static int64_t find_all(sim_net_t *net, double *rates, xy_obj_t objects)
{
    const xy_machine_t *m = net->machine;
    bool is_made = rates != NULL;
    int64_t count = 0;

    for (xy_obj_t o = 0; o < objects; o++) {
        xy_link_t link = m->type[o] <= XY_OBJ_NODE ? xy_machine_link(m, o) : (xy_link_t){0};

        count = add_links(rates, count, xy_machine_parallel(m, o), link.bandwidth,
                          is_made ? &net->link_of[o] : NULL);
    }
    for (uint32_t g = 0; g < m->grid_count; g++) {
        const xy_grid_t *grid = &m->grids[g];

        count = add_links(rates, count, (int64_t)xy_grid_cells(grid) * grid->dimensions,
                          grid->link.bandwidth, is_made ? &net->grid_of[g] : NULL);
    }
    for (uint32_t r = 0; r < m->route_count; r++)
        count = add_links(rates, count, 1, m->routes[r].link.bandwidth,
                          is_made ? &net->route_of[r] : NULL);
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
    int64_t links;
    double *rates = NULL;
    xy_status_t st = XY_ENOMEM;

    *net = (sim_net_t){.machine = machine};
    xy_hash_init(&net->paths, XY_HASH_U64);
    if (count < 2)
        return XY_OK;
    links = find_all(net, NULL, objects);
    if (links > LINKS_MAX)
        return xy_fail(XY_ELIMIT,
                       "machine %s has %lld links between nodes; at most %d are simulated",
                       machine->name, (long long)links / 2, LINKS_MAX / 2);
    rates = xy_calloc((size_t)links + 1, sizeof(*rates));
    net->hosts = xy_calloc((size_t)count, sizeof(*net->hosts));
    net->link_of = xy_calloc(objects, sizeof(*net->link_of));
    net->grid_of = xy_calloc((size_t)machine->grid_count + 1, sizeof(*net->grid_of));
    net->route_of = xy_calloc((size_t)machine->route_count + 1, sizeof(*net->route_of));
    if (rates != NULL && net->hosts != NULL && net->link_of != NULL && net->grid_of != NULL &&
        net->route_of != NULL && xy_arena_create(&net->arena) == XY_OK) {
        memcpy(net->hosts, hosts, (size_t)count * sizeof(*hosts));
        find_all(net, rates, objects);
        st = xy_flows_init(&net->flows, clock, rates, (int32_t)links, model, done);
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
    xy_free(net->grid_of);
    xy_free(net->route_of);
    xy_hash_cleanup(&net->paths);
    xy_arena_destroy(net->arena);
}
