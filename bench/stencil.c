/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduling on small memories: how near the default policy comes to the bound, what a decision
 * costs, and how long a million tasks take to simulate. 200 MiB per GPU and red-black order, unless
 * stated otherwise.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "stencil/stencil.h"
#include "tasks/sim/graphs_test.h"

static xy_stencil_result_t run(const char *blocks, int iterations, int gpus, uint64_t memory,
                               xy_stencil_graph_t graph)
{
    xy_stencil_run_t r = {
        .grid = XY_STENCIL_DEFAULT, .machine = "attila", .gpus = gpus, .memory = memory};
    xy_stencil_result_t result;

    if (!xy_stencil_blocks_parse(blocks, &r.grid))
        exit(1);
    r.grid.iterations = iterations;
    r.grid.graph = graph;
    if (xy_stencil_run(&r, &result) != XY_OK)
        exit(1);
    return result;
}

/*
 * The lower bound of all schedules of a red-black stencil in 1D, divided by the compute bound. With
 * n blocks loaded, at best n neighbours from one end of the domain, the tasks within reach shrink
 * by two blocks per iteration. Until enough are there the GPUs wait, and in the same way at the
 * end, when blocks that are stored cannot change any more.
 */
static double least_ratio(int blocks, int iterations, int gpus, double seconds)
{
    double load = (3 << 20) / 6527e6, lost = 0;
    double work = (double)(blocks - 2) * iterations * seconds;

    for (int n = 2; n < blocks; n++) {
        double reach = 0;

        for (int i = 0; i < iterations && n - 1 - 2 * i > 0; i++)
            reach += (n - 1 - 2 * i) * seconds;
        if (n * load * gpus - reach > lost)
            lost = n * load * gpus - reach;
    }
    return (work + 2 * lost) / work;
}

/* Loads and stores of a sliding window, each GPU with its part of the domain. */
static double window_volume(int blocks, int gpus)
{
    xy_stencil_t s = XY_STENCIL_DEFAULT;

    s.blocks[0] = (blocks - 2) / gpus + 2;
    return gpus * (double)xy_stencil_window_volume(&s, 66);
}

/* The ratios of all sizes on 1, 2, 4 and 8 GPUs. */
static void measure_ratios(void)
{
    static const int sizes[] = {66, 166, 366, 666, 966};
    int count = bench_is_quick() ? 2 : 5, most = bench_is_quick() ? 2 : 8;

    for (int gpus = 1; gpus <= most; gpus *= 2)
        for (int i = 0; i < count; i++) {
            xy_stencil_result_t r;
            char name[80];

            snprintf(name, sizeof(name), "%d", sizes[i]);
            r = run(name, 100, gpus, 200 << 20, XY_STENCIL_RED_BLACK);
            snprintf(name, sizeof(name), "%d GPUs, %d MB: time / bound", gpus, 3 * sizes[i]);
            bench_value(name, r.sim.makespan / r.sim.compute_bound, "");
            snprintf(name, sizeof(name), "%d GPUs, %d MB: least time / bound", gpus, 3 * sizes[i]);
            bench_value(name, least_ratio(sizes[i], 100, gpus, 267e-6), "");
            snprintf(name, sizeof(name), "%d GPUs, %d MB: volume / least", gpus, 3 * sizes[i]);
            bench_value(name, (double)(r.sim.loads + r.sim.stores) / window_volume(sizes[i], gpus),
                        "");
        }
}

/* Half of the domain at half the time, and a quarter at twice the time that moves: all sizes of the
 * study of 2016, memories without a limit. */
static void measure_imbalance(void)
{
    static const int sizes[] = {166, 366, 966, 1916};

    for (int load = XY_STENCIL_STATIC; load <= XY_STENCIL_DYNAMIC; load++)
        for (int gpus = 1; gpus <= (bench_is_quick() ? 2 : 4); gpus *= 2)
            for (int i = 0; i < (bench_is_quick() ? 1 : 4); i++) {
                xy_stencil_run_t r = {.grid = XY_STENCIL_DEFAULT,
                                      .machine = "attila",
                                      .gpus = gpus,
                                      .memory = XY_TASK_NO_LIMIT};
                xy_stencil_result_t result;
                char name[80];

                r.grid.blocks[0] = sizes[i];
                r.grid.load = (xy_stencil_load_t)load;
                if (xy_stencil_run(&r, &result) != XY_OK)
                    exit(1);
                snprintf(name, sizeof(name), "%s load, %d GPUs, %d MB: time / bound",
                         load == XY_STENCIL_STATIC ? "static" : "dynamic", gpus, 3 * sizes[i]);
                bench_value(name, result.sim.makespan / result.sim.compute_bound, "");
            }
}

