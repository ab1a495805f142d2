/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids of blocks into graphs of tasks. */
#include "stencil/internal.h"

#include <math.h>

#include "tasks/device/device.h"

enum { TASKS_MAX = 30000000 }; /* a graph of more takes more than 10 GiB */

static const int8_t offsets3[][3] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}};
static const int8_t offsets5[][3] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}};
static const int8_t offsets9[][3] = {{0, 0, 0},   {-1, 0, 0}, {1, 0, 0},  {0, -1, 0}, {0, 1, 0},
                                     {-1, -1, 0}, {-1, 1, 0}, {1, -1, 0}, {1, 1, 0}};
static const int8_t offsets7[][3] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                                     {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};

const int8_t (*stencil_offsets(int points))[3]
{
    switch (points) {
    case 3:
        return offsets3;
    case 5:
        return offsets5;
    case 9:
        return offsets9;
    default:
        return offsets7;
    }
}

double xy_stencil_seconds(const xy_stencil_t *s, int64_t x, int iteration)
{
    int64_t n = s->blocks[0];
    bool is_late = iteration >= s->iterations / 2;

    switch (s->load) {
    case XY_STENCIL_STATIC:
        return x < n / 2 ? s->task_seconds / 2 : s->task_seconds;
    case XY_STENCIL_DYNAMIC: {
        int64_t first = is_late ? n / 2 : n / 4;

        return x >= first && x < first + n / 4 ? s->task_seconds * 2 : s->task_seconds;
    }
    case XY_STENCIL_FILE: {
        int64_t row = (int64_t)iteration * s->factor_rows / s->iterations;

        return s->task_seconds * s->factors[row * s->factor_columns + x * s->factor_columns / n];
    }
    default:
        return s->task_seconds;
    }
}

int64_t stencil_cell(const xy_stencil_t *s, const int64_t x[3])
{
    return (x[0] * s->blocks[1] + x[1]) * s->blocks[2] + x[2];
}

int64_t stencil_cells(const xy_stencil_t *s)
{
    return s->blocks[0] * s->blocks[1] * s->blocks[2];
}

bool stencil_has(const xy_stencil_t *s, const int64_t x[3])
{
    for (int d = 0; d < 3; d++)
        if (x[d] < 0 || x[d] >= s->blocks[d])
            return false;
    return true;
}

int stencil_arrays(const xy_stencil_t *s)
{
    return s->graph == XY_STENCIL_JACOBI ? 2 : 1;
}

/* There is a kernel for tasks of 5 points that do nothing but update a block. */
int stencil_batch(const xy_stencil_t *s)
{
    return s->points == 5 && s->own == NULL && s->load == XY_STENCIL_EVEN && s->check_every == 0
               ? XY_TASK_BATCH_MAX
               : 0;
}

uint64_t stencil_exchange(const xy_stencil_t *s)
{
    return s->graph == XY_STENCIL_JACOBI ? 0 : s->block_bytes;
}

/* Adds the update of a block in iteration `t`, with its accesses to the neighbours. */
static void add_task(stencil_grid_t *g, const int64_t x[3], int t)
{
    const xy_stencil_t *s = g->s;
    const int8_t(*offset)[3] = stencil_offsets(s->points);
    bool is_jacobi = s->graph == XY_STENCIL_JACOBI;
    int64_t cell = stencil_cell(s, x);
    xy_access_t accesses[STENCIL_AROUND_MAX + 1 + STENCIL_CHECK_ACCESSES];
    xy_op_t op = {.kind = XY_OP_COMPUTE,
                  .priority = t,
                  .seconds = xy_stencil_seconds(s, x[0], t),
                  .iteration = t,
                  .position = {x[0], x[1], x[2]}};
    int n = 0;

    for (int i = 0; i < s->points; i++) {
        int64_t y[3] = {x[0] + offset[i][0], x[1] + offset[i][1], x[2] + offset[i][2]};

        if (!stencil_has(s, y))
            continue;
        accesses[n].data = g->base[is_jacobi ? t % 2 : 0] + (int32_t)stencil_cell(s, y);
        accesses[n++].mode = i == 0 && !is_jacobi ? XY_ACCESS_READ_WRITE : XY_ACCESS_READ;
    }
    if (is_jacobi)
        accesses[n++] =
            (xy_access_t){g->base[(t + 1) % 2] + (int32_t)cell,
                          stencil_is_reading_back(s) ? XY_ACCESS_READ_WRITE : XY_ACCESS_WRITE};
    n += stencil_checks_access(g, cell, t, accesses + n);
    xy_graph_add_task(g->graph, &op, accesses, n);
}

