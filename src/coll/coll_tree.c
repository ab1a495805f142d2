/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees, what goes down and up them, and what that costs. The binomial tree of Xylem's own
 * algorithms is in phase.c.
 *
 *   binary    node v of level L, where 2^L - 1 <= v < 2^(L+1) - 1, has v + 2^L and v + 2^(L+1)
 *   knomial   to base m: v has v + r m^k for 0 < r < m and m^k below its lowest digit, far first
 *   high      v has v + 2^k for 2^k > v, near first
 *
 * Vectors may go in pieces: a node passes on one piece to all its children, then the next.
 */
#include <math.h>

#include "coll/build.h"

static int radix_of(const xy_coll_request_t *q)
{
    enum { RADIX = 4 };

    return q->radix >= 2 ? q->radix : RADIX;
}

int coll_child_binary(const xy_coll_request_t *q, int v, int i)
{
    int child = v + (i + 1) * (1 << coll_log2_floor(v + 1));

    return i < 2 && child < q->procs ? child : -1;
}

int coll_child_knomial(const xy_coll_request_t *q, int v, int i)
{
    int64_t radix = radix_of(q), step = 1;

    while (step < q->procs && v % (step * radix) == 0)
        step *= radix;
    for (step /= radix; step > 0; step /= radix)
        for (int64_t r = 1; r < radix && v + r * step < q->procs; r++)
            if (i-- == 0)
                return (int)(v + r * step);
    return -1;
}

int coll_child_high(const xy_coll_request_t *q, int v, int i)
{
    int64_t child = v + ((int64_t)1 << (v > 0 ? coll_log2_floor(v) + 1 : 0) << i);

    return child < q->procs ? (int)child : -1;
}

int coll_level_knomial(const xy_coll_request_t *q, int v)
{
    int radix = radix_of(q), level = 1;

    for (; v % radix == 0; v /= radix)
        level++;
    return level;
}

/* Bytes of the piece that begins at `at`. */
static uint64_t piece_at(uint64_t bytes, uint64_t piece, uint64_t at)
{
    return bytes - at < piece ? bytes - at : piece;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* ---- Down ---- */

static int rounds_down(const xy_coll_request_t *q, coll_child_fn child, int v)
{
    int most = 0;

    for (int i = 0, c; (c = child(q, v, i)) >= 0; i++) {
        int rounds = i + 1 + rounds_down(q, child, c);

        most = rounds > most ? rounds : most;
    }
    return most;
}

/* In pieces: when each side of every rank is free, piece by piece. */
double coll_cost_tree(const xy_coll_request_t *q, const xy_coll_link_t *l, coll_child_fn child)
{
    uint64_t bytes = q->count * q->element, piece = coll_piece(q, q->count);
    double *received, *sent, end = 0.0;

    if (piece >= bytes)
        return rounds_down(q, child, 0) * coll_message(l, (double)bytes);
    received = xy_calloc(2 * (size_t)q->procs, sizeof(*received));
    if (received == NULL)
        return INFINITY;
    sent = received + q->procs;
    for (uint64_t at = 0; at < bytes; at += piece)
        for (int v = 0; v < q->procs; v++)
            for (int i = 0, c; (c = child(q, v, i)) >= 0; i++) {
                double t = later(received[v], later(sent[v], received[c])) +
                           coll_message(l, (double)piece_at(bytes, piece, at));

                sent[v] = received[c] = t;
                end = later(end, t);
            }
    xy_free(received);
    return end;
}

void coll_phase_tree(coll_build_t *b, int root, coll_child_fn child, coll_level_fn level)
{
    uint64_t piece = coll_piece(b->q, b->q->count);

    for (uint64_t at = 0; at < b->bytes; at += piece)
        for (int v = 0; v < b->p; v++)
            for (int i = 0, c; (c = child(b->q, v, i)) >= 0; i++)
                coll_move(b, coll_place((v + root) % b->p, XY_BUFFER_RECEIVE, at),
                          coll_place((c + root) % b->p, XY_BUFFER_RECEIVE, at),
                          piece_at(b->bytes, piece, at), level != NULL ? level(b->q, c) : 0);
}

/* ---- Up ---- */

static int count_children(const xy_coll_request_t *q, coll_child_fn child, int v)
{
    int n = 0;

    while (child(q, v, n) >= 0)
        n++;
    return n;
}

static int rounds_up(const xy_coll_request_t *q, coll_child_fn child, bool is_reversed, int v)
{
    int n = count_children(q, child, v), t = 0;

    for (int i = 0; i < n; i++) {
        int ready = rounds_up(q, child, is_reversed, child(q, v, is_reversed ? n - 1 - i : i));

        t = (ready > t ? ready : t) + 1;
    }
    return t;
}

double coll_cost_tree_up(const xy_coll_request_t *q, const xy_coll_link_t *l, coll_child_fn child,
                         bool is_reversed)
{
    uint64_t bytes = q->count * q->element, piece = coll_piece(q, q->count);
    double *received, *sent, end = 0.0;

    if (q->procs == 1)
        return (double)bytes * l->copy;
    if (piece >= bytes)
        return rounds_up(q, child, is_reversed, 0) * coll_reduced(l, (double)bytes);
    received = xy_calloc(2 * (size_t)q->procs, sizeof(*received));
    if (received == NULL)
        return INFINITY;
    sent = received + q->procs;
    for (uint64_t at = 0; at < bytes; at += piece)
        for (int v = q->procs - 1; v >= 0; v--) {
            int n = count_children(q, child, v);

            for (int i = 0; i < n; i++) {
                int c = child(q, v, is_reversed ? n - 1 - i : i);
                double t = later(received[c], later(sent[c], received[v])) +
                           coll_reduced(l, (double)piece_at(bytes, piece, at));

                sent[c] = received[v] = t;
                end = later(end, t);
            }
        }
    xy_free(received);
    return end;
}

/* The data of node v of a piece after some of its children. */
static xy_spot_t sum(const coll_build_t *b, int v, bool has_heard, uint64_t at)
{
    int rank = (v + b->q->root) % b->p;

    if (!has_heard)
        return coll_shift(coll_input(b, rank), at);
    return coll_place(rank, v == 0 ? XY_BUFFER_RECEIVE : COLL_TEMPORARY, at);
}

static void add_children(coll_build_t *b, int v, coll_child_fn child, coll_level_fn level,
                         bool is_reversed, uint64_t at, uint64_t bytes)
{
    int n = count_children(b->q, child, v);

    for (int i = 0; i < n; i++) {
        int c = child(b->q, v, is_reversed ? n - 1 - i : i);

        coll_combine(b, sum(b, c, child(b->q, c, 0) >= 0, at), sum(b, v, i > 0, at),
                     sum(b, v, true, at), bytes, false, level != NULL ? level(b->q, c) : 0);
    }
}

void coll_phase_tree_up(coll_build_t *b, coll_child_fn child, coll_level_fn level, bool is_reversed)
{
    uint64_t piece = coll_piece(b->q, b->q->count);

    if (b->p == 1)
        coll_move(b, coll_input(b, 0), coll_place(0, XY_BUFFER_RECEIVE, 0), b->bytes, 0);
    for (uint64_t at = 0; at < b->bytes; at += piece)
        for (int v = b->p - 1; v >= 0; v--)
            add_children(b, v, child, level, is_reversed, at, piece_at(b->bytes, piece, at));
}
