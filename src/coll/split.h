/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Split-tree: the levels of a tree that run on computing cores, and those on communication cores.
 *
 *   xy_split_t s = {.cores = 64, .ranks = 58, .base = 2};
 *   levels = xy_split_best(&s);              (2: two leaf levels on the cores of the program)
 *
 * A binomial tree has many messages at its leaves and few near the root. On a node of `cores`
 * cores, `ranks` of them compute and the others carry the communication; with few of those, the
 * leaf levels would queue up. So the S levels nearest the leaves run on the computing cores, in
 * parallel and not overlapped, and the rest on the communication cores, overlapped with the
 * computation C.
 *
 * The unit of time is one transfer of the buffer (constant size: broadcast, reduce) or of one block
 * (doubling size: gather and scatter, where level i carries base^(i-1) blocks). Level 1 is at the
 * leaves. H levels; level i has F(i) messages, and a node at most base - 1 of them, one after the
 * other:
 *
 *   T_blocking       sum over all levels of the transfers of one node; H for binomial trees
 *   T_overlapped(S)  the same for levels 1..S, plus the larger of C and of the others, which take
 *                    ceil(F(i) / communication cores) each; with C = 0 the time of the collective
 *   C                T_blocking of all cores, times cores / ranks: the work of a program that would
 *                    compute as long as it communicates, shared among fewer ranks
 *
 * Pure functions; any thread.
 */
#ifndef XY_COLL_SPLIT_H
#define XY_COLL_SPLIT_H

#include <stdbool.h>

typedef struct {
    int cores;         /* of the node */
    int ranks;         /* 1 .. cores, one on each computing core */
    int compute_cores; /* cores that the ranks share, when there are more ranks; 0: one each */
    int base;          /* of the tree: 2 for binomial */
    bool is_doubling;  /* gather and scatter */
    bool has_compute;  /* C was measured: it is `compute`, in the unit above; else the model's */
    double compute;
} xy_split_t;

/* H: ceil(log_base(ranks)); 0 for one rank. */
int xy_split_height(int ranks, int base);
/* F: messages of level 1 .. H. They add up to ranks - 1. */
int xy_split_messages(int ranks, int level, int base);

double xy_split_compute(const xy_split_t *split);
/* Infinite where there is no communication core for the remaining levels. */
double xy_split_overlapped(const xy_split_t *split, int levels);

/* The S of least T_overlapped, the smallest on ties. */
int xy_split_best(const xy_split_t *split);

#endif