/* One iteration of the blocks x0 .. x1 - 1 of the first dimension, of one colour (-1: all). */
static void add_rows(stencil_grid_t *g, int64_t x0, int64_t x1, int step, int colour, int t)
{
    const xy_stencil_t *s = g->s;
    int64_t low[3], high[3], x[3];

    for (int d = 0; d < 3; d++) {
        low[d] = s->blocks[d] > 1 ? 1 : 0;
        high[d] = s->blocks[d] > 1 ? s->blocks[d] - 1 : 1;
    }
    for (int64_t i = 0; i < x1 - x0; i++) {
        x[0] = step > 0 ? x0 + i : x1 - 1 - i;
        for (x[1] = low[1]; x[1] < high[1]; x[1]++)
            for (x[2] = low[2]; x[2] < high[2]; x[2]++)
                if (colour < 0 || (x[0] + x[1] + x[2]) % 2 == colour)
                    add_task(g, x, t);
    }
}

/* Adds the tasks of one iteration in the order of the graph. */
static void add_iteration(stencil_grid_t *g, int t)
{
    const xy_stencil_t *s = g->s;
    int64_t n = s->blocks[0];
    const int64_t *cuts = g->cuts + xy_task_slice(t, s->iterations) * ((int64_t)g->parts + 1);

    if (s->graph == XY_STENCIL_RED_BLACK) {
        add_rows(g, 1, n - 1, 1, 0, t);
        add_rows(g, 1, n - 1, 1, 1, t);
    } else if (s->graph == XY_STENCIL_JACOBI) {
        add_rows(g, 1, n - 1, 1, -1, t);
    } else {
        for (int p = 0; p < g->parts; p++)
            add_rows(g, 1 + cuts[p], 1 + cuts[p + 1], p % 2 == 0 ? 1 : -1, -1, t);
    }
    stencil_checks_add(g, t);
}

/* Adds the blocks of all arrays as data with positions. */
static void add_data(stencil_grid_t *g)
{
    const xy_stencil_t *s = g->s;

    for (int array = 0; array < stencil_arrays(s); array++) {
        g->base[array] = xy_graph_data_count(g->graph);
        for (int64_t i = 0; i < g->cells; i++) {
            int64_t rest = i / s->blocks[2];

            xy_graph_add_data(
                g->graph, &(xy_data_t){.bytes = s->block_bytes,
                                       .is_scrap = stencil_arrays(s) == 2 && s->check_every == 0 &&
                                                   array != s->iterations % 2,
                                       .position = {rest / s->blocks[1], rest % s->blocks[1],
                                                    i % s->blocks[2]}});
        }
    }
}

/* Cuts the rows into parts of equal work. */
static xy_status_t cut(stencil_grid_t *g)
{
    const xy_stencil_t *s = g->s;
    int64_t n = s->blocks[0] - 2;
    double *work = xy_calloc(XY_TASK_SLICES * (size_t)n + 1, sizeof(*work));
    double *speed = xy_calloc((size_t)g->parts, sizeof(*speed));

    g->cuts = xy_calloc(XY_TASK_SLICES * ((size_t)g->parts + 1), sizeof(*g->cuts));
    if (work == NULL || speed == NULL || g->cuts == NULL) {
        xy_free(work);
        xy_free(speed);
        return xy_fail_memory("cutting the grid");
    }
    for (int t = 0; t < s->iterations; t++)
        for (int64_t x = 0; x < n; x++)
            work[xy_task_slice(t, s->iterations) * n + x] += xy_stencil_seconds(s, x + 1, t);
    for (int p = 0; p < g->parts; p++)
        speed[p] = 1;
    xy_task_cut_slices(s->is_proportional ? work : NULL, n, speed, g->parts, g->cuts);
    xy_free(work);
    xy_free(speed);
    return XY_OK;
}

/* Checks dimensions, points, sizes and the total number of tasks. */
static xy_status_t check(const xy_stencil_t *s)
{
    static const int points_of[4][2] = {{0, 0}, {3, 3}, {5, 9}, {7, 7}};
    double tasks = s->iterations;

    if (s->dims < 1 || s->dims > 3)
        return xy_fail(XY_EINVAL, "a grid has 1, 2 or 3 dimensions, not %d", s->dims);
    if (s->points != points_of[s->dims][0] && s->points != points_of[s->dims][1])
        return xy_fail(XY_EINVAL,
                       "a stencil of %d points does not exist in %d dimensions; known "
                       "are 3 in 1D, 5 and 9 in 2D, 7 in 3D",
                       s->points, s->dims);
    if (s->iterations < 1 || s->block_bytes == 0 || !(s->task_seconds >= 0))
        return xy_fail(XY_EINVAL, "a stencil needs at least 1 iteration, blocks of at least 1 byte "
                                  "and a time per task");
    for (int d = 0; d < 3; d++) {
        bool is_one = s->blocks[d] == 1 && d > 0;

        if (!is_one && (s->blocks[d] < 3 || d >= s->dims))
            return xy_fail(XY_EINVAL,
                           "dimension %d has %lld blocks; at least 3 are needed, as those at the "
                           "ends are never written (or 1, behind the first dimension, for blocks "
                           "that reach from end to end)",
                           d + 1, (long long)s->blocks[d]);
        tasks *= (double)s->blocks[d];
    }
    if (tasks > TASKS_MAX) {
        char time[32];

        return xy_fail(XY_ELIMIT,
                       "the stencil has %.3g tasks, and runs have at most %.3g; one worker takes "
                       "at least %s for them, more take their share; give fewer blocks or "
                       "iterations",
                       tasks, (double)TASKS_MAX, xy_format_seconds(tasks * s->task_seconds, time));
    }
    return XY_OK;
}

