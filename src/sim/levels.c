/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks on several nodes, as the algorithms of two levels see them. */
#include "sim/levels.h"

/* Nodes in the order of their first ranks. */
static void number_nodes(const xy_sim_t *sim, int ranks, int *number_of, sim_levels_t *levels)
{
    for (int h = 0; h < sim->host_count; h++)
        number_of[h] = -1;
    for (int r = 0; r < ranks; r++) {
        int host = sim_host_of_rank(sim, r);

        if (number_of[host] < 0)
            number_of[host] = levels->count++;
        levels->nodes[r] = number_of[host];
    }
}

/* The way from the first node to the second stands for all. */
static xy_status_t find_between(xy_sim_t *sim, int ranks, sim_levels_t *levels)
{
    sim_path_t *path;
    xy_status_t st;
    int other = 0;

    while (other < ranks && levels->nodes[other] == 0)
        other++;
    levels->between = xy_coll_link_default;
    if (other == ranks)
        return XY_OK;
    st = sim_net_path(&sim->network.net, sim_host_of_rank(sim, 0), sim_host_of_rank(sim, other),
                      &path);
    if (st == XY_OK) {
        levels->between.alpha = path->latency + sim->node.costs.alpha;
        levels->between.beta = 1 / path->bandwidth;
    }
    return st;
}

xy_status_t sim_levels_make(const xy_sim_node_t *node, int ranks, sim_levels_t *levels)
{
    xy_sim_node_t own = *node;
    int *number_of;
    xy_sim_t *sim;
    xy_status_t st;

    *levels = (sim_levels_t){0};
    own.ranks = ranks;
    own.threads = own.order = NULL; /* only where ranks are is of interest */
    st = xy_sim_create(&own, &sim);
    if (st != XY_OK)
        return st;
    levels->nodes = xy_calloc((size_t)ranks, sizeof(int));
    number_of = xy_calloc((size_t)sim->host_count, sizeof(int));
    if (levels->nodes == NULL || number_of == NULL) {
        st = xy_fail_memory("simulating a collective");
    } else {
        number_nodes(sim, ranks, number_of, levels);
        st = find_between(sim, ranks, levels);
    }
    xy_free(number_of);
    xy_sim_destroy(sim);
    return st;
}

void sim_levels_cleanup(sim_levels_t *levels)
{
    xy_free(levels->nodes);
    levels->nodes = NULL;
}
