/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The figures of a job by name: what messages, copies and calls cost where nothing was measured. A
 * store of costs may set each of them (xy_costs_set_figure).
 */
#include <stddef.h>
#include <string.h>

#include "sim/job_internal.h"

#define COST(field) offsetof(xy_vjob_costs_t, field)

static const xy_vjob_figure_t figures[] = {
    {"send", COST(send), 100e-9, "s", "of a core, to send a message"},
    {"receive", COST(receive), 100e-9, "s", "of a core, to receive a message"},
    {"latency", COST(latency), 100e-9, "s", "from core to core of a node"},
    {"copy", COST(copy), 8e9, "B/s", "that one core copies"},
    {"reduce", COST(reduce), 16e9, "B/s", "that one core adds"},
    {"numa", COST(numa), 256e9, "B/s", "that all cores copy in a NUMA node"},
    {"link", COST(link), 32e9, "B/s", "that all cores copy between two NUMA nodes"},
    {"test", COST(test), 1e-6, "s", "of a test or probe without success"},
    {"swap", COST(swap), 100e-9, "s", "from one process of a core to the next"},
    {"start", COST(start), 30e-6, "s", "of a core, to start another process"},
    {"task", COST(task), 0, "s", "to take a piece of work of a direct collective"},
    {"notice", COST(notice), 0, "s", "to tell another core that it is complete"},
    {"eager", COST(eager), 4096, "B", "larger messages inside a node wait for their receive"},
    {"eager-net", COST(eager_net), 65536, "B", "larger messages between nodes wait likewise"},
    {"packet", COST(packet), 65536, "B", "larger messages between nodes share the bandwidth"},
    {"socket", COST(socket), 1 << 20, "B", "that the system takes of a message to another node"},
};

enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

static double *place_of(xy_vjob_costs_t *costs, const xy_vjob_figure_t *figure)
{
    return (double *)(void *)((char *)costs + figure->offset);
}

const xy_vjob_figure_t *xy_vjob_figures(size_t *count_p)
{
    *count_p = FIGURES;
    return figures;
}

static const xy_vjob_figure_t *figure_of(const char *name)
{
    for (size_t i = 0; i < FIGURES; i++)
        if (strcmp(figures[i].name, name) == 0)
            return &figures[i];
    return NULL;
}

double xy_vjob_figure_value(const xy_vjob_costs_t *costs, const xy_vjob_figure_t *figure)
{
    return *(const double *)(const void *)((const char *)costs + figure->offset);
}

void xy_vjob_costs_default(xy_vjob_costs_t *costs)
{
    *costs = (xy_vjob_costs_t){0};
    for (size_t i = 0; i < FIGURES; i++)
        *place_of(costs, &figures[i]) = figures[i].value;
}

xy_status_t xy_vjob_costs_set(xy_vjob_costs_t *costs, const xy_costs_t *store)
{
    for (size_t i = 0; store != NULL && i < store->figures.count; i++) {
        const xy_figure_cost_t *given = &XY_VEC_AT(&store->figures, xy_figure_cost_t, i);
        const xy_vjob_figure_t *figure = figure_of(given->name);

        if (figure == NULL)
            return xy_fail(XY_EINVAL,
                           "a file of costs sets the figure '%s', which does not exist; 'xylem "
                           "predict -v' prints all figures",
                           given->name);
        *place_of(costs, figure) = given->value;
    }
    return XY_OK;
}