xy_status_t xy_stencil_build(const xy_stencil_t *stencil, xy_graph_t **graph_p)
{
    stencil_grid_t g = {.s = stencil, .parts = stencil->parts > 0 ? stencil->parts : 1};
    xy_status_t st = check(stencil);

    if (st != XY_OK)
        return st;
    g.cells = stencil_cells(stencil);
    st = cut(&g);
    if (st == XY_OK)
        st = xy_graph_create(&g.graph);
    if (st == XY_OK) {
        add_data(&g);
        st = stencil_checks_data(&g);
    }
    if (st == XY_OK) {
        for (int t = 0; t < stencil->iterations; t++)
            add_iteration(&g, t);
        st = xy_graph_finalize(g.graph);
    }
    xy_free(g.cuts);
    xy_free(g.nodes);
    if (st == XY_OK)
        *graph_p = g.graph;
    else
        xy_graph_destroy(g.graph);
    return st;
}

enum { TRIAL_TASKS = 40000, TRIAL_ROWS = 64, TRIAL_ITERATIONS = 16 };

static int64_t written_blocks(const xy_stencil_t *s)
{
    int64_t count = 1;

    for (int d = 0; d < 3; d++)
        count *= s->blocks[d] > 2 ? s->blocks[d] - 2 : 1;
    return count;
}

/* From the main memory to all others, where some share a link. */
static double rate_of(const xy_task_platform_t *p)
{
    double rate = 0;

    for (int32_t m = 1; m < p->memories; m++)
        rate += p->shared[m] < 0 ? p->rate[m] : 0;
    for (int32_t i = 0; i < p->shared_count; i++) {
        double sum = 0;

        for (int32_t m = 1; m < p->memories; m++)
            sum += p->shared[m] == i ? p->rate[m] : 0;
        rate += fmin(sum, p->shared_rate[i]);
    }
    return rate;
}

/* About what a good schedule takes: its tasks are shared evenly, and rows of blocks come and go as
 * those of a window in one memory that slides over the domain (bound.c). */
double stencil_expected_seconds(const xy_stencil_t *s, const xy_task_platform_t *p,
                                const xy_task_ahead_t *ahead)
{
    double tasks = (double)written_blocks(s) * s->iterations, task = s->task_seconds;
    uint64_t row = s->block_bytes * (uint64_t)(s->blocks[1] * s->blocks[2] * stencil_arrays(s));
    xy_stencil_t rows = *s;
    double speed = 0, rate = rate_of(p), room = 0, moved;

    rows.dims = 1;
    rows.graph = s->graph == XY_STENCIL_JACOBI ? XY_STENCIL_NATURAL : s->graph;
    if (ahead->batch > 1)
        task -= ahead->once * (1 - 1.0 / ahead->batch);
    for (int32_t w = 0; w < p->workers; w++)
        speed += p->speed[w];
    for (int32_t m = 1; m < p->memories; m++)
        room = fmax(room, floor((double)p->capacity[m] / (double)row));
    if (p->capacity[1] == 0 || room > (double)s->blocks[0]) /* 0: no limit */
        room = (double)s->blocks[0];
    moved = (double)xy_stencil_window_volume(&rows, (uint64_t)fmax(room, 3)) / 2 * (double)row;
    return fmax(speed > 0 ? tasks * task / speed : 0, rate > 0 ? moved / rate : 0);
}

/* A window over a domain with two arrays moves by its own width at least: as many blocks as all
 * memories hold, and some more. */
xy_status_t stencil_build_trial(const xy_stencil_t *s, const xy_task_platform_t *p,
                                xy_graph_t **graph_p)
{
    uint64_t held = p->capacity[1] / s->block_bytes * (uint64_t)p->workers;
    int64_t rows = (int64_t)(held / (uint64_t)(s->blocks[1] * s->blocks[2])) + TRIAL_ROWS;
    xy_stencil_t trial = *s;
    int64_t most;

    *graph_p = NULL;
    if (stencil_cells(s) * s->iterations <= TRIAL_TASKS)
        return XY_OK;
    if (rows < s->blocks[0])
        trial.blocks[0] = rows;
    most = TRIAL_TASKS / stencil_cells(&trial);
    most = most > TRIAL_ITERATIONS ? most : TRIAL_ITERATIONS;
    if (trial.iterations > most)
        trial.iterations = (int)most;
    trial.check_every = 0;
    return xy_stencil_build(&trial, graph_p);
}
