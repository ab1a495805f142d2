/* SPDX-License-Identifier: BSD-3-Clause */
/* The axis of the pictures of a study: any of its parameters but the policy. */
#include <math.h>
#include <string.h>

#include "draw/draw.h"
#include "stencil/internal.h"

/* In the order in which one is chosen when none is asked for. `tick` NULL: words, not numbers. */
static const struct {
    const char *name, *title;
    char *(*tick)(double value, char buffer[32]);
} axes[STENCIL_AXES] = {
    [STENCIL_OVER_BLOCKS] = {"blocks", "size of the domain", xy_tick_size},
    [STENCIL_OVER_GPUS] = {"gpus", "GPUs", xy_tick_number},
    [STENCIL_OVER_MEMORY] = {"memory", "memory of a GPU", xy_tick_size},
    [STENCIL_OVER_ITERATIONS] = {"iterations", "iterations", xy_tick_number},
    [STENCIL_OVER_BLOCK] = {"block", "size of a block", xy_tick_size},
    [STENCIL_OVER_CPUS] = {"cpus", "cores that compute", xy_tick_number},
    [STENCIL_OVER_CELLS] = {"cells", "cells of a block", NULL},
    [STENCIL_OVER_MACHINE] = {"machine", "machine", NULL},
    [STENCIL_OVER_GRAPH] = {"graph", "order", NULL},
    [STENCIL_OVER_LOAD] = {"load", "load", NULL},
    [STENCIL_OVER_EVICTION] = {"eviction", "eviction", NULL},
    [STENCIL_OVER_PRECISION] = {"precision", "precision", NULL},
};

static const char *or_none(const char *text)
{
    return text != NULL ? text : "";
}

/* Returns whether two runs differ along an axis. */
static bool differs(stencil_axis_t axis, const xy_stencil_run_t *a, const xy_stencil_run_t *b)
{
    switch (axis) {
    case STENCIL_OVER_BLOCKS:
        return memcmp(a->grid.blocks, b->grid.blocks, sizeof(a->grid.blocks)) != 0;
    case STENCIL_OVER_GPUS:
        return a->gpus != b->gpus;
    case STENCIL_OVER_MEMORY:
        return a->memory != b->memory;
    case STENCIL_OVER_ITERATIONS:
        return a->grid.iterations != b->grid.iterations;
    case STENCIL_OVER_BLOCK:
        return a->grid.block_bytes != b->grid.block_bytes;
    case STENCIL_OVER_CPUS:
        return a->cpus != b->cpus;
    case STENCIL_OVER_CELLS:
        return memcmp(a->grid.cells, b->grid.cells, sizeof(a->grid.cells)) != 0;
    case STENCIL_OVER_MACHINE:
        return strcmp(or_none(a->machine), or_none(b->machine)) != 0;
    case STENCIL_OVER_GRAPH:
        return a->grid.graph != b->grid.graph;
    case STENCIL_OVER_LOAD:
        return a->grid.load != b->grid.load;
    case STENCIL_OVER_PRECISION:
        return a->grid.is_single != b->grid.is_single;
    default:
        return strcmp(or_none(a->how.eviction), or_none(b->how.eviction)) != 0;
    }
}

bool stencil_axis_is_alone(stencil_axis_t axis, const xy_stencil_run_t *a,
                           const xy_stencil_run_t *b)
{
    if (a->grid.dims != b->grid.dims || a->grid.points != b->grid.points)
        return false;
    for (int i = 0; i < STENCIL_AXES; i++)
        if (i != (int)axis && differs((stencil_axis_t)i, a, b))
            return false;
    return true;
}

xy_status_t xy_stencil_study_over(xy_stencil_study_t *study, const char *name)
{
    for (int i = 0; i < STENCIL_AXES; i++)
        if (strcmp(axes[i].name, name) == 0) {
            study->over = i + 1;
            return XY_OK;
        }
    return xy_fail(XY_EUSAGE,
                   "a study is not drawn over '%s'; known are blocks, gpus, memory, iterations, "
                   "block, cpus, cells, machine, graph, load, eviction, precision (policies are "
                   "the curves)",
                   name);
}

stencil_axis_t stencil_axis_of(const xy_stencil_study_t *study)
{
    if (study->over > 0)
        return (stencil_axis_t)(study->over - 1);
    for (int i = 0; i < STENCIL_AXES; i++)
        for (size_t k = 1; k < study->count; k++)
            if (differs((stencil_axis_t)i, &study->runs[0], &study->runs[k]))
                return (stencil_axis_t)i;
    return STENCIL_OVER_BLOCKS;
}

const char *stencil_axis_title(stencil_axis_t axis)
{
    return axes[axis].title;
}

static bool has_unlimited(const xy_stencil_study_t *study)
{
    for (size_t i = 0; i < study->count; i++)
        if (study->runs[i].memory == XY_TASK_NO_LIMIT)
            return true;
    return false;
}

stencil_tick_fn stencil_axis_tick(stencil_axis_t axis, const xy_stencil_study_t *study)
{
    return axis == STENCIL_OVER_MEMORY && has_unlimited(study) ? NULL : axes[axis].tick;
}

double stencil_axis_number(stencil_axis_t axis, const xy_stencil_run_t *run,
                           const xy_stencil_result_t *r)
{
    switch (axis) {
    case STENCIL_OVER_BLOCKS:
        return (double)r->graph_bytes;
    case STENCIL_OVER_GPUS:
        return run->gpus;
    case STENCIL_OVER_MEMORY:
        return (double)run->memory;
    case STENCIL_OVER_ITERATIONS:
        return run->grid.iterations;
    case STENCIL_OVER_BLOCK:
        return (double)run->grid.block_bytes;
    default:
        return run->is_real ? r->workers : run->cpus;
    }
}

const char *stencil_axis_word(stencil_axis_t axis, const xy_stencil_run_t *run,
                              const xy_stencil_result_t *r, char buffer[96])
{
    const int64_t *c = run->grid.cells;

    switch (axis) {
    case STENCIL_OVER_CELLS:
        snprintf(buffer, 96, "%lldx%lldx%lld", (long long)c[0], (long long)c[1], (long long)c[2]);
        return buffer;
    case STENCIL_OVER_MACHINE:
        return or_none(run->machine);
    case STENCIL_OVER_GRAPH:
        return xy_stencil_graph_name(run->grid.graph);
    case STENCIL_OVER_LOAD:
        return stencil_load_name(run->grid.load);
    case STENCIL_OVER_PRECISION:
        return xy_stencil_precision_name(&run->grid);
    case STENCIL_OVER_EVICTION:
        return run->how.eviction != NULL ? run->how.eviction : r->sim.eviction;
    case STENCIL_OVER_MEMORY:
        if (run->memory == XY_TASK_NO_LIMIT)
            return "no limit";
        break;
    default:
        break;
    }
    return axes[axis].tick(stencil_axis_number(axis, run, r), buffer);
}
