/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strategies of the user: shared objects with the table of include/xylem_plugin.h. What they answer
 * is checked: each process has a leaf that there is, and no leaf more than it may run.
 */
#include <xylem_plugin.h>

#include "place/strategy_internal.h"

/* Without a tree, as where ranks are placed without a matrix, NUMA nodes are all that is known. */
static double distance(const xylem_place_problem *problem, uint32_t a, uint32_t b)
{
    const xy_problem_t *q = problem->own;
    const xy_target_t *t = q->target;

    if (t->nodes == 0 && t->grid.dimensions == 0)
        return a == b ? 0 : t->numa != NULL && t->numa[a] == t->numa[b] ? 1 : 2;
    return q->objective == XY_OBJECTIVE_HOPS ? xy_target_hops(t, a, b)
                                             : xy_target_weighted(t, a, b);
}

/* Checks that each process of a plug-in's answer has a leaf with room; `count` is zeroed scratch
 * space. */
static xy_status_t check(const xy_problem_t *q, const uint32_t *leaf_of, uint32_t *count)
{
    const char *name = q->strategy->name;

    for (uint32_t r = 0; r < q->n; r++) {
        uint32_t leaf = leaf_of[r];

        if (leaf >= q->target->leaves)
            return xy_fail(XY_EINVAL, "strategy %s places process %u on leaf %u; there are %u",
                           name, r, leaf, q->target->leaves);
        if (++count[leaf] > q->capacity[leaf])
            return xy_fail(XY_EINVAL,
                           "strategy %s places process %u on leaf %u, which may run %u only", name,
                           r, leaf, q->capacity[leaf]);
    }
    return XY_OK;
}

/* Asks the plug-in for a placement and checks it. */
static xy_status_t place(const xy_problem_t *q, uint32_t *leaf_of)
{
    const xylem_strategy *table = q->strategy->plugin;
    xylem_place_problem problem = {.processes = q->n,
                                   .leaves = q->target->leaves,
                                   .first = q->graph != NULL ? q->graph->first : NULL,
                                   .peer = q->graph != NULL ? q->graph->to : NULL,
                                   .weight = q->graph != NULL ? q->graph->w : NULL,
                                   .capacity = q->capacity,
                                   .host = q->target->host,
                                   .numa = q->target->numa,
                                   .load = q->load,
                                   .seed = q->seed,
                                   .distance = distance,
                                   .own = q};
    uint32_t *count = xy_calloc((size_t)q->target->leaves + 1, sizeof(*count));
    xy_status_t st;
    int refusal;

    if (count == NULL)
        return XY_ENOMEM;
    for (uint32_t r = 0; r < q->n; r++)
        leaf_of[r] = UINT32_MAX; /* a process that it forgets has no leaf */
    refusal = table->place(&problem, leaf_of);
    st = refusal == 0 ? check(q, leaf_of, count)
                      : xy_fail(XY_EINVAL, "strategy %s has no answer: its 'place' returned %d",
                                q->strategy->name, refusal);
    xy_free(count);
    return st;
}

/* Loads the plug-in at `path` and makes a strategy of its table; the caller owns it. */
static xy_status_t make(const char *path, void **object_p)
{
    const xylem_strategy *t;
    const void *table;
    xy_strategy_t *s;
    xy_status_t st = xy_plugin_load(path, "strategy", "xylem_plugin_strategy", &table);

    if (st != XY_OK)
        return st;
    t = table;
    if (t->place == NULL)
        return xy_fail(XY_EINVAL, "strategy %s has no function 'place' in its table", path);
    s = xy_malloc(sizeof(*s));
    if (s == NULL)
        return xy_fail_memory("loading a strategy");
    *s = (xy_strategy_t){.name = path,
                         .describe = "a plug-in",
                         .needs_matrix = t->needs_matrix != 0,
                         .limit = t->limit,
                         .place = place,
                         .plugin = t};
    *object_p = s;
    return XY_OK;
}

xy_status_t place_plugin_find(const char *path, const xy_strategy_t **strategy_p)
{
    static xy_plugin_objects_t strategies = XY_PLUGIN_OBJECTS_INIT;
    void *found;
    xy_status_t st = xy_plugin_find(&strategies, path, make, &found);

    if (st == XY_OK)
        *strategy_p = found;
    return st;
}
