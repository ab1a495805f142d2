/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network between hosts: the links of the machine's tree above them, parallel ones one by one,
 * those of tori and meshes, and the routes that were measured end to end, each in both directions.
 * A message crosses those that xy_machine_route() names: its way is static, and messages whose ways
 * meet share the link. Latencies add up, unless a route has one. Nothing is ever simulated as if it
 * were memory: a way without latency or bandwidth is refused.
 *
 * Private to the component, for its two models.
 */
#ifndef XY_SIM_NET_H
#define XY_SIM_NET_H

#include "machine/machine.h"
#include "sim/flow.h"

/* The way from one host to another. */
typedef struct sim_path {
    xy_flow_path_t path;
    double latency, bandwidth;
    struct sim_path *next; /* of all */
    int32_t links[];
} sim_path_t;

typedef struct {
    const xy_machine_t *machine;
    xy_obj_t *hosts;
    xy_flows_t flows;
    int32_t *link_of;  /* [objects up to the last host] its first link, up; down follows; -1 */
    int32_t *grid_of;  /* [grids] likewise, from a cell to the next */
    int32_t *route_of; /* [routes] likewise, from its first end to its second */
    xy_hash_t paths;   /* from << 32 | to, to sim_path_t; in the arena */
    sim_path_t *first_path;
    xy_arena_t *arena;
} sim_net_t;

/* The hosts of a machine: what shares memory. `host_of` gets that of each usable core in the order
 * of the tree, `hosts` their objects; both have room for all cores. Returns how many there are. */
int sim_net_hosts(const xy_machine_t *machine, int *host_of, xy_obj_t *hosts);

/* With fewer than two hosts there are no links. XY_ENOMEM is reported; clean up all the same. */
xy_status_t sim_net_make(sim_net_t *net, const xy_machine_t *machine, const xy_obj_t *hosts,
                         int count, xy_vclock_t *clock, void *model, xy_flow_fn done);
void sim_net_cleanup(sim_net_t *net);
/* Nothing is on its way; the clock was reset. */
void sim_net_reset(sim_net_t *net);
/* XY_EUNSUPPORTED: a link has no figures (reported, as XY_ENOMEM). */
xy_status_t sim_net_path(sim_net_t *net, int32_t from, int32_t to, sim_path_t **path_p);

#endif