static void measure_decisions(void)
{
    static const struct {
        const char *name, *blocks;
        int iterations;
        uint64_t memory;
        xy_stencil_graph_t graph;
    } cases[] = {
        {"1D", "366", 100, 200 << 20, XY_STENCIL_RED_BLACK},
        {"2D", "20x20", 50, 300 << 20, XY_STENCIL_RED_BLACK},
        {"2D Jacobi", "20x20", 50, 1200 << 20, XY_STENCIL_JACOBI},
        {"3D", "10x10x10", 20, 1000 << 20, XY_STENCIL_RED_BLACK},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int gpus = 1; gpus <= (bench_is_quick() ? 1 : 8); gpus *= 2) {
            xy_stencil_result_t r =
                run(cases[i].blocks, cases[i].iterations, gpus, cases[i].memory, cases[i].graph);
            char name[80];

            snprintf(name, sizeof(name), "%s, %d GPUs: a decision", cases[i].name, gpus);
            bench_value(name, 1e6 * r.sim.scheduling_seconds / (double)r.tasks, "us/task");
        }
}

static void measure_tasks(const char *what, const xy_graph_t *graph, uint64_t memory)
{
    xy_task_platform_options_t options = {.gpus = 2, .memory = memory};
    xy_task_platform_t *p;
    xy_machine_t *m;

    if (xy_machine_load("attila", &m) != XY_OK || xy_task_platform_from(m, &options, &p) != XY_OK)
        exit(1);
    for (int i = 0; xy_task_policies[i] != NULL && graph != NULL; i++) {
        xy_task_result_t r;
        char name[80];

        if (xy_task_policies[i]->trials == NULL &&
            xy_task_simulate(graph, p, &(xy_task_sim_t){.policy = xy_task_policies[i]->name}, &r) !=
                XY_OK)
            continue; /* cache-oblivious has no positions to go by */
        if (xy_task_policies[i]->trials != NULL &&
            xy_task_simulate(graph, p, &(xy_task_sim_t){0}, &r) != XY_OK)
            exit(1);
        snprintf(name, sizeof(name), "%s, %s: time / bound", what, xy_task_policies[i]->name);
        bench_value(name, r.makespan / r.compute_bound, "");
    }
    xy_task_platform_destroy(p);
    xy_machine_destroy(m);
}

static void measure_million(const char *name, const char *blocks, int iterations, uint64_t memory)
{
    double begin = bench_now();
    xy_stencil_result_t r = run(blocks, iterations, 2, memory, XY_STENCIL_RED_BLACK);
    char line[80];

    snprintf(line, sizeof(line), "%s, %llu tasks: simulated in", name, (unsigned long long)r.tasks);
    bench_value(line, bench_now() - begin, "s");
    snprintf(line, sizeof(line), "%s, %llu tasks: a decision", name, (unsigned long long)r.tasks);
    bench_value(line, 1e6 * r.sim.scheduling_seconds / (double)r.tasks, "us/task");
}

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

int main(int argc, char **argv)
{
    xy_graph_t *cholesky = task_graph_cholesky(16, 32 << 20, 4e-3);
    xy_graph_t *product = task_graph_product(12, 8 << 20, 1e-3);
    int part;

    bench_init(argc, argv);
    part = bench_is_quick() ? 50 : 1;
    measure_ratios();
    measure_imbalance();
    measure_decisions();
    xy_error_handler_set(ignore, NULL);
    measure_tasks("Cholesky 16x16, 2 GPUs", cholesky, (uint64_t)24 << 25);
    measure_tasks("product 12x12, 2 GPUs", product, (uint64_t)40 << 23);
    xy_error_handler_set(NULL, NULL);
    measure_million("1D", "10002", 100 / part, 200 << 20);
    measure_million("2D", "102x102", 100 / part, (uint64_t)4 << 30);
    xy_graph_destroy(cholesky);
    xy_graph_destroy(product);
    return 0;
}
