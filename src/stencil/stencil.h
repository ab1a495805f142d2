/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stencils as task graphs: each cell of a grid is updated from its neighbours, many times. Cells
 * are grouped in blocks; a task is one block of one iteration.
 *
 *   xy_stencil_t s = XY_STENCIL_DEFAULT;              (1D, red-black, blocks of 3 MiB)
 *   s.blocks[0] = 366;
 *   xy_stencil_build(&s, &graph);
 *
 * The blocks at the ends of the grid are read and never written. Tasks and data carry their
 * position and iteration, and the iteration is the priority.
 */
#ifndef XY_STENCIL_STENCIL_H
#define XY_STENCIL_STENCIL_H

#include <stdio.h>

#include "graph/graph.h"
#include "sim/sim.h"

typedef enum {
    XY_STENCIL_RED_BLACK, /* in place, even blocks before odd ones */
    XY_STENCIL_NATURAL,   /* in place, from left to right in even parts, back in odd ones */
    XY_STENCIL_JACOBI,    /* from one array to another and back */
} xy_stencil_graph_t;

typedef enum {
    XY_STENCIL_EVEN,
    XY_STENCIL_STATIC,  /* the first half of the domain takes half the time */
    XY_STENCIL_DYNAMIC, /* a quarter takes twice the time; it moves to the other half at half time
                         */
    XY_STENCIL_FILE,    /* factors from a file */
} xy_stencil_load_t;

typedef struct {
    int dims;          /* 1, 2, 3 */
    int points;        /* 3, 5 or 9, 7 */
    int64_t blocks[3]; /* 1 in dimensions beyond dims */
    int iterations;
    xy_stencil_graph_t graph;
    uint64_t block_bytes;
    double task_seconds;
    xy_stencil_load_t load;
    const double *factors; /* XY_STENCIL_FILE: [factor_rows][factor_columns] */
    int64_t factor_rows, factor_columns;
    int parts;            /* of natural order; 0 is 1 */
    bool is_proportional; /* its parts are cut in proportion to the work */
} xy_stencil_t;

#define XY_STENCIL_DEFAULT                                                                         \
    ((xy_stencil_t){.dims = 1,                                                                     \
                    .points = 3,                                                                   \
                    .blocks = {366, 1, 1},                                                         \
                    .iterations = 100,                                                             \
                    .block_bytes = 3 << 20,                                                        \
                    .task_seconds = 267e-6})

/* The caller owns *graph_p, which is sealed. XY_EINVAL, XY_ELIMIT: the description makes no sense
 * or has more than 2^30 tasks (said). */
xy_status_t xy_stencil_build(const xy_stencil_t *stencil, xy_graph_t **graph_p);

/* The seconds that a task takes. */
double xy_stencil_seconds(const xy_stencil_t *s, int64_t x, int iteration);

/* Factors of the load from a text file: one line per step of the load, with one number per stretch
 * of the first dimension; lines and numbers are stretched over iterations and blocks. '#' begins a
 * comment. The caller frees s->factors. */
xy_status_t xy_stencil_read_load(const char *path, xy_stencil_t *s);

/* ---- Bounds ---- */

/* Loads plus stores, the last ones included, of the best schedule known on one memory of `room`
 * blocks (exact for 1D red-black; the formulas are in docs/stencil.md); 0: not known. */
uint64_t xy_stencil_least_volume(const xy_stencil_t *s, uint64_t room);

#endif
