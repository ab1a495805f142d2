/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/here.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "place/place.h"

/* NULL: it is not set. */
static const char *told(const char *name)
{
    const char *text = getenv(name);

    return text != NULL && *text != '\0' ? text : NULL;
}

/* As mpiexec counts cores: to ask hwloc for the whole machine takes much longer. */
static xy_status_t load_live(xy_machine_t **machine_p)
{
    xy_cores_t cores;
    char text[64];
    xy_status_t st = xy_cores_live(&cores);

    if (st != XY_OK)
        return st;
    if (cores.numa_count > 0 && cores.count % cores.numa_count == 0)
        snprintf(text, sizeof(text), "numa:%d core:%d", cores.numa_count,
                 cores.count / cores.numa_count);
    else
        snprintf(text, sizeof(text), "core:%d", cores.count);
    xy_cores_cleanup(&cores);
    return xy_machine_synthetic(text, machine_p);
}

xy_status_t sim_here_machine(xy_machine_t **machine_p)
{
    const char *text = told("XYLEM_JOB_MACHINE");

    return text != NULL ? xy_machine_load(text, machine_p) : load_live(machine_p);
}

/* The user's own. */
static xy_status_t load_own(xy_costs_t **costs_p)
{
    char *path = xy_costs_where();
    xy_status_t st = XY_OK;

    if (path != NULL && access(path, R_OK) == 0)
        st = xy_costs_load(path, costs_p);
    xy_free(path);
    return st;
}

/* In virtual time they are those of the machine there, by --costs or in its own file. */
xy_status_t sim_here_costs(xy_costs_t **costs_p)
{
    const char *costs = told("XYLEM_JOB_COSTS"), *machine = told("XYLEM_JOB_MACHINE");

    if (costs == NULL)
        return load_own(costs_p);
    return machine != NULL && strcmp(costs, machine) == 0 ? xy_costs_load_beside(machine, costs_p)
                                                          : xy_costs_load(costs, costs_p);
}

bool sim_here_place(int ranks, int cores, int *core_of)
{
    const char *text = told("XYLEM_JOB_CORES");
    int count = 0;

    while (text != NULL && count < ranks) {
        char *end;
        long core = strtol(text, &end, 10);

        if (end == text || core < 0 || core >= cores || (*end != ',' && *end != '\0'))
            return false;
        core_of[count++] = (int)core;
        text = *end == ',' ? end + 1 : NULL;
    }
    return count == ranks && text == NULL;
}
