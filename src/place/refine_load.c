/* SPDX-License-Identifier: BSD-3-Clause */
#include "place/refine_load.h"

#include <string.h>

/* Choices are alike within this part of the mean. */
#define ALIKE 0.01

enum { NOBODY = UINT32_MAX };

typedef struct {
    xy_refine_load_t *r;
    uint32_t *core_of;
    double *carried; /* [cores] */
    double mean;
} refine_state_t;

/* One that goes, and one that comes instead; NOBODY: none. */
typedef struct {
    uint32_t goes, comes, to;
    double heavier; /* of both cores, afterwards */
    double apart;   /* bytes between cores that were within one, less the others */
} refine_choice_t;

static uint32_t find_heaviest(const double *carried, uint32_t cores)
{
    uint32_t heaviest = 0;

    for (uint32_t c = 1; c < cores; c++)
        if (carried[c] > carried[heaviest])
            heaviest = c;
    return heaviest;
}

/* Bytes that cross between cores in addition when `v` goes to `to`. */
static double apart(const refine_state_t *s, uint32_t v, uint32_t to)
{
    const xy_matrix_t *m = s->r->talk;
    double sum = 0;

    for (size_t k = m->first[v]; k < m->first[v + 1]; k++)
        if (m->to[k] != v) {
            sum += s->core_of[m->to[k]] == s->core_of[v] ? m->bytes[k] : 0;
            sum -= s->core_of[m->to[k]] == to ? m->bytes[k] : 0;
        }
    return sum;
}

/* Less work on the heavier core; or else less talk between cores, or fewer moves. */
static bool is_better(const refine_state_t *s, const refine_choice_t *a, const refine_choice_t *b)
{
    double difference = a->heavier - b->heavier;

    if (b->goes == NOBODY)
        return true;
    if (difference < -ALIKE * s->mean || difference > ALIKE * s->mean)
        return difference < 0;
    if (s->r->talk != NULL && a->apart != b->apart)
        return a->apart < b->apart;
    if ((a->comes == NOBODY) != (b->comes == NOBODY)) /* fewer moves */
        return a->comes == NOBODY;
    return difference < 0;
}

/* Is it better than `best` when `goes` goes to core `to`, and `comes` comes instead? */
static void consider(const refine_state_t *s, uint32_t goes, uint32_t comes, uint32_t to,
                     refine_choice_t *best)
{
    uint32_t from = s->core_of[goes];
    double given = s->r->load[goes] - (comes != NOBODY ? s->r->load[comes] : 0);
    double here = s->carried[from] - given, there = s->carried[to] + given;
    refine_choice_t choice = {goes, comes, to, here > there ? here : there, 0};

    if (choice.heavier >= s->carried[from] - ALIKE / 10 * s->mean)
        return;
    if (s->r->talk != NULL)
        choice.apart = apart(s, goes, to) + (comes != NOBODY ? apart(s, comes, from) : 0);
    if (is_better(s, &choice, best))
        *best = choice;
}

static bool can_move(const refine_state_t *s, uint32_t v)
{
    return s->r->stays == NULL || !s->r->stays[v];
}

/* The best move or exchange that makes `heavy` lighter; `goes` is NOBODY if there is none. */
static refine_choice_t choose(const refine_state_t *s, uint32_t heavy)
{
    refine_choice_t best = {.goes = NOBODY};

    for (uint32_t v = 0; v < s->r->n; v++) {
        if (s->core_of[v] != heavy || !can_move(s, v))
            continue;
        for (uint32_t c = 0; c < s->r->cores; c++)
            if (c != heavy)
                consider(s, v, NOBODY, c, &best);
        for (uint32_t u = 0; u < s->r->n; u++)
            if (s->core_of[u] != heavy && can_move(s, u))
                consider(s, v, u, s->core_of[u], &best);
    }
    return best;
}

static void go(refine_state_t *s, uint32_t v, uint32_t to)
{
    s->carried[s->core_of[v]] -= s->r->load[v];
    s->carried[to] += s->r->load[v];
    s->core_of[v] = to;
}

/* Until it is good enough, or nothing helps: each step makes the heaviest core lighter. */
static void refine(refine_state_t *s)
{
    for (uint32_t step = 0; step < 4 * s->r->n; step++) {
        uint32_t heavy = find_heaviest(s->carried, s->r->cores);
        refine_choice_t best;

        if (s->carried[heavy] <= s->r->goal * s->mean)
            return;
        best = choose(s, heavy);
        if (best.goes == NOBODY)
            return;
        if (best.comes != NOBODY)
            go(s, best.comes, heavy);
        go(s, best.goes, best.to);
    }
}

xy_status_t xy_refine_load(xy_refine_load_t *r)
{
    refine_state_t s = {.r = r};

    s.core_of = xy_malloc(((size_t)r->n + 1) * sizeof(*s.core_of));
    s.carried = xy_calloc(r->cores, sizeof(*s.carried));
    if (s.core_of == NULL || s.carried == NULL) {
        xy_free(s.core_of);
        xy_free(s.carried);
        return XY_ENOMEM;
    }
    memcpy(s.core_of, r->core_of, r->n * sizeof(*s.core_of));
    for (uint32_t v = 0; v < r->n; v++) {
        s.carried[s.core_of[v]] += r->load[v];
        s.mean += r->load[v] / r->cores;
    }
    r->before = s.carried[find_heaviest(s.carried, r->cores)];
    refine(&s);
    r->after = s.carried[find_heaviest(s.carried, r->cores)];
    r->moved = 0;
    for (uint32_t v = 0; v < r->n; v++)
        r->moved += s.core_of[v] != r->core_of[v];
    memcpy(r->core_of, s.core_of, r->n * sizeof(*s.core_of));
    xy_free(s.core_of);
    xy_free(s.carried);
    return XY_OK;
}
