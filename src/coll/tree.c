/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees, and what goes down them. All but these are in phase.c.
 *
 *   binary    node v of level L, where 2^L - 1 <= v < 2^(L+1) - 1, has v + 2^L and v + 2^(L+1)
 *   knomial   v has v + r 4^k for r = 1, 2, 3 and 4^k below its lowest digit to base 4, far first
 *   high      v has v + 2^k for 2^k > v, near first
 */
#include "coll/build.h"

int coll_child_binary(int p, int v, int i)
{
    int child = v + (i + 1) * (1 << coll_log2_floor(v + 1));

    return i < 2 && child < p ? child : -1;
}

enum { RADIX = 4 };

int coll_child_knomial(int p, int v, int i)
{
    int step = 1;

    while (step < p && v % (step * RADIX) == 0)
        step *= RADIX;
    for (step /= RADIX; step > 0; step /= RADIX)
        for (int r = 1; r < RADIX && v + r * step < p; r++)
            if (i-- == 0)
                return v + r * step;
    return -1;
}

int coll_child_high(int p, int v, int i)
{
    int64_t child = v + ((int64_t)1 << (v > 0 ? coll_log2_floor(v) + 1 : 0) << i);

    return child < p ? (int)child : -1;
}

int coll_tree_rounds_down(coll_child_fn child, int p, int v)
{
    int most = 0;

    for (int i = 0, c; (c = child(p, v, i)) >= 0; i++) {
        int rounds = i + 1 + coll_tree_rounds_down(child, p, c);

        most = rounds > most ? rounds : most;
    }
    return most;
}

int coll_tree_rounds_up(coll_child_fn child, int p, int v)
{
    int t = 0;

    for (int i = 0, c; (c = child(p, v, i)) >= 0; i++) {
        int ready = coll_tree_rounds_up(child, p, c);

        t = (ready > t ? ready : t) + 1;
    }
    return t;
}

void coll_phase_tree(coll_build_t *b, int root, coll_child_fn child)
{
    for (int v = 0; v < b->p; v++)
        for (int i = 0, c; (c = child(b->p, v, i)) >= 0; i++)
            coll_move(b, coll_place((v + root) % b->p, XY_BUFFER_RECEIVE, 0),
                      coll_place((c + root) % b->p, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
}
