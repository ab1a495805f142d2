/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Convergence as tasks, without a barrier.
 *
 * Every K iterations each task also writes how much its block changed, and a snapshot of the block.
 * A tree of small tasks finds the largest change, and its root decides. Meanwhile the blocks
 * continue: only the tasks that come K iterations later wait for the decision. If it says stop, the
 * result is the snapshot, and what was begun since then was in vain:
 *
 *   iteration   ...  cK        cK+1 ... (c+1)K        (c+1)K+1 ...
 *   blocks      ...  snapshot  continue                  wait for decision c
 *   tree              \ residuals -> ... -> decision c /
 *
 * Of snapshots and residuals there are two sets: check c + 1 may write before decision c is made,
 * check c + 2 may not.
 */
#include "stencil/internal.h"

enum { RESIDUAL_BYTES = sizeof(double) };

static const double TREE_SECONDS = 1e-6; /* a handful of comparisons */

bool stencil_is_checked(const xy_stencil_t *s, int t)
{
    return s->check_every > 0 && (t + 1) % s->check_every == 0;
}

int stencil_parity(const xy_stencil_t *s, int t)
{
    return (t + 1) / s->check_every % 2;
}

bool stencil_is_deciding(const xy_stencil_t *s, int t)
{
    return s->check_every > 0 && t % s->check_every == 0 && t / s->check_every >= 2;
}

bool stencil_is_written(const xy_stencil_t *s, int64_t cell)
{
    int64_t x[3] = {cell / s->blocks[2] / s->blocks[1], cell / s->blocks[2] % s->blocks[1],
                    cell % s->blocks[2]};

    for (int d = 0; d < 3; d++)
        if (s->blocks[d] > 1 && (x[d] == 0 || x[d] == s->blocks[d] - 1))
            return false;
    return true;
}

static int32_t add_data(stencil_grid_t *g, int64_t count, uint64_t bytes)
{
    int32_t first = xy_graph_data_count(g->graph);

    for (int64_t i = 0; i < count; i++)
        xy_graph_add_data(g->graph, &(xy_data_t){.bytes = bytes, .position = {-1, -1, -1}});
    return first;
}

xy_status_t stencil_checks_data(stencil_grid_t *g)
{
    const xy_stencil_t *s = g->s;

    if (s->check_every == 0)
        return XY_OK;
    g->nodes = xy_malloc((size_t)g->cells * sizeof(*g->nodes));
    if (g->nodes == NULL)
        return xy_fail_memory("preparing the checks of convergence");
    for (int i = 0; i < 2; i++)
        g->snapshot[i] = add_data(g, g->cells, s->block_bytes);
    for (int i = 0; i < 2; i++) {
        g->residual[i] = add_data(g, g->cells, RESIDUAL_BYTES);
        /* Inner nodes: a seventh of the leaves and one per level more, at most. */
        g->partial[i] = add_data(g, g->cells / (STENCIL_FAN - 1) + 32, RESIDUAL_BYTES);
    }
    g->decision = add_data(g, s->iterations / s->check_every, RESIDUAL_BYTES);
    return XY_OK;
}

int stencil_checks_access(const stencil_grid_t *g, int64_t cell, int t, xy_access_t *accesses)
{
    const xy_stencil_t *s = g->s;
    int n = 0, k = s->check_every;

    if (k == 0)
        return 0;
    if (stencil_is_deciding(s, t))
        accesses[n++] = (xy_access_t){g->decision + t / k - 2, XY_ACCESS_READ};
    if (stencil_is_checked(s, t)) {
        int side = stencil_parity(s, t);

        accesses[n++] = (xy_access_t){g->snapshot[side] + (int32_t)cell, XY_ACCESS_WRITE};
        accesses[n++] = (xy_access_t){g->residual[side] + (int32_t)cell, XY_ACCESS_WRITE};
    }
    return n;
}

/* Adds a task that reduces `count` changes to their maximum, or decides whether to stop. */
static void add_node(stencil_grid_t *g, int t, int kind, int32_t first, int32_t count, int32_t to)
{
    xy_access_t accesses[STENCIL_FAN + 2];
    xy_op_t op = {.kind = XY_OP_COMPUTE,
                  .level = kind,
                  .priority = t + 1,
                  .seconds = TREE_SECONDS,
                  .iteration = t,
                  .position = {-1, -1, -1}};

    for (int32_t i = 0; i < count; i++)
        accesses[i] = (xy_access_t){g->nodes[first + i], XY_ACCESS_READ};
    /* Decisions in order: the first one that says stop counts. */
    if (kind == STENCIL_DECIDE && to > g->decision)
        accesses[count++] = (xy_access_t){to - 1, XY_ACCESS_READ};
    accesses[count++] = (xy_access_t){to, XY_ACCESS_WRITE};
    xy_graph_add_task(g->graph, &op, accesses, count);
}

void stencil_checks_add(stencil_grid_t *g, int t)
{
    const xy_stencil_t *s = g->s;
    int32_t count = 0, partial;

    if (!stencil_is_checked(s, t))
        return;
    for (int64_t cell = 0; cell < g->cells; cell++)
        if (stencil_is_written(s, cell))
            g->nodes[count++] = g->residual[stencil_parity(s, t)] + (int32_t)cell;
    partial = g->partial[stencil_parity(s, t)];
    while (count > STENCIL_FAN) {
        int32_t made = 0;

        for (int32_t first = 0; first < count; first += STENCIL_FAN) {
            int32_t n = count - first < STENCIL_FAN ? count - first : STENCIL_FAN;

            add_node(g, t, STENCIL_REDUCE, first, n, partial);
            g->nodes[made++] = partial++;
        }
        count = made;
    }
    add_node(g, t, STENCIL_DECIDE, 0, count, g->decision + (t + 1) / s->check_every - 1);
}
