/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan and exclusive scan, recursive doubling.   Cost: counted; about lg p (a + n (b + g))
 *
 * Partners at distance 1, 2, 4, ... give each other the sums of their trees of ranks. The upper one
 * adds what came to its tree's sum and to its result, on the left; the lower one to its tree's sum
 * only. p = 4: 0<->1 2<->3, 0<->2 1<->3. When p is no power of two some ranks have no partner in
 * some rounds; they miss nothing that comes before them.
 */
#include "coll/build.h"
#include "coll/list.h"

enum { CAME = COLL_TEMPORARY + 2 };

/* The sum of the tree of a rank before round t: two temporaries in turn, as the partner still reads
 * the old one. */
static xy_spot_t sum(const coll_build_t *b, int rank, int t)
{
    return t == 0 ? coll_input(b, rank) : coll_place(rank, COLL_TEMPORARY + t % 2, 0);
}

static bool is_exclusive(const coll_build_t *b)
{
    return b->q->collective == XY_COLL_EXSCAN;
}

/* Rank r hears of a partner below it. The first sum of an exclusive scan is what came. */
static void hear_below(coll_build_t *b, int r, int t)
{
    xy_spot_t came = coll_place(r, CAME, 0), result = coll_place(r, XY_BUFFER_RECEIVE, 0);
    bool is_first = (r & ((1 << t) - 1)) == 0; /* none came before */

    coll_move(b, sum(b, r ^ 1 << t, t), came, b->bytes, 0);
    coll_combine(b, came, sum(b, r, t), sum(b, r, t + 1), b->bytes, true, 0);
    if (!is_exclusive(b))
        coll_combine(b, came, is_first ? coll_input(b, r) : result, result, b->bytes, true, 0);
    else if (is_first)
        coll_move(b, came, result, b->bytes, 0);
    else
        coll_combine(b, came, result, result, b->bytes, true, 0);
}

/* Add the exchanges of lg p rounds to the graph. */
static void build(coll_build_t *b)
{
    if (!is_exclusive(b))
        coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
    for (int t = 0; 1 << t < b->p; t++)
        for (int r = 0; r < b->p; r++) {
            int partner = r ^ 1 << t;

            if (partner >= b->p) /* its sum stays, where the next round looks for it */
                coll_move(b, sum(b, r, t), sum(b, r, t + 1), 1 << (t + 1) < b->p ? b->bytes : 0, 0);
            else if (partner < r)
                hear_below(b, r, t);
            else
                coll_combine(b, sum(b, partner, t), sum(b, r, t), sum(b, r, t + 1), b->bytes, false,
                             0);
        }
}

static double cost_scan(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_counted(q, l, &coll_scan_recursive_doubling);
}

static double cost_exscan(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_counted(q, l, &coll_exscan_recursive_doubling);
}

const xy_coll_algorithm_t coll_scan_recursive_doubling = {
    .name = "recursive-doubling",
    .collectives = 1u << XY_COLL_SCAN,
    .formula = "counted; about lg p (a + n (b + 2g + 2c))",
    .describe = "partners exchange their sums, log2(p) rounds",
    .is_foreign = true,
    .cost = cost_scan,
    .build = build,
};

const xy_coll_algorithm_t coll_exscan_recursive_doubling = {
    .name = "recursive-doubling",
    .collectives = 1u << XY_COLL_EXSCAN,
    .formula = "counted; about lg p (a + n (b + 2g + 2c))",
    .describe = "partners exchange their sums, log2(p) rounds",
    .is_foreign = true,
    .cost = cost_exscan,
    .build = build,
};
