/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Split-tree: a tree collective whose S levels nearest to the leaves run on the application cores
 * (fast, in parallel, not overlapped) and the rest on the communication cores (overlapped).
 *
 *   xy_split_t m = {.ranks = 56, .comm_cores = 8, .base = 2, .compute = 6.857};
 *   s = xy_split_best(&m);
 *   t = xy_split_time(&m, s);
 *
 * The model counts in transfers of the buffer between two ranks. Level 1 is at the leaves; it has
 * the most messages. A level takes its longest rank on the application cores, and all its messages
 * divided among the communication cores there:
 *
 *   T(S) = sum of w(i), i = 1 .. min(S, H)  +  max(compute, sum of ceil(F(i) / P) w(i), i > S)
 *
 * with F(i) messages on level i of H, and w(i) = 1, or base^(i-1) when the buffers grow towards the
 * root (gather, scatter). Two trees one after the other (allreduce) cost the same twice: halve the
 * computation. All functions: any thread.
 */
#ifndef XY_SCHED_SPLIT_H
#define XY_SCHED_SPLIT_H

#include <stdbool.h>

typedef struct {
    int ranks;
    int comm_cores;  /* P; at least 1 */
    int base;        /* 2: binomial; m: every inner rank has m - 1 children on each level */
    bool is_growing; /* gather, scatter */
    double compute;  /* between start and Wait, in transfers */
} xy_split_t;

/* H: the levels of the tree, ceil(log(ranks)). */
int xy_split_levels(int ranks, int base);
/* F: messages of level 1 .. H. */
long xy_split_messages(int ranks, int base, int level);
/* w: of a message of this level, in transfers. */
double xy_split_weight(const xy_split_t *model, int level);
/* The collective alone on application cores. */
double xy_split_blocking(const xy_split_t *model);
/* The communication cores' part for a given S; 0 when S >= H. */
double xy_split_engine(const xy_split_t *model, int split);
/* T: start, compute, wait. */
double xy_split_time(const xy_split_t *model, int split);
/* The S of least T, the smallest of equals. */
int xy_split_best(const xy_split_t *model);

#endif
