/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/strategy.h"

#include <string.h>

extern const xy_strategy_t strategy_treematch, strategy_scotch, strategy_metis, strategy_bisection,
    strategy_mpipp, strategy_packed, strategy_round_robin, strategy_random_order;

const xy_strategy_t *const xy_strategies[] = {
    &xy_strategy_multisection, &strategy_treematch,
    &strategy_scotch,          &strategy_metis,
    &strategy_bisection,       &strategy_mpipp,
    &strategy_packed,          &strategy_round_robin,
    &strategy_random_order,    NULL,
};

enum { STRATEGIES = sizeof(xy_strategies) / sizeof(xy_strategies[0]) };

xy_status_t xy_strategy_find(const char *name, const xy_strategy_t **strategy_p)
{
    const char *names[STRATEGIES], *nearest;

    if (name == NULL)
        name = xy_strategies[0]->name;
    for (size_t i = 0; i < STRATEGIES; i++) {
        names[i] = xy_strategies[i] != NULL ? xy_strategies[i]->name : NULL;
        if (names[i] != NULL && strcmp(names[i], name) == 0) {
            *strategy_p = xy_strategies[i];
            return XY_OK;
        }
    }
    nearest = xy_nearest_word(name, names);
    if (nearest != NULL)
        return xy_fail(XY_EUSAGE, "unknown strategy '%s'; did you mean '%s'?", name, nearest);
    return xy_fail(XY_EUSAGE, "unknown strategy '%s'; 'xylem place --help' lists them", name);
}

bool xy_strategy_is_built(const xy_strategy_t *strategy)
{
    return !strategy->is_missing;
}

xy_status_t xy_place_compute(const xy_matrix_t *m, const xy_target_t *t,
                             const xy_place_options_t *options, xy_place_t **place_p)
{
    const xy_strategy_t *strategy;
    xy_status_t st = xy_strategy_find(options->strategy, &strategy);

    return st == XY_OK ? xy_place_by(strategy, m, t, options, place_p) : st;
}
