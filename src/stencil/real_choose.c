/* SPDX-License-Identifier: BSD-3-Clause */
/* Policies that are a choice: the graph runs in virtual time on what the real run has. */
#include <string.h>

#include "stencil/real.h"

/* A simulated memory holds at least what one task needs; a cache spills instead. */
static uint64_t largest_task(const xy_graph_t *graph)
{
    uint64_t largest = 0;

    for (xy_op_id_t i = 0; i < xy_graph_ops(graph); i++) {
        const xy_access_t *a;
        uint64_t bytes = 0;

        for (int32_t k = xy_graph_accesses(graph, i, &a) - 1; k >= 0; k--)
            bytes += xy_graph_data_at(graph, a[k].data)->bytes;
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

static uint64_t capacity_of(const stencil_real_t *r)
{
    uint64_t least = largest_task(r->graph), bytes = r->run->memory;

    if (bytes == XY_TASK_NO_LIMIT || (bytes == 0 && r->run->file != NULL))
        return 0;
    if (bytes == 0)
        bytes = xy_task_cache_bytes();
    return bytes > least ? bytes : least;
}

static xy_task_platform_t *make_platform(const stencil_real_t *r)
{
    bool is_in_core = r->run->file == NULL;
    xy_link_t in = {0, is_in_core ? 10e9 : 1e9}, out = in;
    int32_t memories = is_in_core ? r->workers + 1 : 2;
    uint64_t memory = 0;
    size_t ways = (size_t)memories * (size_t)memories;
    xy_task_platform_t *p = xy_calloc(1, sizeof(*p));

    if (p == NULL)
        return NULL;
    if (r->gpu != NULL)
        stencil_gpu_platform(r, &in, &out, &memory);
    p->workers = r->workers;
    p->memories = memories;
    p->memory_of = xy_calloc((size_t)r->workers, sizeof(*p->memory_of));
    p->speed = xy_calloc((size_t)r->workers, sizeof(*p->speed));
    p->capacity = xy_calloc((size_t)memories, sizeof(*p->capacity));
    p->latency = xy_calloc(ways, sizeof(*p->latency));
    p->rate = xy_calloc(ways, sizeof(*p->rate));
    p->shared = xy_malloc(ways * sizeof(*p->shared));
    p->shared_rate = xy_calloc(1, sizeof(*p->shared_rate));
    if (p->memory_of == NULL || p->speed == NULL || p->capacity == NULL || p->latency == NULL ||
        p->rate == NULL || p->shared == NULL || p->shared_rate == NULL) {
        xy_task_platform_destroy(p);
        return NULL;
    }
    for (size_t i = 0; i < ways; i++) {
        bool is_in = i < (size_t)memories, is_out = i % (size_t)memories == 0;

        p->shared[i] = -1;
        if (i % (size_t)(memories + 1) == 0 || (r->gpu != NULL && !is_in && !is_out))
            continue; /* to itself, or between GPUs */
        p->rate[i] = is_out ? out.bandwidth : in.bandwidth;
        p->latency[i] = is_out ? out.latency : in.latency;
    }
    for (int32_t w = 0; w < r->workers; w++) {
        p->memory_of[w] = is_in_core ? w + 1 : 1;
        p->speed[w] = 1;
    }
    for (int32_t m = 1; m < memories; m++)
        p->capacity[m] = memory > 0 && r->run->memory == 0 ? memory : capacity_of(r);
    return p;
}

xy_status_t stencil_real_choose(const stencil_real_t *r, const char **policy_p, double *spent_p)
{
    xy_task_sim_t how = r->run->how;
    const xy_task_policy_t *policy;
    xy_task_platform_t *platform;
    xy_task_result_t result;
    xy_status_t st;

    how.trace = NULL;
    how.observer = NULL;
    if (*policy_p == NULL)
        return XY_OK;
    st = xy_task_policy_find(*policy_p, &policy);
    if (st != XY_OK || policy->trials == NULL)
        return st;
    platform = make_platform(r);
    if (platform == NULL)
        return xy_fail_memory("choosing a policy");
    st = xy_task_simulate(r->graph, platform, &how, &result);
    xy_task_platform_destroy(platform);
    if (st != XY_OK)
        return st;
    *policy_p = result.policy;
    *spent_p = result.scheduling_seconds;
    return XY_OK;
}
