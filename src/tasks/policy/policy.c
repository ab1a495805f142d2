/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "tasks/policy/policy_internal.h"

const xy_task_policy_t *const xy_task_policies[] = {
    &policy_foresight, &policy_closure,         &policy_relay,  &policy_eager, &policy_prio,
    &policy_dmda,      &policy_dmdar,           &policy_dmdas,  &policy_darts, &policy_lws,
    &policy_modular,   &policy_cache_oblivious, &policy_random, NULL,
};

enum { POLICY_COUNT = sizeof(xy_task_policies) / sizeof(xy_task_policies[0]) };

const xy_task_eviction_t xy_task_evictions[] = {
    {"lru", "the least recently used", false, false},
    {"clean-first", "the least recently used that need not be written back, then the others", true,
     false},
    {"belady-plan", "the data whose next use, by the plan or the order of submission, is the last",
     false, true},
    {0},
};

static xy_status_t fail_name(const char *kind, const char *name, const char *const *names)
{
    const char *nearest = xy_nearest_word(name, names);

    if (nearest != NULL)
        return xy_fail(XY_EINVAL, "no %s is called '%s'; did you mean '%s'?", kind, name, nearest);
    return xy_fail(XY_EINVAL, "no %s is called '%s'; '%s' is one", kind, name, names[0]);
}

xy_status_t xy_task_policy_find(const char *name, const xy_task_policy_t **policy_p)
{
    const char *names[POLICY_COUNT] = {0};

    if (xy_plugin_is_path(name))
        return policy_plugin_find(name, policy_p);
    for (int i = 0; xy_task_policies[i] != NULL; i++) {
        names[i] = xy_task_policies[i]->name;
        if (strcmp(names[i], name) == 0) {
            *policy_p = xy_task_policies[i];
            return XY_OK;
        }
    }
    return fail_name("policy", name, names);
}

bool xy_task_policy_is_known(const char *name)
{
    return xy_plugin_is_path(name) || xy_table_find(XY_TABLE(xy_task_policies), name) != NULL;
}

xy_status_t xy_task_policy_create(const xy_task_policy_t *policy, const xy_task_view_t *view,
                                  const xy_task_params_t *params, void **state_p)
{
    xy_task_params_t own = *params;

    own.policy = policy;
    return policy->create(view, &own, state_p);
}

xy_status_t xy_task_policy_end(const xy_task_policy_t *policy, const void *state, int32_t left,
                               int32_t ops)
{
    if (xy_task_policy_is_faulty(policy, state) ||
        (left > 0 && policy->plugin != NULL && !policy_plugin_is_first(policy->name)))
        return XY_EINVAL;
    if (left > 0)
        return xy_fail(XY_EINVAL,
                       "policy %s left %d of %d tasks undone: it chose none of the ready ones",
                       policy->name, left, ops);
    return XY_OK;
}

xy_status_t xy_task_policy_find_real(const char *name, const xy_task_policy_t **policy_p)
{
    xy_status_t st = xy_task_policy_find(name != NULL ? name : "closure", policy_p);

    return st == XY_OK && (*policy_p)->trials != NULL
               ? xy_task_policy_find((*policy_p)->trials[0].policy, policy_p)
               : st;
}

xy_status_t xy_task_eviction_find(const char *name, const xy_task_eviction_t **eviction_p)
{
    const char *names[sizeof(xy_task_evictions) / sizeof(xy_task_evictions[0])] = {0};

    for (int i = 0; xy_task_evictions[i].name != NULL; i++) {
        names[i] = xy_task_evictions[i].name;
        if (strcmp(names[i], name) == 0) {
            *eviction_p = &xy_task_evictions[i];
            return XY_OK;
        }
    }
    return fail_name("eviction", name, names);
}

double xy_task_seconds(const xy_task_view_t *view, xy_op_id_t op, int32_t worker)
{
    return xy_graph_op(view->graph, op)->seconds / view->speed[worker];
}

