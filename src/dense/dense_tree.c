/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of a broadcast, as Xylem sends them: a tree, a chain of pieces, or parts that a tree
 * scatters and a ring collects, whichever takes least by the formulas of docs/collectives.md.
 */
#include <math.h>

#include "dense/dense_tree.h"

enum { PIECES_MAX = 1024 };

static int parts_of(const dense_tree_t *x, int v)
{
    int subtree = v & -v;

    return v == 0 || v + subtree > x->count ? x->count - v : subtree;
}

static double part_begin(const dense_tree_t *x, int part)
{
    return floor(x->bytes / 8 * part / x->count) * 8;
}

static double bytes_of(const dense_tree_t *x, int first, int end)
{
    return part_begin(x, end) - part_begin(x, first);
}

/* ---- Choosing ---- */

static int log2_ceil(int n)
{
    int l = 0;

    while (1 << l < n)
        l++;
    return l;
}

static double chain_pieces(double bytes, int count, double alpha, double beta)
{
    double best = count > 2 && alpha > 0 ? sqrt((count - 2) * bytes * beta / alpha) : 1;

    best = fmin(fmin(best, PIECES_MAX), bytes / 8);
    return fmax(floor(best), 1);
}

dense_tree_t dense_tree(double bytes, int count, double alpha, double beta)
{
    dense_tree_t x = {.kind = DENSE_TREE, .bytes = bytes, .count = count, .pieces = 1};
    double pieces = chain_pieces(bytes, count, alpha, beta), size;
    double tree = log2_ceil(count) * (alpha + bytes * beta), chain, ring;

    size = ceil(bytes / 8 / pieces) * 8;
    pieces = ceil(bytes / size);
    chain = pieces == 1 ? (count - 1) * (alpha + bytes * beta)
                        : (count - 3 + pieces) * (alpha + size * beta) + alpha +
                              (bytes - (pieces - 1) * size) * beta;
    ring = bytes / 8 >= count
               ? (log2_ceil(count) + count - 1) * alpha + 2.0 * (count - 1) / count * bytes * beta
               : INFINITY;
    if (ring < tree && ring <= chain)
        x.kind = DENSE_RING;
    else if (chain < tree)
        x.kind = DENSE_CHAIN;
    x.pieces = (int)pieces;
    x.piece = size;
    return x;
}

/* ---- What a member does ---- */

/* Bytes for a child of v that heads `parts` parts: all of a tree, its parts of a ring. */
static double child_bytes(const dense_tree_t *x, int child)
{
    return x->kind == DENSE_TREE ? x->bytes : bytes_of(x, child, child + parts_of(x, child));
}

static double share(const dense_tree_t *x, int v, int low, double bytes)
{
    double sum = 0;

    for (; low > 0; low /= 2)
        if (v + low < x->count)
            sum += fmin(bytes, child_bytes(x, v + low));
    return sum;
}

/* Member v of a tree: its parent first, then its children, the largest subtree first. */
static bool tree_step(const dense_tree_t *x, int v, int step, dense_tree_step_t *s)
{
    int low = v == 0 ? 1 << log2_ceil(x->count) : v & -v, most = low / 2, child;

    if (v > 0 && step == 0) {
        *s = (dense_tree_step_t){.is_send = false, .peer = v - low, .bytes = child_bytes(x, v)};
        return true;
    }
    for (step -= v > 0, low /= 2; low > 0; low /= 2) {
        child = v + low;
        if (child < x->count && step-- == 0) {
            double bytes = child_bytes(x, child);

            *s = (dense_tree_step_t){
                .is_send = true, .peer = child, .bytes = bytes, .shared = share(x, v, most, bytes)};
            return true;
        }
    }
    return false;
}

static int tree_steps(const dense_tree_t *x, int v)
{
    dense_tree_step_t unused;
    int steps = 0;

    while (tree_step(x, v, steps, &unused))
        steps++;
    return steps;
}

static bool chain_step(const dense_tree_t *x, int v, int step, dense_tree_step_t *s)
{
    int each = (v > 0) + (v + 1 < x->count), piece = each > 0 ? step / each : 0;
    bool is_send = v == 0 || step % each == 1;
    double left = x->bytes - piece * x->piece;

    if (each == 0 || piece >= x->pieces)
        return false;
    *s = (dense_tree_step_t){
        .is_send = is_send, .peer = is_send ? v + 1 : v - 1, .bytes = fmin(left, x->piece)};
    return true;
}

/* Whether member v lacks a part after the scatter. */
static bool lacks(const dense_tree_t *x, int v, int part)
{
    return part < v || part >= v + parts_of(x, v);
}

/* Finds the next transfer of member `v` in the ring phase of a broadcast; returns false at its
 * end. */
static bool ring_step(const dense_tree_t *x, int v, int step, dense_tree_step_t *s)
{
    int n = x->count, right = (v + 1) % n, left = (v + n - 1) % n;

    while (step < 2 * (n - 1)) {
        int round = step / 2, part = ((step % 2 == 0 ? v : left) + n - round) % n;
        bool is_send = step % 2 == 0;

        if (lacks(x, is_send ? right : v, part)) {
            *s = (dense_tree_step_t){.is_send = is_send,
                                     .peer = is_send ? right : left,
                                     .bytes = bytes_of(x, part, part + 1)};
            s->skipped = step;
            return true;
        }
        step++;
    }
    return false;
}

bool dense_tree_step(const dense_tree_t *x, int v, int *step_p, dense_tree_step_t *s)
{
    int first;
    bool is_there;

    if (x->kind == DENSE_CHAIN)
        return chain_step(x, v, (*step_p)++, s);
    if (x->kind == DENSE_TREE)
        return tree_step(x, v, (*step_p)++, s);
    first = tree_steps(x, v);
    if (*step_p < first)
        return tree_step(x, v, (*step_p)++, s);
    is_there = ring_step(x, v, *step_p - first, s);
    if (is_there)
        *step_p = first + s->skipped + 1;
    return is_there;
}
