/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/machine.h"

static void scale(xy_link_t *link, double latency, double bandwidth)
{
    link->latency *= latency; /* unknown values are 0 and stay so */
    link->bandwidth *= bandwidth;
}

void xy_machine_scale(xy_machine_t *m, double latency, double bandwidth)
{
    for (uint32_t i = 0; i < m->link_count; i++)
        scale(&m->links[i].link, latency, bandwidth);
    for (uint32_t i = 0; i < m->grid_count; i++)
        scale(&m->grids[i].link, latency, bandwidth);
    for (uint32_t i = 0; i < m->route_count; i++)
        scale(&m->routes[i].link, latency, bandwidth);
}
