/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cutting a part of a grid into bricks.
 *
 *      8 parts of 8 x 8 in 3 slabs of 3, 3 and 2 parts; a slab ends inside a row when it must
 *
 * All numbers of slabs and columns are judged by the surface of their bricks; the best few are cut
 * and what they really cut is compared.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/grid_pattern.h"

enum { TRIED = 6 };

typedef struct {
    int axis[3];       /* slabs along the first, columns along the second, bricks along the third */
    uint32_t count[2]; /* slabs, and columns in a slab */
    double surface;
} plan_t;

typedef struct {
    uint64_t key;
    uint32_t v;
} sorted_t;

typedef struct {
    const place_grid_pattern_t *l;
    const uint32_t *ids;
    const uint64_t *room;
    uint32_t *part_of;
    sorted_t *sorted;
} job_t;

static int compare(const void *a, const void *b)
{
    const sorted_t *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

/* Sort vertices by an axis, then by the others in the order of the plan. */
static void sort_by(const job_t *j, const plan_t *p, sorted_t *s, uint32_t n, int first)
{
    const place_grid_pattern_t *l = j->l;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t key = l->at[p->axis[first]][j->ids[s[i].v]];

        for (int k = 0; k < l->dimensions; k++)
            if (k != first)
                key = key * (1u << 21) + l->at[p->axis[k]][j->ids[s[i].v]];
        s[i].key = key;
    }
    qsort(s, n, sizeof(*s), compare);
}

/* Parts first .. first + parts for the vertices of s, cut along axis number `depth` of the plan. */
static void slice(const job_t *j, const plan_t *p, sorted_t *s, uint32_t n, uint32_t first,
                  uint32_t parts, int depth)
{
    uint32_t count = depth < j->l->dimensions - 1 ? p->count[depth] : parts, done = 0;

    count = count > parts ? parts : count;
    if (parts == 1) {
        for (uint32_t i = 0; i < n; i++)
            j->part_of[s[i].v] = first;
        return;
    }
    sort_by(j, p, s, n, depth);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t begin = (uint32_t)((uint64_t)k * parts / count);
        uint32_t end = (uint32_t)((uint64_t)(k + 1) * parts / count), take;
        uint64_t room = 0;

        for (uint32_t i = begin; i < end; i++)
            room += j->room[first + i];
        take = room < n - done ? (uint32_t)room : n - done;
        if (depth == j->l->dimensions - 1)
            for (uint32_t i = 0; i < take; i++)
                j->part_of[s[done + i].v] = first + begin;
        else
            slice(j, p, s + done, take, first + begin, end - begin, depth + 1);
        done += take;
    }
}

/* Keep the plans with the least surface, best first. */
static void offer(plan_t *best, uint32_t *kept, const plan_t *p)
{
    uint32_t i = *kept;

    if (i == TRIED && p->surface >= best[TRIED - 1].surface)
        return;
    i = i < TRIED ? i : TRIED - 1;
    *kept = i + 1;
    for (; i > 0 && best[i - 1].surface > p->surface; i--)
        best[i] = best[i - 1];
    best[i] = *p;
}

/* A cut across an axis costs the section of the box; where the box is not divided evenly, a
 * cut has a step in it. */
static void judge(const double *length, int dimensions, uint32_t parts, plan_t *p)
{
    double count[3] = {p->count[0], p->count[1], 1}, volume = 1;

    count[dimensions - 1] = (double)parts / (p->count[0] * (dimensions == 3 ? p->count[1] : 1));
    for (int k = 0; k < dimensions; k++)
        volume *= length[p->axis[k]];
    p->surface = 0;
    for (int k = 0; k < dimensions; k++) {
        double side = length[p->axis[k]];
        bool is_even = count[k] == floor(count[k]) && fmod(side, count[k]) == 0;

        double section = volume / side, step = dimensions == 2 ? 1 : 1.5 * sqrt(section);

        p->surface += (count[k] - 1) * (section + (is_even ? 0 : step));
    }
}

/* Fills `best` with the best ways to cut a grid into `parts` bricks; returns their number. */
static uint32_t make_plans(const double *length, int dimensions, uint32_t parts, plan_t *best)
{
    static const int orders[6][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    uint32_t kept = 0;

    for (int o = 0; o < (dimensions == 2 ? 2 : 6); o++)
        for (uint32_t a = 1; a <= parts; a++)
            for (uint32_t b = 1; b <= (dimensions == 3 ? parts / a : 1); b++) {
                plan_t p = {.count = {a, b}};

                memcpy(p.axis, orders[o], sizeof(p.axis));
                if (a > length[p.axis[0]] || (dimensions == 3 && b > length[p.axis[1]]))
                    break;
                judge(length, dimensions, parts, &p);
                offer(best, &kept, &p);
            }
    return kept;
}

static double cut_of(const place_graph_t *g, const uint32_t *part_of)
{
    double cut = 0;

    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t k = g->first[v]; k < g->first[v + 1]; k++)
            cut += part_of[g->to[k]] != part_of[v] ? g->w[k] : 0;
    return cut;
}

xy_status_t place_grid_pattern_cut(const place_grid_pattern_t *l, const place_graph_t *g,
                                   const uint32_t *ids, uint32_t parts, const uint64_t *room,
                                   uint32_t *part_of)
{
    job_t j = {.l = l, .ids = ids, .room = room};
    plan_t plans[TRIED];
    double length[3] = {1, 1, 1}, least = 0;
    uint32_t kept;

    for (int k = 0; k < l->dimensions; k++) {
        uint32_t low = UINT32_MAX, high = 0;

        for (uint32_t v = 0; v < g->n; v++) {
            low = l->at[k][ids[v]] < low ? l->at[k][ids[v]] : low;
            high = l->at[k][ids[v]] > high ? l->at[k][ids[v]] : high;
        }
        length[k] = (double)high - low + 1;
    }
    j.sorted = xy_malloc(((size_t)g->n + 1) * sizeof(*j.sorted));
    j.part_of = xy_malloc(((size_t)g->n + 1) * sizeof(*j.part_of));
    if (j.sorted == NULL || j.part_of == NULL) {
        xy_free(j.sorted);
        xy_free(j.part_of);
        return XY_ENOMEM;
    }
    kept = make_plans(length, l->dimensions, parts, plans);
    for (uint32_t i = 0; i < kept; i++) {
        double cut;

        for (uint32_t v = 0; v < g->n; v++)
            j.sorted[v].v = v;
        slice(&j, &plans[i], j.sorted, g->n, 0, parts, 0);
        cut = cut_of(g, j.part_of);
        if (i == 0 || cut < least) {
            least = cut;
            memcpy(part_of, j.part_of, (size_t)g->n * sizeof(*part_of));
        }
    }
    xy_free(j.sorted);
    xy_free(j.part_of);
    return XY_OK;
}
