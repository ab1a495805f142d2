/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A policy that is a choice among others: each is tried in virtual time, and the one that ends
 * first runs. A trial stops as soon as it cannot end before the best one known (bound.c), so
 * that many can be tried for little more than the first few.
 */
#include <math.h>

#include "tasks/sim/sim_internal.h"

/* Trials of longer graphs end when the work of so many tasks is done; on graphs longer than that
 * policies that win seldom are not tried; what ends this near to the bound is not worth another
 * trial. */
enum { TRIAL_TASKS = 100000, SHORT_TASKS = 4000 };
static const double near_enough = 1.02;

/* When it was done, with all or with its share; a trial that was cut off has no time. */
static double time_of(const xy_task_result_t *r, const sim_trial_t *trial)
{
    if (trial->is_whole)
        return r->makespan;
    return trial->is_done ? r->tasks_end : INFINITY;
}

/* Replace a choice by the policy that ends first; *spent_p is what finding out took. *result_p is
 * that of the best trial, and the return value is true if it is one of the whole graph. */
static xy_status_t choose(const xy_graph_t *graph, const xy_task_platform_t *platform,
                          const xy_task_sim_t *how, const xy_task_policy_t **policy_p,
                          double *spent_p, xy_task_result_t *result_p, bool *is_whole_p)
{
    const char *const *trials = (*policy_p)->trials;
    int32_t frequent = (*policy_p)->frequent;
    bool is_long = xy_graph_ops(graph) > SHORT_TASKS;
    double share =
        xy_graph_ops(graph) > TRIAL_TASKS ? (double)TRIAL_TASKS / xy_graph_ops(graph) : 0;
    double best = INFINITY;
    xy_status_t st = XY_OK;

    *is_whole_p = false;
    for (int i = 0; trials != NULL && trials[i] != NULL && st == XY_OK; i++) {
        sim_trial_t trial = {.share = share};
        const xy_task_policy_t *policy;
        xy_task_result_t result;
        double found;

        if (i > 0)
            trial.seconds = best;
        st = xy_task_policy_find(trials[i], &policy);
        if (st == XY_OK)
            st = sim_task_run(graph, platform, how, policy, NULL, &trial, &result);
        if (st != XY_OK)
            break;
        *spent_p += result.scheduling_seconds;
        found = time_of(&result, &trial);
        if (i == 0 || found < best) {
            best = found;
            *policy_p = policy;
            *result_p = result;
            *is_whole_p = trial.is_whole;
        }
        if ((trial.is_whole && result.makespan <= near_enough * trial.bound) ||
            (is_long && i + 1 == frequent))
            break;
    }
    return st;
}

static xy_status_t run_policy(const xy_graph_t *graph, const xy_task_platform_t *platform,
                              const xy_task_sim_t *how, const xy_task_policy_t *policy,
                              xy_task_result_t *result_p)
{
    const xy_task_observer_t *observer = how->observer;
    xy_task_view_t view = {.workers = platform->workers,
                           .memories = platform->memories,
                           .memory_of = platform->memory_of,
                           .transfer_rate = platform->rate};
    xy_task_trace_t *trace = NULL;
    xy_status_t closed, st = XY_OK;

    if (how->trace != NULL)
        st = xy_task_trace_open(how->trace, &view, XY_TASK_GPUS, policy->name, observer, &trace);
    if (st != XY_OK)
        return st;
    if (trace != NULL)
        observer = xy_task_trace_observer(trace);
    st = sim_task_run(graph, platform, how, policy, observer, NULL, result_p);
    closed = xy_task_trace_close(trace);
    return st == XY_OK ? closed : st;
}

xy_status_t xy_task_simulate(const xy_graph_t *graph, const xy_task_platform_t *platform,
                             const xy_task_sim_t *how, xy_task_result_t *result_p)
{
    const char *name = how->policy != NULL ? how->policy : xy_task_policies[0]->name;
    const xy_task_policy_t *policy;
    xy_task_result_t result, again;
    bool is_whole = false;
    double spent = 0;
    xy_status_t st = xy_task_policy_find(name, &policy);

    if (st == XY_OK)
        st = choose(graph, platform, how, &policy, &spent, &result, &is_whole);
    if (st != XY_OK)
        return st;
    /* There is an observer, or no trial ran to the end: the chosen one runs once more. */
    if (!is_whole || how->trace != NULL || how->observer != NULL) {
        st = run_policy(graph, platform, how, policy, &again);
        if (st != XY_OK)
            return st;
        /* A whole trial and its repetition are the same decisions: they count once. */
        spent += is_whole ? 0 : again.scheduling_seconds;
        result = again;
    }
    result.scheduling_seconds = spent;
    *result_p = result;
    return XY_OK;
}
