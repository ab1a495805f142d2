/* SPDX-License-Identifier: BSD-3-Clause */
#include "tasks/sim/task_sim_internal.h"

void xy_task_platform_destroy(xy_task_platform_t *p)
{
    if (p == NULL)
        return;
    xy_free(p->memory_of);
    xy_free(p->speed);
    xy_free(p->capacity);
    xy_free(p->latency);
    xy_free(p->rate);
    xy_free(p->shared);
    xy_free(p->shared_rate);
    xy_free(p);
}

xy_task_platform_t *xy_task_platform_new(int32_t workers, int32_t memories, int32_t shared)
{
    size_t m = (size_t)memories, w = (size_t)workers;
    xy_task_platform_t *p = xy_calloc(1, sizeof(*p));

    if (p == NULL)
        return NULL;
    p->workers = workers;
    p->memories = memories;
    p->shared_count = shared;
    p->memory_of = xy_calloc(w, sizeof(*p->memory_of));
    p->speed = xy_calloc(w, sizeof(*p->speed));
    p->capacity = xy_calloc(m, sizeof(*p->capacity));
    p->latency = xy_calloc(m * m, sizeof(*p->latency));
    p->rate = xy_calloc(m * m, sizeof(*p->rate));
    p->shared = xy_malloc(m * m * sizeof(*p->shared));
    p->shared_rate = xy_calloc((size_t)shared + 1, sizeof(*p->shared_rate));
    if (p->memory_of != NULL && p->speed != NULL && p->capacity != NULL && p->latency != NULL &&
        p->rate != NULL && p->shared != NULL && p->shared_rate != NULL)
        return p;
    xy_task_platform_destroy(p);
    return NULL;
}

/* The GPU of the machine that GPU `i` of the platform is, or is a copy of. */
static uint32_t gpu_of(const xy_machine_t *m, int32_t i)
{
    return (uint32_t)i < m->gpu_count ? (uint32_t)i : m->gpu_count - 1;
}

static void set_way(xy_task_platform_t *p, int32_t from, int32_t to, xy_link_t link, int32_t shared)
{
    int32_t way = from * p->memories + to;

    p->latency[way] = link.latency;
    p->rate[way] = link.bandwidth;
    p->shared[way] = shared;
}

/* Beside the first GPU, by what their kernels read and write; 1 where that is not known. */
static double speed_of(const xy_machine_t *m, const xy_gpu_t *gpu)
{
    double first = m->gpus[0].kernel.bandwidth;

    return first > 0 && gpu->kernel.bandwidth > 0 ? gpu->kernel.bandwidth / first : 1;
}

/* Sets memory, speed and links of the i-th GPU, including those to earlier GPUs. */
static void set_gpu(xy_task_platform_t *p, const xy_machine_t *m, int32_t i, uint64_t memory)
{
    const xy_gpu_t *gpu = &m->gpus[gpu_of(m, i)];
    const xy_gpu_group_t *group = &m->gpu_groups[gpu->group];
    int32_t shared = group->shared.bandwidth > 0 ? (int32_t)gpu->group : -1;

    p->memory_of[i] = i + 1;
    p->speed[i] = speed_of(m, gpu);
    p->capacity[i + 1] = memory == 0 ? gpu->memory : memory == XY_TASK_NO_LIMIT ? 0 : memory;
    set_way(p, 0, i + 1, gpu->in, shared);
    set_way(p, i + 1, 0, gpu->out, shared);
    for (int32_t j = 0; j < i; j++) {
        uint32_t a = gpu_of(m, i), b = gpu_of(m, j);
        xy_link_t link = a != b && m->gpus[a].group == m->gpus[b].group
                             ? xy_machine_gpu_peer(m, a, b)
                             : group->peer;

        if (m->gpus[a].group != m->gpus[b].group)
            link = (xy_link_t){0};
        set_way(p, i + 1, j + 1, link, -1);
        set_way(p, j + 1, i + 1, link, -1);
    }
}

xy_status_t xy_task_platform_from(const xy_machine_t *machine,
                                  const xy_task_platform_options_t *options,
                                  xy_task_platform_t **platform_p)
{
    int32_t gpus = options->gpus != 0 ? options->gpus : (int32_t)machine->gpu_count;
    int32_t cpus = options->cpus;
    xy_task_platform_t *p;

    if (gpus < 0)
        gpus = 0;
    if (gpus > 0 && machine->gpu_count == 0)
        return xy_fail(XY_EINVAL, "machine %s has no GPU; name one that has, such as attila",
                       machine->name);
    if (gpus + cpus <= 0)
        return xy_fail(XY_EINVAL, "nothing to compute with: give at least one GPU or core");
    p = xy_task_platform_new(gpus + cpus, gpus + 1, (int32_t)machine->gpu_group_count);
    if (p == NULL)
        return xy_fail_memory("preparing the platform");
    for (int32_t i = 0; i < p->memories * p->memories; i++)
        p->shared[i] = -1;
    for (uint32_t g = 0; g < machine->gpu_group_count; g++)
        p->shared_rate[g] = machine->gpu_groups[g].shared.bandwidth;
    for (int32_t i = 0; i < gpus; i++)
        set_gpu(p, machine, i, options->memory);
    for (int32_t i = 0; i < cpus; i++)
        p->speed[gpus + i] = options->cpu_speed > 0 ? options->cpu_speed : 0.1;
    *platform_p = p;
    return XY_OK;
}

/* A worker that the part keeps: one of the main memory, or of a memory that it has. */
static bool is_kept(const xy_task_platform_t *p, int32_t worker, int32_t memories)
{
    return p->memory_of[worker] <= memories;
}

xy_status_t sim_platform_part(const xy_task_platform_t *whole, int32_t memories, double share,
                              xy_task_platform_t **part_p)
{
    int32_t workers = 0, n = memories + 1;
    xy_task_platform_t *p;

    for (int32_t w = 0; w < whole->workers; w++)
        workers += is_kept(whole, w, memories) ? 1 : 0;
    p = xy_task_platform_new(workers, n, whole->shared_count);
    if (p == NULL)
        return xy_fail_memory("preparing the platform");
    for (int32_t w = 0, to = 0; w < whole->workers; w++)
        if (is_kept(whole, w, memories)) {
            p->memory_of[to] = whole->memory_of[w];
            p->speed[to++] = whole->speed[w];
        }
    for (int32_t m = 1; m < n; m++)
        p->capacity[m] = (uint64_t)(share * (double)whole->capacity[m]);
    for (int32_t i = 0; i < n * n; i++) {
        int32_t way = i / n * whole->memories + i % n;

        p->latency[i] = whole->latency[way];
        p->rate[i] = whole->rate[way];
        p->shared[i] = whole->shared[way];
    }
    for (int32_t i = 0; i < whole->shared_count; i++)
        p->shared_rate[i] = whole->shared_rate[i];
    *part_p = p;
    return XY_OK;
}
