/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plain loop: what every real run is compared with, bit for bit. One grid of cells in the
 * usual order, one block after the other, none of the code of the kernels. Cells of a block do not
 * depend on each other, so that several threads update a large one. What they do with a piece of a
 * row is in plain_loop.inc, once for each precision.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stencil/internal.h"

xy_status_t stencil_open_nameless(const char *directory, size_t bytes, const char *who,
                                  const char *hint, int *fd_p)
{
    char *path = xy_sprintf("%s/stencil.XXXXXX", directory), need[32];
    int fd, err;

    if (path == NULL)
        return xy_fail_memory("making a file");
    fd = mkostemp(path, O_CLOEXEC);
    err = errno;
    if (fd >= 0)
        unlink(path);
    xy_free(path);
    if (fd < 0)
        return xy_fail_errno(err, directory, "create a file in it");
    *fd_p = fd;
    err = posix_fallocate(fd, 0, (off_t)bytes);
    if (err != 0)
        return xy_fail(XY_EIO, "not enough space for %s of %s in %s: %s%s",
                       xy_format_size(bytes, need), who, directory, strerror(err), hint);
    return XY_OK;
}

/* Maps the grids of the plain loop, in memory or in a nameless file of `directory`. */
static xy_status_t map_grids(stencil_plain_t *p, const char *directory)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE),
           bytes = (size_t)p->count * stencil_cell_bytes(p->s);
    size_t step = (bytes + page - 1) / page * page;
    int arrays = stencil_arrays(p->s);

    if (directory != NULL) {
        xy_status_t st = stencil_open_nameless(directory, step * (size_t)arrays, "the plain loop",
                                               "; --no-check runs without it", &p->fd);

        if (st != XY_OK)
            return st;
    }
    for (int i = 0; i < arrays; i++) {
        void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        p->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, p->fd,
                        p->fd >= 0 ? (off_t)(step * (size_t)i) : 0);

        if (at == MAP_FAILED)
            return xy_fail_memory("running the plain loop (see --no-check)");
        p->grid[i] = at;
    }
    return XY_OK;
}

/* ---- Loops over the pieces of a block, on several cores ---- */

enum { ALONE = 1 << 16 /* cells */ };

typedef struct {
    stencil_plain_t *p;
    int64_t origin[3];
    void *grid, *to; /* to: of an update */
    char *block;
    int iteration;
    bool is_out, is_measured;
} loop_t;

static double run_loop(const stencil_plain_t *p, stencil_crew_fn *turn, loop_t *loop)
{
    int64_t cells = p->shape.layers * p->shape.rows * p->shape.columns;

    return stencil_crew_run(cells > ALONE ? p->crew : NULL, turn, loop, stencil_pieces(&p->shape));
}

static loop_t loop_of(const stencil_plain_t *p, int64_t cell, void *grid, const void *block)
{
    loop_t loop = {.grid = grid};

    memcpy(&loop.p, &p, sizeof(p)); /* the loop may only read one of them */
    memcpy(&loop.block, &block, sizeof(block));
    stencil_origin(p->s, &p->shape, cell, loop.origin);
    return loop;
}

/* Where a piece lies in the grid. */
static char *in_grid(const loop_t *loop, const stencil_piece_t *piece)
{
    return (char *)loop->grid + (size_t)stencil_piece_place(loop->p->extents, loop->origin, piece) *
                                    stencil_cell_bytes(loop->p->s);
}

/* Copies pieces [from, to) between the grid and a block. */
static double copy_pieces(void *arg, int64_t from, int64_t to)
{
    const loop_t *loop = arg;
    size_t size = stencil_cell_bytes(loop->p->s);

    for (int64_t i = from; i < to; i++) {
        stencil_piece_t piece = stencil_piece(&loop->p->shape, i);
        char *line = in_grid(loop, &piece), *block = loop->block + (size_t)piece.at * size;

        memcpy(loop->is_out ? block : line, loop->is_out ? line : block,
               (size_t)piece.count * size);
    }
    return 0;
}

/* Returns 1 if any of the pieces [from, to) differs from the block, else 0. */
static double compare_pieces(void *arg, int64_t from, int64_t to)
{
    const loop_t *loop = arg;
    size_t size = stencil_cell_bytes(loop->p->s);

    for (int64_t i = from; i < to; i++) {
        stencil_piece_t piece = stencil_piece(&loop->p->shape, i);

        if (memcmp(in_grid(loop, &piece), loop->block + (size_t)piece.at * size,
                   (size_t)piece.count * size) != 0)
            return 1;
    }
    return 0;
}

/* Updates pieces [from, to) of a block; returns the largest change. */
static double update_pieces(void *arg, int64_t from, int64_t to)
{
    const loop_t *loop = arg;
    stencil_plain_update_fn *update =
        loop->p->s->is_single ? stencil_plain_update_single : stencil_plain_update_double;
    double most = 0;

    for (int64_t i = from; i < to; i++) {
        stencil_piece_t piece = stencil_piece(&loop->p->shape, i);
        double change = update(loop->p, loop->origin, &piece, loop->grid, loop->to, loop->iteration,
                               loop->is_measured);

        most = change > most ? change : most;
    }
    return most;
}

/* The whole grid, whose places are its cells: in turn of so many. */
enum { FILLED = 1 << 16 };

