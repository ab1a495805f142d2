/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan, binomial trees.        Cost = rounds(p) (a + n (b + g)), 2 lg p - 1 for a power of two
 *
 * Count ranks from 1. Up: rank x, a multiple of 2^k, adds up the last 2^k ranks, in k rounds. Down:
 * x gives the sum of all up to itself to x + 2^d, for d from high to low, which adds what it had. p
 * = 8 (x->y: y reads x): up:   1->2 3->4 5->6 7->8    2->4 6->8    4->8 down: 4->6    2->3 4->5
 * 6->7
 *
 * p = 2^k + q: up takes k rounds for rank 2^k, which then serves the q ranks above it, the last of
 * them floor(lg q) + 1 rounds later; rank 2^(k-1) is done with its own half after 2k - 1.
 */
#include "coll/build.h"

int coll_scan_rounds(int p)
{
    int k = coll_log2_floor(p), q = p - (1 << k);
    int half = 2 * k - 1, rest = q > 0 ? k + coll_log2_floor(q) + 1 : 0;

    if (p == 1)
        return 0;
    return half > rest ? half : rest;
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    double n = coll_vector_bytes(q), rounds = coll_scan_rounds(q->procs) * coll_reduced(l, n);

    return rounds > n * l->copy ? rounds : n * l->copy;
}

/* Rank x, counted from 1, adds what rank x - step has, on the left. Before the first round all have
 * their input only; the odd ones, above 1, until the last round down. */
static void add(coll_build_t *b, int x, int step, int buffer, bool is_up)
{
    int r = x - 1, from = r - step;

    coll_combine(b, step == 1 && is_up ? coll_input(b, from) : coll_place(from, buffer, 0),
                 step == 1 ? coll_input(b, r) : coll_place(r, buffer, 0), coll_place(r, buffer, 0),
                 b->bytes, true, 0);
}

void coll_phase_scan(coll_build_t *b, int ranks, int buffer)
{
    int step = 1;

    for (; 2 * step <= ranks; step *= 2)
        for (int x = 2 * step; x <= ranks; x += 2 * step)
            add(b, x, step, buffer, true);
    for (; step >= 1; step /= 2)
        for (int x = 3 * step; x <= ranks; x += 2 * step)
            add(b, x, step, buffer, false);
}

static void build(coll_build_t *b)
{
    coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
    coll_phase_scan(b, b->p, XY_BUFFER_RECEIVE);
}

const xy_coll_algorithm_t coll_scan_binomial = {
    .name = "binomial",
    .collectives = 1u << XY_COLL_SCAN,
    .formula = "(2 lg p - 1) (a + n (b + g)); other p: up to one round more",
    .describe = "up and down binomial trees, about 2 log2(p) rounds",
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