uint64_t xy_task_missing(const xy_task_view_t *view, xy_op_id_t op, int32_t memory)
{
    const uint8_t *here = view->copies[memory];
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(view->graph, op, &a);
    uint64_t bytes = 0;

    for (int32_t i = 0; i < n; i++)
        if ((a[i].mode & XY_ACCESS_READ) && here[a[i].data] == 0)
            bytes += xy_graph_data_at(view->graph, a[i].data)->bytes;
    return bytes;
}

/* Returns the seconds of the cheapest transfer of a datum to a memory; 0 if there is none. */
static double datum_transfer(const xy_task_view_t *view, int32_t data, int32_t memory)
{
    double bytes = (double)xy_graph_data_at(view->graph, data)->bytes, best = -1;

    for (int32_t m = 0; m < view->memories; m++) {
        int32_t way = m * view->memories + memory;
        double t;

        if (view->copies[m][data] != XY_TASK_HERE || view->transfer_rate[way] <= 0)
            continue;
        t = view->transfer_latency[way] + bytes / view->transfer_rate[way];
        if (best < 0 || t < best)
            best = t;
    }
    return best < 0 ? 0 : best;
}

double xy_task_transfer_within(const xy_task_view_t *view, xy_op_id_t op, int32_t memory,
                               double limit)
{
    const xy_access_t *a;
    int32_t n = xy_graph_accesses(view->graph, op, &a);
    double t = 0;

    for (int32_t i = 0; i < n && t < limit; i++)
        if ((a[i].mode & XY_ACCESS_READ) && view->copies[memory][a[i].data] == 0)
            t += datum_transfer(view, a[i].data, memory);
    return t;
}

void xy_task_cut(const double *weights, int64_t n, const double *speed, int32_t workers,
                 int64_t *cuts)
{
    double total = 0, fast = 0, work = 0, share = 0;
    int64_t i = 0;

    for (int64_t k = 0; k < n && weights != NULL; k++)
        total += weights[k];
    for (int32_t w = 0; w < workers; w++)
        fast += speed[w];
    cuts[0] = 0;
    for (int32_t w = 1; w < workers; w++) {
        if (weights == NULL || total <= 0) {
            cuts[w] = n * w / workers;
            continue;
        }
        share += speed[w - 1] / fast;
        /* Half of the next weight decides on which side of the cut it lies. */
        while (i < n && work + weights[i] / 2 < total * share)
            work += weights[i++];
        cuts[w] = i;
    }
    cuts[workers] = n;
}

/* How much longer than the ideal the slowest part takes. */
static double imbalance(const double *weights, const double *speed, int32_t workers,
                        const int64_t *cuts)
{
    double total = 0, fast = 0, worst = 0;

    for (int32_t w = 0; w < workers; w++) {
        double work = 0;

        for (int64_t i = cuts[w]; i < cuts[w + 1]; i++)
            work += weights[i];
        total += work;
        fast += speed[w];
        worst = work / speed[w] > worst ? work / speed[w] : worst;
    }
    return total > 0 ? worst * fast / total : 1;
}

void xy_task_cut_slices(const double *weights, int64_t n, const double *speed, int32_t workers,
                        int64_t *cuts)
{
    for (int32_t s = 0; s < XY_TASK_SLICES; s++, cuts += workers + 1) {
        const double *mine = weights != NULL ? weights + s * n : NULL;

        if (s > 0)
            memcpy(cuts, cuts - (workers + 1), ((size_t)workers + 1) * sizeof(*cuts));
        if (s == 0 || (mine != NULL && imbalance(mine, speed, workers, cuts) > 1.02))
            xy_task_cut(mine, n, speed, workers, cuts);
    }
}

int32_t xy_task_slice(int64_t step, int64_t steps)
{
    return (int32_t)(step * XY_TASK_SLICES / steps);
}