/* Fills ranges [from, to) of the grids with their first values. */
static double fill_places(void *arg, int64_t from, int64_t to)
{
    const stencil_plain_t *p = arg;

    for (int64_t i = from; i < to; i++)
        for (int k = 0; k < stencil_arrays(p->s); k++) {
            int64_t left = p->count - i * FILLED;

            stencil_fill_places(p->s, k, i * FILLED, left < FILLED ? left : FILLED,
                                (char *)p->grid[k] +
                                    (size_t)(i * FILLED) * stencil_cell_bytes(p->s));
        }
    return 0;
}

static void copy_block(const stencil_plain_t *p, int64_t cell, void *grid, void *block, bool is_out)
{
    loop_t loop = loop_of(p, cell, grid, block);

    loop.is_out = is_out;
    (void)run_loop(p, copy_pieces, &loop);
}

static double update_block(stencil_plain_t *p, int64_t cell, int iteration, void *from, void *to)
{
    loop_t loop = loop_of(p, cell, from, NULL);

    if (from == to)
        copy_block(p, cell, from, p->old, true);
    loop.to = to;
    loop.iteration = iteration;
    loop.is_measured = stencil_is_checked(p->s, iteration);
    return run_loop(p, update_pieces, &loop);
}

void stencil_plain_set(stencil_plain_t *p, int64_t cell, const void *block)
{
    memcpy(p->old, block, p->s->block_bytes);
    for (int i = 0; i < stencil_arrays(p->s); i++)
        copy_block(p, cell, p->grid[i], p->old, false);
}

bool stencil_plain_equals(const stencil_plain_t *p, int64_t cell, const void *block)
{
    loop_t loop = loop_of(p, cell, p->grid[p->result], block);

    return run_loop(p, compare_pieces, &loop) == 0;
}

/* ---- Making and unmaking ---- */

xy_status_t stencil_plain_create(const xy_stencil_t *s, const char *directory,
                                 stencil_plain_t **plain_p)
{
    stencil_plain_t *p = xy_calloc(1, sizeof(*p));
    xy_stencil_t copy = *s;
    xy_status_t st;

    if (p == NULL)
        return xy_fail_memory("running the plain loop");
    p->s = s;
    p->fd = -1;
    st = stencil_shape(&copy, &p->shape);
    stencil_extents(s, &p->shape, p->extents);
    p->count = p->extents[0] * p->extents[1] * p->extents[2];
    p->old = xy_malloc(s->block_bytes);
    if (st == XY_OK && p->old == NULL)
        st = xy_fail_memory("running the plain loop");
    if (st == XY_OK)
        st = map_grids(p, directory);
    if (st != XY_OK) {
        stencil_plain_destroy(p);
        return st;
    }
    if (p->count > ALONE)
        p->crew = stencil_crew_create();
    (void)stencil_crew_run(p->crew, fill_places, p, (p->count + FILLED - 1) / FILLED);
    *plain_p = p;
    return XY_OK;
}

void stencil_plain_destroy(stencil_plain_t *p)
{
    if (p == NULL)
        return;
    for (int i = 0; i < 2; i++)
        if (p->grid[i] != NULL)
            munmap(p->grid[i], (size_t)p->count * stencil_cell_bytes(p->s));
    if (p->fd >= 0)
        close(p->fd);
    stencil_crew_destroy(p->crew);
    xy_free(p->old);
    xy_free(p);
}

/* ---- The loop ---- */

void stencil_plain_run(stencil_plain_t *p, const xy_graph_t *graph, double until)
{
    bool is_jacobi = p->s->graph == XY_STENCIL_JACOBI;
    double most = 0;

    for (xy_op_id_t i = 0; i < xy_graph_ops(graph); i++) {
        const xy_op_t *op = xy_graph_op(graph, i);
        int t = op->iteration;
        double change;

        if (op->level != STENCIL_UPDATE)
            continue;
        if (t == p->iterations) { /* the first block of an iteration: what did the last one? */
            if (t > 0 && stencil_is_checked(p->s, t - 1))
                p->residual = most;
            if (t > 0 && stencil_is_checked(p->s, t - 1) && most <= until) {
                p->is_converged = true;
                return;
            }
            p->iterations++;
            most = 0;
        }
        change = update_block(p, stencil_cell(p->s, op->position), t,
                              p->grid[is_jacobi ? t % 2 : 0], p->grid[is_jacobi ? (t + 1) % 2 : 0]);
        most = change > most ? change : most;
        p->result = is_jacobi ? (t + 1) % 2 : 0;
    }
    if (stencil_is_checked(p->s, p->iterations - 1)) {
        p->residual = most;
        p->is_converged = most <= until;
    }
}

xy_status_t stencil_plain_foresee(xy_stencil_t *s, double until, xy_stencil_result_t *result)
{
    stencil_plain_t *plain;
    stencil_shape_t shape;
    xy_graph_t *graph;
    xy_status_t st = stencil_shape(s, &shape);

    if (st == XY_OK)
        st = xy_stencil_build(s, &graph);
    if (st != XY_OK)
        return st;
    st = stencil_plain_create(s, NULL, &plain);
    if (st == XY_OK) {
        stencil_plain_run(plain, graph, until);
        s->iterations = plain->iterations;
        result->is_converged = plain->is_converged;
        result->residual = plain->residual;
        stencil_plain_destroy(plain);
    }
    xy_graph_destroy(graph);
    return st;
}
