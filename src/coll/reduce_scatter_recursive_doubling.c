/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter, recursive doubling.            Cost: counted; about lg p a + (p lg p - p + 1) n
 *                                                (b + g + 4 c)
 *
 * Before the round of distance d a rank has the sums of the 2^k = d ranks of its tree. Partners
 * give each other those of all blocks but the blocks of their own trees, in one message, which is
 * packed first and added where it belongs. n is one block. p = 4, blocks ABCD: 0<->1: 0-BCD->1
 * 1-ACD->0 ...     0<->2: 0-CD->2 2-AB->0 ...
 *
 * When p is no power of two, the ranks of a full tree that have no partner in the one above it get
 * its sums from those that do, by halving the distance. Sums are of consecutive ranks: the
 * operation need not commute.
 */
#include "coll/build.h"
#include "coll/list.h"

enum { SUMS = COLL_TEMPORARY, PACKED, CAME };

/* All blocks but those of the tree of `step` ranks from `first` on: two runs, the first of which
 * ends at `low`; the second begins at `high`. */
typedef struct {
    uint64_t low, high, end;
} runs_t;

static runs_t runs_of(const coll_build_t *b, int first, int step)
{
    int end = first + step < b->p ? first + step : b->p;

    return (runs_t){b->start[first], b->start[end], b->start[b->p]};
}

/* Where a rank has its sums before the round of this step: in its input until it has first heard of
 * a tree, which the last ranks do late. */
static xy_spot_t held(const coll_build_t *b, int rank, int step)
{
    for (int s = 1; s < step; s *= 2)
        if (((rank ^ s) & ~(s - 1)) < b->p)
            return coll_place(rank, SUMS, 0);
    return coll_input(b, rank);
}

static void pack(coll_build_t *b, int rank, int step)
{
    runs_t r = runs_of(b, rank & ~(step - 1), step);
    xy_spot_t sums = held(b, rank, step);
    xy_spot_t packed = coll_place(rank, PACKED, 0);

    coll_move(b, sums, packed, r.low, 0);
    coll_move(b, coll_shift(sums, r.high), coll_shift(packed, r.low), r.end - r.high, 0);
}

/* Add the received partial result, which is of the tree that begins at `first`. */
static void add_came(coll_build_t *b, int rank, int first, int step)
{
    runs_t r = runs_of(b, first, step);
    xy_spot_t came = coll_place(rank, CAME, 0), sums = coll_place(rank, SUMS, 0);
    xy_spot_t old = held(b, rank, step);

    coll_combine(b, came, old, sums, r.low, first < rank, 0);
    coll_combine(b, coll_shift(came, r.low), coll_shift(old, r.high), coll_shift(sums, r.high),
                 r.end - r.high, first < rank, 0);
}

static void move_came(coll_build_t *b, xy_spot_t from, int to, int first, int step)
{
    runs_t r = runs_of(b, first, step);

    coll_move(b, from, coll_place(to, CAME, 0), r.low + r.end - r.high, 0);
}

/* Pass the data received from the tree at `upper` to the ranks below that had no partner. */
static void pass_on(coll_build_t *b, int lower, int upper)
{
    int step = upper - lower, there = b->p - upper;

    for (int half = step / 2; half >= 1; half /= 2)
        for (int v = lower; v < upper; v++) {
            int to = v ^ half, tree = v & ~(2 * half - 1);

            if (to > v && v < tree + there && to >= tree + there)
                move_came(b, coll_place(v, CAME, 0), to, upper, step);
        }
}

/* Add the round of distance `step`: pack, exchange, pass on to ranks without a partner, and add. */
static void exchange(coll_build_t *b, int step)
{
    for (int r = 0; r < b->p; r++)
        if ((r ^ step) < b->p)
            pack(b, r, step);
    for (int r = 0; r < b->p; r++)
        if ((r ^ step) < b->p)
            move_came(b, coll_place(r ^ step, PACKED, 0), r, (r ^ step) & ~(step - 1), step);
    for (int lower = 0; lower + step < b->p; lower += 2 * step)
        if (lower + 2 * step > b->p)
            pass_on(b, lower, lower + step);
    for (int r = 0; r < b->p; r++) {
        int first = (r ^ step) & ~(step - 1);

        if (first < b->p)
            add_came(b, r, first, step);
    }
}

static void build(coll_build_t *b)
{
    for (int step = 1; step < b->p; step *= 2)
        exchange(b, step);
    for (int r = 0; r < b->p; r++)
        coll_move(b, b->p == 1 ? coll_input(b, 0) : coll_place(r, SUMS, b->start[r]),
                  coll_place(r, XY_BUFFER_RECEIVE, 0), coll_block(b, r), 0);
}

static double cost(const xy_coll_request_t *q, const xy_coll_link_t *l)
{
    return coll_cost_counted(q, l, &coll_reduce_scatter_recursive_doubling);
}

const xy_coll_algorithm_t coll_reduce_scatter_recursive_doubling = {
    .name = "recursive-doubling",
    .collectives = 1u << XY_COLL_REDUCE_SCATTER | 1u << XY_COLL_REDUCE_SCATTER_BLOCK,
    .formula = "counted; about lg p a + (p lg p - p + 1) n (b + g + 4c)",
    .describe = "partners exchange the sums of all blocks but their own, log2(p) rounds",
    .is_foreign = true,
    .cost = cost,
    .build = build,
    .keeps_input = coll_always,
};
