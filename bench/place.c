/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quality and speed of placing: six patterns, randomly relabelled, on eight trees; and how long
 * 10^5 processes take. Patterns that multisection was not made with are in place_held.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "place_table.h"

enum { SEEDS = 3 };

static const row_t rows[] = {
    {64, "4x16", {8, 8}, {4, 4, 4}},           {256, "16x2x8", {16, 16}, {8, 8, 4}},
    {1024, "64x2x8", {32, 32}, {16, 8, 8}},    {1152, "24x2x24", {32, 36}, {12, 12, 8}},
    {1024, "24x2x24", {32, 32}, {16, 8, 8}},   {3072, "32x2x48", {48, 64}, {16, 16, 12}},
    {4096, "64x4x16", {64, 64}, {16, 16, 16}}, {16384, "128x2x64", {128, 128}, {32, 32, 16}},
};

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
            pattern_add(f, i, (uint32_t)(x + nx * (y + ny * z)), 1000);
        }
}

static void stencil5(pattern_t *f, const row_t *r)
{
    stencil(f, r->flat[0], r->flat[1], 1, 1);
}

static void stencil7(pattern_t *f, const row_t *r)
{
    stencil(f, r->box[0], r->box[1], r->box[2], 1);
}

static void stencil27(pattern_t *f, const row_t *r)
{
    stencil(f, r->box[0], r->box[1], r->box[2], 3);
}

static void sparse(pattern_t *f, const row_t *r)
{
    for (uint32_t i = 0; i < r->p; i++)
        for (int k = 0; k < 4; k++) {
            uint32_t j = place_random_below(&f->random, r->p);

            if (j != i)
                pattern_add(f, i, j, 1 + place_random_below(&f->random, 1000));
        }
}

static void ring(pattern_t *f, uint32_t p, uint32_t block)
{
    for (uint32_t i = 0; i < p; i++) {
        pattern_add(f, i, (i + 1) % p, 100);
        for (uint32_t j = i + 1; j < p && j / block == i / block; j++)
            pattern_add(f, i, j, 1000);
    }
}

static void blocks8(pattern_t *f, const row_t *r)
{
    ring(f, r->p, 8);
}

static void blocks12(pattern_t *f, const row_t *r)
{
    ring(f, r->p, 12);
}

static const pattern_kind_t kinds[] = {{"2D 5-point", stencil5},
                                       {"3D 7-point", stencil7},
                                       {"3D 27-point", stencil27},
                                       {"random sparse", sparse},
                                       {"ring + blocks 8", blocks8},
                                       {"ring + blocks 12", blocks12},
                                       {NULL, NULL}};

/* 10^5 processes: seconds alone. */
static void large(uint32_t p)
{
    row_t r = {p, "", {p / 250, 250}, {p / 2500, 50, 50}};
    xy_machine_t *machine;
    xy_target_t *t;
    char tree[64], label[80];

    snprintf(tree, sizeof(tree), "%ux2x50", p / 100);
    if (xy_machine_load(tree, &machine) != XY_OK || xy_target_create(machine, NULL, &t) != XY_OK)
        place_table_die("no machine");
    for (int k = 0; kinds[k].name != NULL; k++) {
        xy_matrix_t *m = pattern_matrix(&kinds[k], &r, 1);
        xy_place_options_t options = {.seed = 1};
        xy_place_t *placed;

        if (xy_place_compute(m, t, &options, &placed) != XY_OK)
            place_table_die("not placed");
        snprintf(label, sizeof(label), "%u on %s: %s", p, tree, kinds[k].name);
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
    place_table_head();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (only != NULL ? rows[i].p != (uint32_t)atol(only) : bench_is_quick() && rows[i].p > 1024)
            continue;
        place_table_rows(&rows[i], kinds, bench_is_quick() ? 1 : SEEDS, 1);
    }
    if (only == NULL || atol(only) == 100000)
        large(bench_is_quick() ? 10000 : 100000);
    return 0;
}
