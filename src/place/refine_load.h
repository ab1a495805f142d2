/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Balancing a job that runs: few processes move, so that the heaviest core carries less.
 *
 *   xy_refine_load_t r = {.n = 16, .cores = 2, .load = load, .core_of = core_of, .goal = 1.02};
 *   st = xy_refine_load(&r);              (core_of is the new one; r.before, r.after, r.moved)
 *
 * The heaviest core gives a process to another one, or exchanges one with it, so that the heavier
 * of both carries as little as possible; and so on, until no core carries more than `goal` times
 * the mean, or nothing helps. Where `talk` is given, processes go rather to cores whose processes
 * they talk to, among choices that are about as good.     Cost = O(moves * n / cores * (n + cores))
 */
#ifndef XY_PLACE_REFINE_LOAD_H
#define XY_PLACE_REFINE_LOAD_H

#include "place/matrix.h"

typedef struct {
    uint32_t n, cores;
    const double *load;      /* [n]: not negative */
    const bool *stays;       /* [n]: it cannot move; NULL: all can */
    const xy_matrix_t *talk; /* or NULL */
    uint32_t *core_of;       /* [n]; changed */
    double goal;             /* at least 1 */
    double before, after;    /* out: what the heaviest core carries */
    uint32_t moved;          /* out: processes on another core than before */
} xy_refine_load_t;

/* On failure core_of is untouched. Silent ENOMEM. Any thread. */
xy_status_t xy_refine_load(xy_refine_load_t *r);

#endif
