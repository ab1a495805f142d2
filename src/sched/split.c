/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/split.h"

#include <math.h>

int xy_split_levels(int ranks, int base)
{
    int levels = 0;

    for (long reach = 1; reach < ranks; reach *= base)
        levels++;
    return levels;
}

/* The messages of level i are the ranks 1 .. ranks-1 whose lowest nonzero digit is the i-th. */
long xy_split_messages(int ranks, int base, int level)
{
    long step = 1;

    for (int i = 1; i < level; i++)
        step *= base;
    return (ranks - 1) / step - (ranks - 1) / (step * base);
}

double xy_split_weight(const xy_split_t *model, int level)
{
    return model->is_growing ? pow(model->base, level - 1) : 1;
}

/* On application cores an inner rank handles its base - 1 children of a level one by one. */
static double front(const xy_split_t *model, int levels)
{
    double sum = 0;

    for (int i = 1; i <= levels; i++)
        sum += xy_split_weight(model, i) * (model->base - 1);
    return sum;
}

static int min(int a, int b)
{
    return a < b ? a : b;
}

double xy_split_blocking(const xy_split_t *model)
{
    return front(model, xy_split_levels(model->ranks, model->base));
}

double xy_split_engine(const xy_split_t *model, int split)
{
    int levels = xy_split_levels(model->ranks, model->base);
    double sum = 0;

    for (int i = split + 1; i <= levels; i++) {
        long messages = xy_split_messages(model->ranks, model->base, i);

        sum += (double)((messages + model->comm_cores - 1) / model->comm_cores) *
               xy_split_weight(model, i);
    }
    return sum;
}

double xy_split_time(const xy_split_t *model, int split)
{
    int levels = xy_split_levels(model->ranks, model->base);

    return front(model, min(split, levels)) + fmax(model->compute, xy_split_engine(model, split));
}

int xy_split_best(const xy_split_t *model)
{
    int levels = xy_split_levels(model->ranks, model->base), best = 0;

    for (int s = 1; s <= levels; s++)
        if (xy_split_time(model, s) < xy_split_time(model, best) * (1 - 1e-12))
            best = s;
    return best;
}
