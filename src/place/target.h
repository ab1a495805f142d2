/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target: the part of a machine that matters for placing. Usable leaves only, objects with one
 * child left out, distances as heights above the root. A torus or a mesh is one too: distances of
 * nodes then come from coordinates, and the tree halves the box again and again.
 *
 *   xy_target_t *t;
 *   st = xy_target_load("torus:8x8x8", NULL, &t);       (or anything xy_machine_load takes)
 *   d = xy_target_hops(t, 3, 200);
 *   xy_target_destroy(t);
 *
 * Nodes are in level order: the root is 0, children are contiguous and behind their parent. Leaves
 * are numbered by themselves, in tree order. A target never changes once made.
 */
#ifndef XY_PLACE_TARGET_H
#define XY_PLACE_TARGET_H

#include "base/base.h"
#include "machine/machine.h"

enum { XY_TARGET_WEIGHTS_MAX = 32 };

/* Weights of the links from the leaves up, for the level-weighted cost. Levels in which nothing
 * branches weigh nothing; when levels are left over the last weight counts ten times more for
 * each. The default is 1:10:100 and so on. */
typedef struct {
    int count;
    double value[XY_TARGET_WEIGHTS_MAX];
} xy_weights_t;
/* "1:10:100". EUSAGE names what is wrong. */
xy_status_t xy_weights_parse(const char *text, xy_weights_t *weights_p);

typedef struct {
    uint32_t leaves;
    uint32_t nodes;
    uint32_t depth; /* levels */
    uint32_t *parent, *first_child, *child_count, *first_leaf, *leaf_count, *level;
    double *hops, *weight; /* of the path to the root, each link by 1 or by its weight */
    uint32_t *node_of;     /* of each leaf */
    uint32_t *logical;     /* the leaf's number in the machine: xy_machine_t.leaf[logical] */
    uint32_t *host;        /* logical number of its node (host); 0 when the machine is one */
    uint32_t *numa;        /* 0, 1, ... along the leaves: which NUMA node of the whole machine */
    uint32_t *physical;    /* the number in the host's operating system */

    /* A torus or mesh of nodes, `dimensions` > 0: above the nodes, distances are those of cells.
     * The tree halves boxes of cells, by one link each time, down to the nodes. */
    xy_grid_t grid;
    uint32_t *cell;                      /* of each leaf */
    uint32_t *box;                       /* of each leaf: the node of the tree that is its cell */
    double step[XY_GRID_DIMENSIONS_MAX]; /* weight of a link along a dimension */
} xy_target_t;

/* Do strategies know how far the nodes of a machine are apart? EUNSUPPORTED, reported: those of a
 * torus or mesh that is a part of a larger network are equally far to them. */
xy_status_t xy_target_check(const xy_machine_t *m);
/* The usable leaves of a machine. EINVAL: nothing is usable. `weights` may be NULL. On success the
 * caller owns *target_p. */
xy_status_t xy_target_create(const xy_machine_t *m, const xy_weights_t *weights,
                             xy_target_t **target_p);
/* `count` (at least 1) processors of this machine by the numbers of the operating system, from
 * /sys: logical[leaf] is a place in `cpus`. Much faster than discovering the whole machine. `cpus`
 * NULL: nothing is known of them, all are equally far from each other. */
xy_status_t xy_target_live(const int *cpus, uint32_t count, xy_target_t **target_p);
/* A processor of some host: what it shares with others there, as numbers that are equal for those
 * who share (package, NUMA node, third and second cache, core). */
enum { XY_TARGET_SHARES = 5 };
typedef struct {
    uint32_t host, cpu;
    uint32_t shares[XY_TARGET_SHARES];
} xy_target_cpu_t;

/* ... of this machine, from /sys; host 0. */
xy_target_cpu_t xy_target_cpu(int cpu);
/* Processors of several hosts, which are levels of one tree: logical[leaf] is a place in `cpus`.
 * One that is named repeatedly has as many leaves. */
xy_status_t xy_target_hosts(const xy_target_cpu_t *cpus, uint32_t count, xy_target_t **target_p);
/* "torus:8x8x8" or "mesh:32x32". Dimension d weighs weights->value[d], 1 by default. */
xy_status_t xy_target_grid(const char *text, const xy_weights_t *weights, xy_target_t **target_p);
/* Is it the text of a grid and of nothing else? */
bool xy_target_is_grid_text(const char *text);
void xy_target_destroy(xy_target_t *t); /* NULL is fine */

/* Between two leaves, O(depth). */
double xy_target_hops(const xy_target_t *t, uint32_t a, uint32_t b);
double xy_target_weighted(const xy_target_t *t, uint32_t a, uint32_t b);

#endif
