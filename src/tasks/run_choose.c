/* SPDX-License-Identifier: BSD-3-Clause */
/* A policy that is a choice, in real time: the program runs in virtual time on what it will have,
 * and what ends first there is taken. Without times of tasks only transfers count. */
#include "tasks/sim/sim.h"
#include "tasks/tasks.h"

/* A link that is not measured: that of device.c. */
static const double LATENCY = 10e-6, BYTES_PER_SECOND = 20e9;

/* Returns a platform with typical link costs for comparing policies; NULL without memory. */
static xy_task_platform_t *make_platform(const xylem_run_options *o, int32_t gpus)
{
    int32_t cores = gpus > 0 || o->cpus > 0 ? o->cpus : 1, memories = gpus + 1;
    xy_task_platform_t *p = xy_task_platform_new(gpus + cores, memories, 0);

    if (p == NULL)
        return NULL;
    for (int32_t w = 0; w < gpus + cores; w++) {
        p->memory_of[w] = w < gpus ? w + 1 : 0;
        p->speed[w] = w < gpus || gpus == 0 ? 1 : o->cpu_speed > 0 ? o->cpu_speed : 0.1;
    }
    for (int32_t i = 0; i < memories * memories; i++) {
        bool is_way = (i < memories) != (i % memories == 0);

        p->shared[i] = -1;
        p->latency[i] = is_way ? LATENCY : 0;
        p->rate[i] = is_way ? BYTES_PER_SECOND : 0;
    }
    for (int32_t m = 1; m < memories; m++)
        p->capacity[m] = o->memory == XYLEM_NO_LIMIT ? 0 : o->memory;
    return p;
}

xy_status_t tasks_choose(const xylem_tasks *t, const xylem_run_options *o, int32_t gpus,
                         tasks_choice_t *choice)
{
    xy_task_sim_t how = {.policy = o->policy,
                         .eviction = o->eviction,
                         .params = {.alpha = o->alpha, .beta = o->beta}};
    const xy_task_policy_t *policy;
    xy_task_platform_t *platform;
    xy_task_result_t r;
    xy_status_t st = XY_OK;

    *choice = (tasks_choice_t){.policy = o->policy, .eviction = o->eviction};
    if (o->policy != NULL)
        st = xy_task_policy_find(o->policy, &policy);
    if (st != XY_OK || o->policy == NULL || policy->trials == NULL)
        return st;
    platform = make_platform(o, gpus);
    if (platform == NULL)
        return xy_fail_memory("choosing a policy");
    st = xy_task_simulate(t->graph, platform, &how, &r);
    xy_task_platform_destroy(platform);
    if (st == XY_OK)
        *choice = (tasks_choice_t){r.policy, r.eviction, r.extra_rounds, r.memory};
    return st;
}
