/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The default policy against all others on many graphs in virtual time: in how many it ends within
 * 5 % of the best of them, and how far behind it is at worst. --list prints every instance:
 *
 *   family  blocks  graph  iterations  GPUs  room  default  chosen  best  its name  us/task  others
 *
 * times in bounds of computation, room in data per GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "stencil/stencil.h"
#include "tasks/sim/graphs_test.h"

typedef struct {
    const char *name;
    long count, within, never_behind;
    double worst, sum;
    char worst_what[96];
    double slowest; /* decision, us per task */
} family_t;

static int is_listing;

static void ignore(void *arg, xy_status_t status, const char *message)
{
    (void)arg, (void)status, (void)message;
}

static void compare(family_t *f, const xy_graph_t *graph, const xy_task_platform_t *p,
                    const char *what)
{
    xy_task_result_t own, other;
    const char *who = "";
    double best = 0, behind, us;
    char others[256] = "";
    int at = 0;

    if (xy_task_simulate(graph, p, &(xy_task_sim_t){0}, &own) != XY_OK)
        return; /* a task does not fit */
    for (int i = 1; xy_task_policies[i] != NULL; i++) {
        xy_task_sim_t how = {.policy = xy_task_policies[i]->name};

        if (xy_task_simulate(graph, p, &how, &other) != XY_OK)
            continue; /* cache-oblivious has no positions to go by */
        at += snprintf(others + at, sizeof(others) - (size_t)at, " %s=%.4f", how.policy,
                       other.makespan / other.compute_bound);
        if (best == 0 || other.makespan < best) {
            best = other.makespan;
            who = how.policy;
        }
    }
    behind = own.makespan / best;
    us = 1e6 * own.scheduling_seconds / (double)own.tasks;
    f->count++;
    f->within += behind <= 1.05;
    f->never_behind += behind <= 1;
    f->sum += behind;
    f->slowest = us > f->slowest ? us : f->slowest;
    if (behind > f->worst) {
        f->worst = behind;
        snprintf(f->worst_what, sizeof(f->worst_what), "%s (%s)", what, who);
    }
    if (is_listing)
        printf("%s %s %.4f %s %.4f %s %.2f%s\n", f->name, what, own.makespan / own.compute_bound,
               own.policy, best / own.compute_bound, who, us, others);
}

static void report(const family_t *f)
{
    printf("%-16s %5ld instances, %5.1f %% within 5 %%, %5.1f %% the best, mean %.4f, worst %.3f: "
           "%s\n",
           f->name, f->count, 100.0 * (double)f->within / (double)f->count,
           100.0 * (double)f->never_behind / (double)f->count, f->sum / (double)f->count, f->worst,
           f->worst_what);
}

static xy_task_platform_t *platform(int gpus, uint64_t memory)
{
    xy_task_platform_options_t options = {.gpus = gpus, .memory = memory};
    xy_task_platform_t *p;
    xy_machine_t *m;

    if (xy_machine_load("attila", &m) != XY_OK || xy_task_platform_from(m, &options, &p) != XY_OK)
        exit(1);
    xy_machine_destroy(m);
    return p;
}

static void stencil(family_t *f, const char *blocks, int points, xy_stencil_graph_t graph,
                    int iterations)
{
    static const double parts[] = {0.125, 0.25, 0.5, 0.8};
    xy_stencil_t s = XY_STENCIL_DEFAULT;

    xy_stencil_blocks_parse(blocks, &s);
    s.points = points > 0 ? points : s.points;
    s.iterations = iterations;
    s.graph = graph;
    for (int gpus = 1; gpus <= 8; gpus *= 2) {
        xy_graph_t *g;

        s.parts = gpus <= s.blocks[0] - 2 ? gpus : 1; /* of natural order, as xylem stencil does */
        if (xy_stencil_build(&s, &g) != XY_OK)
            exit(1);
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
            uint64_t room = (uint64_t)(parts[i] * xy_graph_data_count(g));
            xy_task_platform_t *p = platform(gpus, room * s.block_bytes);
            char what[80];

            snprintf(what, sizeof(what), "%s%s %s %d %d %llu", blocks, points == 9 ? ":9" : "",
                     xy_stencil_graph_name(graph), iterations, gpus, (unsigned long long)room);
            compare(f, g, p, what);
            xy_task_platform_destroy(p);
        }
        xy_graph_destroy(g);
    }
}

static void stencils(void)
{
    static const struct {
        const char *name, *blocks[4];
        int points;
    } shapes[] = {
        {"1D", {"60", "200"}, 0},
        {"2D", {"12x12", "20x20", "30x6"}, 0},
        {"2D, 9 points", {"12x12", "24x5"}, 9},
        {"3D", {"6x6x6", "9x9x5"}, 0},
    };
    static const int iterations[] = {4, 10, 30};
    int lengths = bench_is_quick() ? 1 : 3;

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        family_t f = {.name = shapes[i].name};

        for (int k = 0; shapes[i].blocks[k] != NULL && k < (bench_is_quick() ? 1 : 4); k++)
            for (int graph = XY_STENCIL_RED_BLACK; graph <= XY_STENCIL_JACOBI; graph++)
                for (int t = 0; t < lengths; t++)
                    stencil(&f, shapes[i].blocks[k], shapes[i].points, (xy_stencil_graph_t)graph,
                            iterations[t]);
        report(&f);
    }
}

/* Tiles of 8 MiB; a task takes as long as `loads` of them. */
static void tiles(family_t *f, bool is_cholesky, int n, double loads)
{
    uint64_t bytes = 8 << 20;
    double seconds = loads * (double)bytes / 6e9;
    xy_graph_t *g = is_cholesky ? task_graph_cholesky(n, bytes, seconds)
                                : task_graph_product(n, bytes, seconds);

    if (g == NULL)
        exit(1);
    for (int gpus = 1; gpus <= 8; gpus *= 2)
        for (uint64_t room = 12; room <= 96; room *= 2) {
            xy_task_platform_t *p = platform(gpus, room * bytes);
            char what[80];

            snprintf(what, sizeof(what), "%d:%g - - %d %llu", n, loads, gpus,
                     (unsigned long long)room);
            compare(f, g, p, what);
            xy_task_platform_destroy(p);
        }
    xy_graph_destroy(g);
}

static void all_tiles(void)
{
    static const int sizes[] = {8, 12, 16};

    for (int is_cholesky = 0; is_cholesky < 2; is_cholesky++) {
        family_t f = {.name = is_cholesky ? "Cholesky" : "product"};

        for (int i = 0; i < (bench_is_quick() ? 1 : 3); i++)
            for (double loads = 0.5; loads <= 8; loads *= 4)
                tiles(&f, is_cholesky != 0, sizes[i], loads);
        report(&f);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        is_listing = 1;
        argc--;
        argv++;
    }
    bench_init(argc, argv);
    xy_error_handler_set(ignore, NULL);
    stencils();
    all_tiles();
    return 0;
}
