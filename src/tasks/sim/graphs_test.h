/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests and benches only: graphs of tasks that are no stencils, final and ready to run.
 *
 *   xy_graph_t *g = task_graph_cholesky(16, 32 << 20, 4e-3);     (NULL: memory ran out)
 */
#ifndef XY_TASKS_SIM_GRAPHS_TEST_H
#define XY_TASKS_SIM_GRAPHS_TEST_H

#include "graph/graph.h"

static inline xy_graph_t *task_graph_finalize(xy_graph_t *g)
{
    if (xy_graph_finalize(g) == XY_OK)
        return g;
    xy_graph_destroy(g);
    return NULL;
}

static inline void task_graph_add(xy_graph_t *g, double seconds, int priority, const xy_access_t *a,
                                  int n)
{
    xy_graph_add_task(
        g, &(xy_op_t){.kind = XY_OP_COMPUTE, .seconds = seconds, .priority = priority}, a, n);
}

/* One step of a factorisation: the column below tile k, then all tiles to the right of it. */
static inline void task_graph_cholesky_step(xy_graph_t *g, int tiles, int k, double seconds)
{
    int left = 3 * (tiles - k);

#define TILE(i, j) ((i) * ((i) + 1) / 2 + (j))
    task_graph_add(g, seconds / 3, left, (xy_access_t[]){{TILE(k, k), XY_ACCESS_READ_WRITE}}, 1);
    for (int i = k + 1; i < tiles; i++)
        task_graph_add(
            g, seconds / 2, left - i,
            (xy_access_t[]){{TILE(k, k), XY_ACCESS_READ}, {TILE(i, k), XY_ACCESS_READ_WRITE}}, 2);
    for (int i = k + 1; i < tiles; i++) {
        task_graph_add(
            g, seconds / 2, left - i,
            (xy_access_t[]){{TILE(i, i), XY_ACCESS_READ_WRITE}, {TILE(i, k), XY_ACCESS_READ}}, 2);
        for (int j = k + 1; j < i; j++)
            task_graph_add(g, seconds, left - i - j,
                           (xy_access_t[]){{TILE(i, j), XY_ACCESS_READ_WRITE},
                                           {TILE(i, k), XY_ACCESS_READ},
                                           {TILE(j, k), XY_ACCESS_READ}},
                           3);
    }
#undef TILE
}

/* Cholesky factorisation of tiles x tiles tiles; an update takes `seconds`. */
static inline xy_graph_t *task_graph_cholesky(int tiles, uint64_t bytes, double seconds)
{
    xy_graph_t *g;

    if (xy_graph_create(&g) != XY_OK)
        return NULL;
    for (int i = 0; i < tiles * (tiles + 1) / 2; i++)
        xy_graph_add_data(g, &(xy_data_t){.bytes = bytes, .position = {-1, 0, 0}});
    for (int k = 0; k < tiles; k++)
        task_graph_cholesky_step(g, tiles, k, seconds);
    return task_graph_finalize(g);
}

/* C = A * B of tiles x tiles tiles, one tile of C after the other. */
static inline xy_graph_t *task_graph_product(int tiles, uint64_t bytes, double seconds)
{
    int n = tiles * tiles;
    xy_graph_t *g;

    if (xy_graph_create(&g) != XY_OK)
        return NULL;
    for (int i = 0; i < 3 * n; i++)
        xy_graph_add_data(g, &(xy_data_t){.bytes = bytes, .position = {-1, 0, 0}});
    for (int i = 0; i < tiles; i++)
        for (int j = 0; j < tiles; j++) {
            int32_t c = i * tiles + j;

            task_graph_add(g, seconds / 20, 0, (xy_access_t[]){{c, XY_ACCESS_WRITE}}, 1);
            for (int k = 0; k < tiles; k++)
                task_graph_add(g, seconds, 0,
                               (xy_access_t[]){{c, XY_ACCESS_READ_WRITE},
                                               {n + i * tiles + k, XY_ACCESS_READ},
                                               {2 * n + k * tiles + j, XY_ACCESS_READ}},
                               3);
        }
    return task_graph_finalize(g);
}

#endif
