/* SPDX-License-Identifier: BSD-3-Clause */
#include "place_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STRATEGIES = 3 };

static const char *const strategies[STRATEGIES] = {"multisection", "scotch", "metis"};

void place_table_die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

void pattern_add(pattern_t *f, uint32_t a, uint32_t b, double bytes)
{
    xy_matrix_entry_t *e = xy_vec_push_many(&f->entries, 2);

    if (e == NULL)
        place_table_die("out of memory");
    e[0] = (xy_matrix_entry_t){f->label[a], f->label[b], bytes, 1};
    e[1] = (xy_matrix_entry_t){f->label[b], f->label[a], bytes, 1};
}

xy_matrix_t *pattern_matrix(const pattern_kind_t *kind, const row_t *r, uint64_t seed)
{
    pattern_t f = {XY_VEC_INIT(xy_matrix_entry_t), malloc(r->p * sizeof(uint32_t)), seed};
    xy_matrix_t *m;

    if (f.label == NULL)
        place_table_die("out of memory");
    place_shuffle(f.label, r->p, &f.random);
    kind->make(&f, r);
    if (xy_matrix_build(r->p, f.entries.data, f.entries.count, false, &m) != XY_OK)
        place_table_die("no matrix");
    xy_vec_cleanup(&f.entries);
    free(f.label);
    return m;
}

typedef struct {
    double cost[STRATEGIES], seconds[STRATEGIES];
} result_t;

/* The mean over several relabellings. */
static result_t measure(const row_t *r, const xy_target_t *t, const pattern_kind_t *kind,
                        xy_objective_t objective, int seeds, uint64_t first)
{
    result_t result = {{0}, {0}};

    for (int s = 0; s < seeds; s++) {
        uint64_t seed = first + (uint64_t)s;
        xy_matrix_t *m = pattern_matrix(kind, r, (seed - 1) * 1000 + 1);

        for (int k = 0; k < STRATEGIES; k++) {
            xy_place_options_t options = {
                .strategy = strategies[k], .objective = objective, .seed = seed};
            xy_place_t *p;

            if (xy_place_compute(m, t, &options, &p) != XY_OK)
                place_table_die("not placed");
            result.cost[k] += objective == XY_OBJECTIVE_HOPS ? p->cost.hop_bytes : p->cost.weighted;
            result.seconds[k] += p->seconds / seeds;
            xy_place_destroy(p);
        }
        xy_matrix_destroy(m);
    }
    return result;
}

static void print_rows(const row_t *r, const xy_target_t *t, const pattern_kind_t *kinds,
                       xy_objective_t objective, int seeds, uint64_t first)
{
    const char *title = objective == XY_OBJECTIVE_HOPS ? "hop-bytes" : "1:10:100";
    double sum[STRATEGIES] = {0}, seconds[STRATEGIES] = {0}, slowest = 0;
    int count = 0;

    for (; kinds[count].name != NULL; count++) {
        result_t x = measure(r, t, &kinds[count], objective, seeds, first);
        double best = x.cost[0];

        for (int k = 1; k < STRATEGIES; k++)
            best = x.cost[k] < best ? x.cost[k] : best;
        printf("%6u %-9s %-9s %-20s", r->p, r->tree, title, kinds[count].name);
        for (int k = 0; k < STRATEGIES; k++) {
            printf("  %.4f %8.4f s", x.cost[k] / best, x.seconds[k]);
            sum[k] += log(x.cost[k] / best);
            seconds[k] += x.seconds[k];
        }
        if (x.seconds[0] / x.seconds[2] > slowest)
            slowest = x.seconds[0] / x.seconds[2];
        printf("  %.2f\n", x.seconds[0] / x.seconds[2]);
    }
    printf("%6u %-9s %-9s %-20s", r->p, r->tree, title, "= all");
    for (int k = 0; k < STRATEGIES; k++)
        printf("  %.4f %8.4f s", exp(sum[k] / count), seconds[k] / count);
    printf("  %.2f (%.2f)\n", seconds[0] / seconds[2], slowest);
    fflush(stdout);
}

void place_table_rows(const row_t *r, const pattern_kind_t *kinds, int seeds, uint64_t first)
{
    xy_machine_t *machine;
    xy_target_t *t = NULL;

    if (xy_machine_load(r->tree, &machine) != XY_OK || xy_target_create(machine, NULL, &t) != XY_OK)
        place_table_die("no machine");
    print_rows(r, t, kinds, XY_OBJECTIVE_HOPS, seeds, first);
    print_rows(r, t, kinds, XY_OBJECTIVE_WEIGHTED, seeds, first);
    xy_target_destroy(t);
    xy_machine_destroy(machine);
}

void place_table_head(void)
{
    printf("%6s %-9s %-9s %-20s", "p", "tree", "cost", "pattern");
    for (int k = 0; k < STRATEGIES; k++)
        printf("  %17s", strategies[k]);
    printf("  time to METIS\n");
}
