/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quality and speed of placing: six patterns, randomly relabelled, on eight trees, by Xylem's
 * multisection and by its peers, in one run. Costs are relative to the best placement that any of
 * them found for that pattern; a row's figure is the geometric mean over its patterns. Times are
 * the mean over the patterns, and in brackets the largest ratio to METIS of one pattern.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "place/place.h"

enum { PATTERNS = 6, STRATEGIES = 3, SEEDS = 3 };

static const char *const strategies[STRATEGIES] = {"multisection", "scotch", "metis"};
static const char *const patterns[PATTERNS] = {"2D 5-point",      "3D 7-point",
                                               "3D 27-point",     "random sparse",
                                               "ring + blocks 8", "ring + blocks 12"};

typedef struct {
    uint32_t p;
    const char *tree;
    uint32_t flat[2], box[3]; /* sides of the grids */
} row_t;

static const row_t rows[] = {
    {64, "4x16", {8, 8}, {4, 4, 4}},           {256, "16x2x8", {16, 16}, {8, 8, 4}},
    {1024, "64x2x8", {32, 32}, {16, 8, 8}},    {1152, "24x2x24", {32, 36}, {12, 12, 8}},
    {1024, "24x2x24", {32, 32}, {16, 8, 8}},   {3072, "32x2x48", {48, 64}, {16, 16, 12}},
    {4096, "64x4x16", {64, 64}, {16, 16, 16}}, {16384, "128x2x64", {128, 128}, {32, 32, 16}},
};

typedef struct {
    xy_vec_t entries; /* of xy_matrix_entry_t */
    uint32_t *label;
} pattern_t;

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static void add(pattern_t *f, uint32_t a, uint32_t b, double bytes)
{
    xy_matrix_entry_t *e = xy_vec_push_many(&f->entries, 2);

    if (e == NULL)
        die("out of memory");
    e[0] = (xy_matrix_entry_t){f->label[a], f->label[b], bytes, 1};
    e[1] = (xy_matrix_entry_t){f->label[b], f->label[a], bytes, 1};
}

/* Neighbours at most one step away in each direction; in at most `reach` directions at once. */
static void stencil(pattern_t *f, uint32_t nx, uint32_t ny, uint32_t nz, int reach)
{
    for (uint32_t i = 0; i < nx * ny * nz; i++)
        for (int d = 14; d < 27; d++) { /* half of the directions; the others are their opposites */
            int dx = d % 3 - 1, dy = d / 3 % 3 - 1, dz = d / 9 - 1;
            int64_t x = (int64_t)(i % nx) + dx, y = (int64_t)(i / nx % ny) + dy,
                    z = (int64_t)(i / nx / ny) + dz;

            if (abs(dx) + abs(dy) + abs(dz) > reach || x < 0 || y < 0 || z < 0 || x >= nx ||
                y >= ny || z >= nz)
                continue;
            add(f, i, (uint32_t)(x + nx * (y + ny * z)), 1000);
        }
}

static void sparse(pattern_t *f, uint32_t p, uint64_t *seed)
{
    for (uint32_t i = 0; i < p; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t j = place_random_below(seed, p);

            if (j != i)
                add(f, i, j, 1 + place_random_below(seed, 1000));
        }
}

static void ring(pattern_t *f, uint32_t p, uint32_t block)
{
    for (uint32_t i = 0; i < p; i++) {
        add(f, i, (i + 1) % p, 100);
        for (uint32_t j = i + 1; j < p && j / block == i / block; j++)
            add(f, i, j, 1000);
    }
}

static xy_matrix_t *make(const row_t *r, int pattern, uint64_t seed)
{
    pattern_t f = {XY_VEC_INIT(xy_matrix_entry_t), malloc(r->p * sizeof(uint32_t))};
    xy_matrix_t *m;

    if (f.label == NULL)
        die("out of memory");
    place_shuffle(f.label, r->p, &seed);
    switch (pattern) {
    case 0:
        stencil(&f, r->flat[0], r->flat[1], 1, 1);
        break;
    case 1:
        stencil(&f, r->box[0], r->box[1], r->box[2], 1);
        break;
    case 2:
        stencil(&f, r->box[0], r->box[1], r->box[2], 3);
        break;
    case 3:
        sparse(&f, r->p, &seed);
        break;
    default:
        ring(&f, r->p, pattern == 4 ? 8 : 12);
    }
    if (xy_matrix_build(r->p, f.entries.data, f.entries.count, false, &m) != XY_OK)
        die("no matrix");
    xy_vec_cleanup(&f.entries);
    free(f.label);
    return m;
}

typedef struct {
    double cost[STRATEGIES], seconds[STRATEGIES];
} result_t;

