/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "cost/carrier.h"

static const double bytes = 1 << 20; /* where bandwidths are read */

/* How libraries call themselves. */
static const char *const names[] = {"Open MPI", "MPICH"};

static bool find_name(const char *library, xy_carrier_cost_t *c)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(library, names[i], strlen(names[i])) == 0) {
            snprintf(c->name, sizeof(c->name), "%s", names[i]);
            return true;
        }
    return false;
}

/* Derives latency and bandwidth of a transport from its message model; returns false if the model
 * does not state them. */
static bool make_one(const xy_message_cost_t *m, xy_carrier_cost_t *c)
{
    const xy_message_lines_t *lines = &m->model.kind[XY_MESSAGE_BLOCKING];
    double seconds;

    if (!find_name(m->library, c) || !(lines->latency > 0) || lines->time.count == 0 ||
        strcmp(m->cluster1, XY_COSTS_PU) == 0 || strcmp(m->cluster2, XY_COSTS_PU) == 0)
        return false;
    seconds = xy_lines_value(&lines->time, bytes);
    if (!(seconds > lines->latency))
        return false;
    c->is_between = strcmp(m->cluster2, XY_COSTS_LOCAL) != 0;
    c->latency = lines->latency;
    c->bandwidth = bytes / (seconds - lines->latency);
    c->eager = m->model.eager;
    return true;
}

int xy_carriers_make(const xy_costs_t *costs, xy_carrier_cost_t list[XY_CARRIERS_MAX])
{
    int count = 0;

    for (size_t i = 0; i < costs->messages.count; i++) {
        xy_carrier_cost_t one = {0};
        int at = 0;

        if (!make_one(&XY_VEC_AT(&costs->messages, xy_message_cost_t, i), &one))
            continue;
        while (at < count &&
               (strcmp(list[at].name, one.name) != 0 || list[at].is_between != one.is_between))
            at++;
        if (at == count && count == XY_CARRIERS_MAX)
            continue;
        if (at == count || one.latency > list[at].latency)
            list[at] = one;
        count += at == count;
    }
    return count;
}

typedef struct {
    const xy_carrier_cost_t *list;
    int count;
} carriers_t;

static xy_status_t print(const void *arg, FILE *file)
{
    const carriers_t *all = arg;

    for (int i = 0; i < all->count; i++) {
        const xy_carrier_cost_t *c = &all->list[i];

        fprintf(file, "%.9g %.9g %.9g %s %s\n", c->latency, c->bandwidth, c->eager,
                c->is_between ? "between" : "here", c->name);
    }
    return XY_OK;
}

xy_status_t xy_carriers_write(const xy_costs_t *costs, const char *store_path)
{
    xy_carrier_cost_t list[XY_CARRIERS_MAX];
    carriers_t all = {list, xy_carriers_make(costs, list)};
    char *path;
    xy_status_t st;

    if (all.count == 0)
        return XY_OK;
    path = xy_sprintf("%s.carriers", store_path);
    if (path == NULL)
        return xy_fail_memory("writing costs");
    st = xy_out_write(path, print, &all);
    xy_free(path);
    return st;
}
