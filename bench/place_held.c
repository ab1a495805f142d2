/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placing, held out: patterns, trees, sizes and seeds that multisection was not made with, so that
 * what place.c shows is seen to hold elsewhere. Printed as there.
 */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "place_table.h"

enum { SEEDS = 3, FIRST_SEED = 7001 };

static const row_t rows[] = {
    {210, "10x3x7", {14, 15}, {5, 6, 7}},      {288, "6x4x12", {16, 18}, {6, 6, 8}},
    {250, "6x4x12", {10, 25}, {5, 5, 10}},     {1024, "8x8x16", {32, 32}, {8, 8, 16}},
    {900, "8x8x16", {30, 30}, {9, 10, 10}},    {2400, "20x5x24", {48, 50}, {10, 15, 16}},
    {4800, "50x6x16", {60, 80}, {15, 16, 20}},
};

/* Neighbours in up to `reach` directions at once, weighted by how many. */
static void stencil(pattern_t *f, const uint32_t *n, int reach, const double *weight)
{
    for (uint32_t i = 0; i < n[0] * n[1] * n[2]; i++)
        for (int d = 14; d < 27; d++) { /* half of the directions; the others are their opposites */
            int step[3] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1};
            int many = abs(step[0]) + abs(step[1]) + abs(step[2]);
            int64_t x = (int64_t)(i % n[0]) + step[0], y = (int64_t)(i / n[0] % n[1]) + step[1],
                    z = (int64_t)(i / n[0] / n[1]) + step[2];

            if (many <= reach && x >= 0 && y >= 0 && z >= 0 && x < n[0] && y < n[1] && z < n[2])
                pattern_add(f, i, (uint32_t)(x + n[0] * (y + n[1] * z)), weight[many]);
        }
}

static void stencil9(pattern_t *f, const row_t *r)
{
    stencil(f, (uint32_t[]){r->flat[0], r->flat[1], 1}, 2, (double[]){0, 1000, 50});
}

static void stencil19(pattern_t *f, const row_t *r)
{
    stencil(f, r->box, 2, (double[]){0, 1000, 100});
}

/* Points in a square; those at most so far apart that a point has eight neighbours talk. */
static void geometric(pattern_t *f, const row_t *r)
{
    double *x = malloc(2 * r->p * sizeof(*x)), far = 8 / (3.14159265 * r->p);

    if (x == NULL)
        place_table_die("out of memory");
    for (uint32_t i = 0; i < 2 * r->p; i++)
        x[i] = (double)(place_random(&f->random) >> 11) * 0x1p-53;
    for (uint32_t i = 0; i < r->p; i++)
        for (uint32_t j = 0; j < i; j++)
            if (pow(x[2 * i] - x[2 * j], 2) + pow(x[2 * i + 1] - x[2 * j + 1], 2) < far)
                pattern_add(f, i, j, 1000);
    free(x);
}

/* Each new one talks to three of those before, likelier to those whom many talk to (Barabasi and
 * Albert): few hubs have very many partners. */
static void hubs(pattern_t *f, const row_t *r)
{
    uint32_t *end = malloc(6 * r->p * sizeof(*end)), ends = 0;

    if (end == NULL)
        place_table_die("out of memory");
    for (uint32_t i = 1; i < r->p; i++)
        for (int k = 0; k < 3; k++) {
            uint32_t j = i < 4 ? (uint32_t)k % i : end[place_random_below(&f->random, ends)];

            pattern_add(f, i, j, 1 + place_random_below(&f->random, 100));
            end[ends++] = i;
            end[ends++] = j;
        }
    free(end);
}

static void tree_and_ring(pattern_t *f, const row_t *r)
{
    for (uint32_t i = 0; i < r->p; i++) {
        pattern_add(f, i, (i + 1) % r->p, 100);
        if (i > 0)
            pattern_add(f, i, i & (i - 1), 1000); /* the lowest bit cleared */
    }
}

static void torus(pattern_t *f, const row_t *r)
{
    const uint32_t *n = r->box;

    for (uint32_t i = 0; i < r->p; i++) {
        uint32_t x = i % n[0], y = i / n[0] % n[1], z = i / n[0] / n[1];

        pattern_add(f, i, (x + 1) % n[0] + n[0] * (y + n[1] * z), 100);
        pattern_add(f, i, x + n[0] * ((y + 1) % n[1] + n[1] * z), 400);
        pattern_add(f, i, x + n[0] * (y + n[1] * ((z + 1) % n[2])), 1600);
    }
}

/* Blocks of 5 to 20 in which all talk, and little between any two. */
static void blocks(pattern_t *f, const row_t *r)
{
    for (uint32_t from = 0, to; from < r->p; from = to) {
        to = from + 5 + place_random_below(&f->random, 16);
        to = to < r->p ? to : r->p;
        for (uint32_t i = from; i < to; i++)
            for (uint32_t j = from; j < i; j++)
                pattern_add(f, i, j, 1000);
    }
    for (uint32_t k = 0; k < 2 * r->p; k++) {
        uint32_t i = place_random_below(&f->random, r->p), j = place_random_below(&f->random, r->p);

        if (i != j)
            pattern_add(f, i, j, 1 + place_random_below(&f->random, 20));
    }
}

static const pattern_kind_t kinds[] = {{"2D 9-point", stencil9},
                                       {"3D 19-point", stencil19},
                                       {"random geometric", geometric},
                                       {"power law, hubs", hubs},
                                       {"binomial tree + ring", tree_and_ring},
                                       {"3D torus 1:4:16", torus},
                                       {"random blocks", blocks},
                                       {NULL, NULL}};

int main(int argc, char **argv)
{
    bench_init(argc, argv);
    place_table_head();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!bench_is_quick() || rows[i].p < 500)
            place_table_rows(&rows[i], kinds, bench_is_quick() ? 1 : SEEDS, FIRST_SEED);
    return 0;
}
