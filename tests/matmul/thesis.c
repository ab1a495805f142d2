/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The matrix products of Achour's thesis: which one its kind of model chooses on its platforms,
 * beside what was measured there (its Table 7). A process takes
 *
 *     Nb_Comm (latency + block bytes / bandwidth) + 2 Nb_Comp block^3 / speed
 *
 * with blocks of 128; N = n / 128 rounded up. The thesis does not print Nb_Comm and Nb_Comp. Here,
 * with h x w blocks of C for a process: N (h + w) and N h w; for one of seven half-size products 3
 * (N/2)^2 and (N/2)^3. Platforms: Table 8 (bandwidth, latency, two speeds) and Table 6 (machines of
 * each).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dense/dense.h"

enum { BLOCK = 128 };

typedef struct {
    const char *name;
    double bandwidth, latency, speed[2];
    int first, last, step; /* sizes */
} platform_t;

static const platform_t grid5000 = {
    .name = "grid5000",
    .bandwidth = 98.43e6,
    .latency = 47.92e-6,
    .speed = {1679.77e6, 1804.54e6},
    .first = 500,
    .last = 6000,
    .step = 500,
};
static const platform_t esstt = {
    .name = "esstt",
    .bandwidth = 9.91e6,
    .latency = 67.31e-6,
    .speed = {940.52e6, 782.03e6},
    .first = 400,
    .last = 2400,
    .step = 200,
};

typedef struct {
    const platform_t *on;
    int count[2];
    struct {
        int to; /* sizes up to it */
        const char *best;
    } measured[5];
} row_t;

static const row_t rows[] = {
    {&grid5000, {3, 4}, {{6000, "strassen-cannon"}}},
    {&grid5000, {5, 4}, {{2500, "cartesian"}, {6000, "columns"}}},
    {&grid5000, {7, 5}, {{3500, "cartesian"}, {6000, "columns"}}},
    {&grid5000,
     {8, 6},
     {{2000, "cartesian"}, {3000, "columns"}, {3500, "cartesian"}, {6000, "columns"}}},
    {&esstt,
     {3, 3},
     {{1000, "cartesian"}, {1200, "columns"}, {1800, "cartesian"}, {2400, "columns"}}},
    {&esstt, {4, 3}, {{2400, "strassen-cannon"}}},
};

static const char *measured(const row_t *r, int n)
{
    int i = 0;

    while (n > r->measured[i].to)
        i++;
    return r->measured[i].best;
}

static double latency; /* of the platform, seconds */

static double time_of(const dense_t *p, double messages, double products, double speed)
{
    return messages * (latency + 8.0 * BLOCK * BLOCK * p->per_byte) +
           2 * products * pow(BLOCK, 3) / speed;
}

/* The most over all processes. */
static double time_of_rects(const dense_t *p, const dense_rect_t *rects)
{
    double most = 0;

    for (int i = 0; i < p->ranks; i++) {
        double h = rects[i].rows, w = rects[i].columns;

        most = fmax(most, time_of(p, p->size.k * (h + w), p->size.k * h * w, p->speeds[i]));
    }
    return most;
}

static double time_of_strassen(const dense_t *p)
{
    double half = ceil(p->size.n / 2.0), slowest = fmin(p->speeds[0], p->speeds[p->ranks - 1]);

    return p->ranks == 7 ? time_of(p, 3 * half * half, pow(half, 3), slowest) : INFINITY;
}

static const char *choose(const dense_t *p)
{
    dense_rect_t rects[16];
    double columns = INFINITY, cartesian = INFINITY, strassen = time_of_strassen(p);
    int high, wide;

    if (dense_plan_columns(p, rects))
        columns = time_of_rects(p, rects);
    if (dense_plan_grid(p, &high, &wide, rects))
        cartesian = time_of_rects(p, rects);
    return cartesian <= columns && cartesian <= strassen ? "cartesian"
           : columns <= strassen                         ? "columns"
                                                         : "strassen-cannon";
}

/* One row of Table 7; how many of its sizes agree, and how many there are. */
static int compare(const row_t *r, int *all)
{
    double speeds[16];
    int ranks = r->count[0] + r->count[1], agreed = 0;
    dense_t p = {.ranks = ranks, .speeds = speeds, .per_byte = 1 / r->on->bandwidth};

    latency = r->on->latency;
    for (int k = 0; k < ranks; k++)
        speeds[k] = r->on->speed[k >= r->count[0]];
    for (int n = r->on->first; n <= r->on->last; n += r->on->step) {
        int blocks = (n + BLOCK - 1) / BLOCK;
        const char *model, *best = measured(r, n);

        p.size = (dense_size_t){blocks, blocks, blocks};
        model = choose(&p);
        printf("%s,%d,%d,%s,%s\n", r->on->name, ranks, n, model, best);
        agreed += strcmp(model, best) == 0;
        ++*all;
    }
    return agreed;
}

int main(void)
{
    int agreed = 0, all = 0, sizes = 0, of_seven;

    puts("platform,p,n,model,measured");
    of_seven = compare(&rows[0], &sizes);
    agreed = of_seven;
    all = sizes;
    for (size_t i = 1; i < sizeof(rows) / sizeof(rows[0]); i++)
        agreed += compare(&rows[i], &all);
    printf("seven processes on grid5000: %d of %d agree\nall: %d of %d agree\n", of_seven, sizes,
           agreed, all);
    return of_seven != sizes;
}
