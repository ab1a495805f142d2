/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/split.h"

#include <math.h>

int xy_split_height(int ranks, int base)
{
    long reach = 1;
    int height = 0;

    while (reach < ranks) {
        reach *= base;
        height++;
    }
    return height;
}

/* base^(level-1), the distance of a level; beyond the ranks it does not matter how far. */
static long distance(int level, int base, int ranks)
{
    long d = 1;

    while (--level > 0 && d <= ranks)
        d *= base;
    return d;
}

/* Rank r sends on the level of its lowest digit that is not 0. */
int xy_split_messages(int ranks, int level, int base)
{
    long d = distance(level, base, ranks);

    return (int)((ranks - 1) / d - (ranks - 1) / (d * base));
}

/* How many messages of a level node 0 has, one after the other. */
static int width(int ranks, int level, int base)
{
    long most = (ranks - 1) / distance(level, base, ranks);

    return most < base - 1 ? (int)most : base - 1;
}

static int compute_cores(const xy_split_t *s)
{
    return s->compute_cores > 0 && s->compute_cores < s->ranks ? s->compute_cores : s->ranks;
}

static double weight(const xy_split_t *s, int level)
{
    return s->is_doubling ? pow(s->base, level - 1) : 1.0;
}

/* The first `levels` levels of a tree of `ranks` on `cores` cores: each rank on its own, or, where
 * there are fewer, the messages of a level in turn. */
static double spread(const xy_split_t *s, int ranks, int cores, int levels)
{
    int height = xy_split_height(ranks, s->base);
    double sum = 0.0;

    for (int i = 1; i <= height && i <= levels; i++) {
        int messages = xy_split_messages(ranks, i, s->base), turns = width(ranks, i, s->base);

        if ((messages + cores - 1) / cores > turns)
            turns = (messages + cores - 1) / cores;
        sum += turns * weight(s, i);
    }
    return sum;
}

/* The levels above `levels`, folded on the communication cores. */
static double folded(const xy_split_t *s, int levels)
{
    int height = xy_split_height(s->ranks, s->base);
    int comm_cores = s->cores - compute_cores(s);
    double sum = 0.0;

    for (int i = levels + 1; i <= height; i++) {
        int messages = xy_split_messages(s->ranks, i, s->base), turns;

        if (comm_cores <= 0)
            return INFINITY;
        turns = (messages + comm_cores - 1) / comm_cores;
        sum += turns * weight(s, i);
    }
    return sum;
}

double xy_split_compute(const xy_split_t *s)
{
    if (s->has_compute)
        return s->compute;
    return spread(s, s->cores, s->cores, s->cores) * s->cores / compute_cores(s);
}

double xy_split_overlapped(const xy_split_t *s, int levels)
{
    return spread(s, s->ranks, compute_cores(s), levels) +
           fmax(xy_split_compute(s), folded(s, levels));
}

int xy_split_best(const xy_split_t *s)
{
    int height = xy_split_height(s->ranks, s->base);
    int best = 0;

    for (int i = 1; i <= height; i++)
        if (xy_split_overlapped(s, i) < xy_split_overlapped(s, best))
            best = i;
    return best;
}
