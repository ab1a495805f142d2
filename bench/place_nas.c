/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placing what the NAS benchmarks CG, FT and LU send, in their own order of ranks, on 16 nodes
 * under one switch and the same nodes under two. Costs are hop-bytes and 1:10:100, relative to the
 * best of the row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "place/place.h"

enum { STRATEGIES = 5 };

static const char *const strategies[STRATEGIES] = {"multisection", "treematch", "scotch", "metis",
                                                   "packed"};

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static void add(xy_vec_t *entries, uint32_t from, uint32_t to, double bytes)
{
    xy_matrix_entry_t e = {from, to, bytes, 1};

    if (from != to && xy_vec_append(entries, &e) != XY_OK)
        die("out of memory");
}

/* Sums over the rows of a square of ranks by recursive doubling, and the exchange with the rank on
 * the other side of the diagonal. */
static void cg(xy_vec_t *entries, uint32_t side)
{
    for (uint32_t r = 0; r < side; r++)
        for (uint32_t c = 0; c < side; c++) {
            for (uint32_t bit = 1; bit < side; bit *= 2)
                add(entries, r * side + c, r * side + (c ^ bit), 1000);
            add(entries, r * side + c, c * side + r, 1000);
        }
}

/* Transposes: everybody with everybody of its row and of its column. */
static void ft(xy_vec_t *entries, uint32_t side)
{
    for (uint32_t a = 0; a < side * side; a++)
        for (uint32_t b = 0; b < side * side; b++)
            if (a / side == b / side || a % side == b % side)
                add(entries, a, b, 1000.0 / side);
}

/* Wavefronts over a square: the four neighbours. */
static void lu(xy_vec_t *entries, uint32_t side)
{
    for (uint32_t r = 0; r < side; r++)
        for (uint32_t c = 0; c < side; c++) {
            uint32_t here = r * side + c;

            if (c + 1 < side) {
                add(entries, here, here + 1, 1000);
                add(entries, here + 1, here, 1000);
            }
            if (r + 1 < side) {
                add(entries, here, here + side, 1000);
                add(entries, here + side, here, 1000);
            }
        }
}

static const struct {
    const char *name;
    void (*make)(xy_vec_t *entries, uint32_t side);
} patterns[] = {{"CG", cg}, {"FT", ft}, {"LU", lu}};

static void row(const char *name, const xy_matrix_t *m, const char *tree, xy_objective_t objective)
{
    double cost[STRATEGIES], best = 0;
    xy_machine_t *machine;
    xy_target_t *t;

    if (xy_machine_load(tree, &machine) != XY_OK || xy_target_create(machine, NULL, &t) != XY_OK)
        die("no machine");
    for (int k = 0; k < STRATEGIES; k++) {
        xy_place_options_t options = {.strategy = strategies[k], .objective = objective, .seed = 1};
        xy_place_t *p;

        if (xy_place_compute(m, t, &options, &p) != XY_OK)
            die("not placed");
        cost[k] = objective == XY_OBJECTIVE_HOPS ? p->cost.hop_bytes : p->cost.weighted;
        best = k == 0 || cost[k] < best ? cost[k] : best;
        xy_place_destroy(p);
    }
    printf("%s.%-4u %-25s %-9s", name, m->n, tree,
           objective == XY_OBJECTIVE_HOPS ? "hop-bytes" : "1:10:100");
    for (int k = 0; k < STRATEGIES; k++)
        printf("  %12.4f", cost[k] / best);
    printf("\n");
    xy_target_destroy(t);
    xy_machine_destroy(machine);
}

static void pattern(int i, uint32_t side)
{
    xy_vec_t entries = XY_VEC_INIT(xy_matrix_entry_t);
    xy_matrix_t *m;
    char tree[2][64];

    patterns[i].make(&entries, side);
    if (xy_matrix_build(side * side, entries.data, entries.count, false, &m) != XY_OK)
        die("no matrix");
    snprintf(tree[0], sizeof(tree[0]), "node:16 core:%u", side * side / 16);
    snprintf(tree[1], sizeof(tree[1]), "switch:2 node:8 core:%u", side * side / 16);
    for (int k = 0; k < 2; k++) {
        row(patterns[i].name, m, tree[k], XY_OBJECTIVE_HOPS);
        row(patterns[i].name, m, tree[k], XY_OBJECTIVE_WEIGHTED);
    }
    xy_matrix_destroy(m);
    xy_vec_cleanup(&entries);
}

int main(int argc, char **argv)
{
    bench_init(argc, argv);
    printf("%-7s %-25s %-9s", "", "machine", "cost");
    for (int k = 0; k < STRATEGIES; k++)
        printf("  %12s", strategies[k]);
    printf("\n");
    for (uint32_t side = 8; side <= (bench_is_quick() ? 8 : 16); side *= 2)
        for (int i = 0; i < 3; i++)
            pattern(i, side);
    return 0;
}
