/* SPDX-License-Identifier: BSD-3-Clause */
/* All strategies by name, for every command that places. */
#include <string.h>

#include "place/strategy_internal.h"

const xy_strategy_t *const xy_strategies[] = {
    &place_strategy_auto,
    &place_strategy_multisection,
    &place_strategy_treematch,
    &place_strategy_scotch,
    &place_strategy_metis,
    &place_strategy_bisection,
    &place_strategy_mpipp,
    &place_strategy_packed,
    &place_strategy_scatter,
    &place_strategy_scatter_numa,
    &place_strategy_round_robin,
    &place_strategy_random,
    NULL,
};

bool xy_strategy_is_plugin(const char *name)
{
    size_t n = name != NULL ? strlen(name) : 0;

    return n > 3 && strcmp(name + n - 3, ".so") == 0;
}

bool xy_strategy_is_available(const xy_strategy_t *strategy)
{
    return strategy->is_missing == NULL || !strategy->is_missing();
}

xy_status_t xy_strategy_find(const char *name, const xy_strategy_t **strategy_p)
{
    const xy_strategy_t *found =
        name == NULL ? xy_strategies[0] : xy_table_find(XY_TABLE(xy_strategies), name);

    if (found == NULL && xy_plugin_is_path(name))
        return place_plugin_find(name, strategy_p);
    if (found == NULL)
        return xy_table_fail(XY_TABLE(xy_strategies), "strategy", name);
    *strategy_p = found;
    return XY_OK;
}
