/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many blocks a GPU loads before a task asks for them, where tasks can share launches: with
 * more of them more tasks do, but where memory is small, data are then loaded again. What ends
 * first in virtual time is chosen, on fewer blocks of the same grid.
 */
#include <string.h>

#include "stencil/internal.h"

static const int32_t tries[] = {0, 2, 8};
enum { TRIES = sizeof(tries) / sizeof(tries[0]), ROWS_MORE = 64 };
/* What is gained must be more than what the virtual clock is wrong by. */
static const double GAIN = 0.98;

static bool is_sharing(const xy_task_sim_t *how)
{
    return how->ahead != NULL && how->ahead->batch > 1 &&
           (how->policy == NULL || strcmp(how->policy, "closure") == 0);
}

/* As many blocks as all memories hold: the window over a domain moves by its own width at least, as
 * it has two arrays; and some more, for small memories. false: there is nothing to choose, or
 * trying it would take too long. */
static bool make_trial(const xy_stencil_t *s, const xy_task_platform_t *p, xy_stencil_t *trial)
{
    uint64_t row = (uint64_t)(s->blocks[1] * s->blocks[2]);
    uint64_t blocks = p->capacity[1] / s->block_bytes * (uint64_t)p->workers;
    uint64_t all = (uint64_t)s->blocks[0] * row * (uint64_t)stencil_arrays(s);

    *trial = *s;
    if (p->capacity[1] == 0 || blocks >= all)
        return false;
    trial->blocks[0] = (int64_t)(blocks / row) + ROWS_MORE;
    return trial->blocks[0] * TRIES <= s->blocks[0];
}

xy_status_t stencil_look_ahead(const xy_stencil_t *s, const xy_task_platform_t *p,
                               const xy_task_sim_t *how, int32_t *look_ahead_p, double *spent_p)
{
    xy_task_sim_t trial_how = *how;
    double best = 0;
    xy_stencil_t trial;
    xy_graph_t *graph;
    xy_status_t st;

    *look_ahead_p = 0;
    if (!is_sharing(how) || !make_trial(s, p, &trial))
        return XY_OK;
    st = xy_stencil_build(&trial, &graph);
    if (st != XY_OK)
        return st;
    trial_how.policy = "closure";
    trial_how.trace = NULL;
    trial_how.observer = NULL;
    for (int i = 0; i < TRIES && st == XY_OK; i++) {
        xy_task_result_t r;

        trial_how.params.look_ahead = tries[i];
        st = xy_task_simulate(graph, p, &trial_how, &r);
        if (st != XY_OK)
            break;
        *spent_p += r.scheduling_seconds;
        if (i > 0 && r.makespan > GAIN * best)
            continue;
        best = r.makespan;
        *look_ahead_p = tries[i];
    }
    xy_graph_destroy(graph);
    return st;
}