/* The mean over several relabellings. */
static result_t measure(const row_t *r, const xy_target_t *t, int pattern, xy_objective_t objective,
                        int seeds)
{
    result_t result = {{0}, {0}};

    for (int s = 0; s < seeds; s++) {
        xy_matrix_t *m = make(r, pattern, (uint64_t)s * 1000 + 1);

        for (int k = 0; k < STRATEGIES; k++) {
            xy_place_options_t options = {
                .strategy = strategies[k], .objective = objective, .seed = (uint64_t)s + 1};
            xy_place_t *p;

            if (xy_place_compute(m, t, &options, &p) != XY_OK)
                die("not placed");
            result.cost[k] += objective == XY_OBJECTIVE_HOPS ? p->cost.hop_bytes : p->cost.weighted;
            result.seconds[k] += p->seconds / seeds;
            xy_place_destroy(p);
        }
        xy_matrix_destroy(m);
    }
    return result;
}

static void row(const row_t *r, xy_objective_t objective, int seeds)
{
    double mean[STRATEGIES] = {0}, seconds[STRATEGIES] = {0}, slowest = 0;
    const char *title = objective == XY_OBJECTIVE_HOPS ? "hop-bytes" : "1:10:100";
    xy_machine_t *machine;
    xy_target_t *t;

    if (xy_machine_load(r->tree, &machine) != XY_OK || xy_target_create(machine, NULL, &t) != XY_OK)
        die("no machine");
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        result_t x = measure(r, t, pattern, objective, seeds);
        double best = x.cost[0];

        for (int k = 1; k < STRATEGIES; k++)
            best = x.cost[k] < best ? x.cost[k] : best;
        printf("%6u %-9s %-9s %-17s", r->p, r->tree, title, patterns[pattern]);
        for (int k = 0; k < STRATEGIES; k++) {
            printf("  %.4f %8.4f s", x.cost[k] / best, x.seconds[k]);
            mean[k] += log(x.cost[k] / best) / PATTERNS;
            seconds[k] += x.seconds[k] / PATTERNS;
        }
        if (x.seconds[0] / x.seconds[2] > slowest)
            slowest = x.seconds[0] / x.seconds[2];
        printf("  %.2f\n", x.seconds[0] / x.seconds[2]);
    }
    printf("%6u %-9s %-9s %-17s", r->p, r->tree, title, "= all");
    for (int k = 0; k < STRATEGIES; k++)
        printf("  %.4f %8.4f s", exp(mean[k]), seconds[k]);
    printf("  %.2f (%.2f)\n", seconds[0] / seconds[2], slowest);
    xy_target_destroy(t);
    xy_machine_destroy(machine);
}

/* 10^5 processes: seconds alone. */
static void large(uint32_t p)
{
    row_t r = {p, "", {p / 250, 250}, {p / 2500, 50, 50}};
    xy_machine_t *machine;
    xy_target_t *t;
    char tree[64], label[80];

    snprintf(tree, sizeof(tree), "%ux2x50", p / 100);
    if (xy_machine_load(tree, &machine) != XY_OK || xy_target_create(machine, NULL, &t) != XY_OK)
        die("no machine");
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        xy_matrix_t *m = make(&r, pattern, 1);
        xy_place_options_t options = {.seed = 1};
        xy_place_t *placed;

        if (xy_place_compute(m, t, &options, &placed) != XY_OK)
            die("not placed");
        snprintf(label, sizeof(label), "%u on %s: %s", p, tree, patterns[pattern]);
        bench_value(label, placed->seconds, "s");
        xy_place_destroy(placed);
        xy_matrix_destroy(m);
    }
    xy_target_destroy(t);
    xy_machine_destroy(machine);
}

int main(int argc, char **argv)
{
    const char *only = getenv("XYLEM_BENCH_PROCESSES"); /* one size only */

    bench_init(argc, argv);
    printf("%6s %-9s %-9s %-17s", "p", "tree", "cost", "pattern");
    for (int k = 0; k < STRATEGIES; k++)
        printf("  %17s", strategies[k]);
    printf("  time to METIS\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (only != NULL ? rows[i].p != (uint32_t)atol(only) : bench_is_quick() && rows[i].p > 1024)
            continue;
        row(&rows[i], XY_OBJECTIVE_HOPS, bench_is_quick() ? 1 : SEEDS);
        row(&rows[i], XY_OBJECTIVE_WEIGHTED, bench_is_quick() ? 1 : SEEDS);
    }
    if (only == NULL || atol(only) == 100000)
        large(bench_is_quick() ? 10000 : 100000);
    return 0;
}
