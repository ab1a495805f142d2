/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plain loop: what every real run is compared with, bit for bit. One grid of cells in the
 * usual order, one cell after the other, none of the code of the kernels. What it does with a block
 * is in plain_loop.inc, once for each precision.
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

void stencil_plain_copy(const stencil_plain_t *p, int64_t cell, void *grid, void *at, bool is_out)
{
    const stencil_shape_t *h = &p->shape;
    size_t size = stencil_cell_bytes(p->s), bytes = (size_t)h->columns * size;
    char *block = at;
    int64_t o[3];

    stencil_origin(p->s, h, cell, o);
    for (int64_t l = 0; l < h->layers; l++)
        for (int64_t r = 0; r < h->rows; r++, block += bytes) {
            int64_t place = ((o[0] + l) * p->extents[1] + o[1] + r) * p->extents[2] + o[2];
            char *line = (char *)grid + (size_t)place * size;

            memcpy(is_out ? block : line, is_out ? line : block, bytes);
        }
}

void stencil_plain_set(stencil_plain_t *p, int64_t cell, const void *block)
{
    memcpy(p->old, block, p->s->block_bytes);
    for (int i = 0; i < stencil_arrays(p->s); i++)
        stencil_plain_copy(p, cell, p->grid[i], p->old, false);
}

bool stencil_plain_equals(const stencil_plain_t *p, int64_t cell, const void *block)
{
    stencil_plain_copy(p, cell, p->grid[p->result], p->old, true);
    return memcmp(p->old, block, p->s->block_bytes) == 0;
}

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
    for (int i = 0; i < stencil_arrays(s); i++)
        for (int64_t cell = 0; cell < stencil_cells(s); cell++) {
            stencil_fill(s, &p->shape, cell, p->old);
            stencil_plain_copy(p, cell, p->grid[i], p->old, false);
        }
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
    xy_free(p->old);
    xy_free(p);
}

/* ---- The loop ---- */

void stencil_plain_run(stencil_plain_t *p, const xy_graph_t *graph, double until)
{
    bool is_jacobi = p->s->graph == XY_STENCIL_JACOBI;
    stencil_plain_update_fn *update =
        p->s->is_single ? stencil_plain_update_single : stencil_plain_update_double;
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
        change = update(p, stencil_cell(p->s, op->position), p->grid[is_jacobi ? t % 2 : 0],
                        p->grid[is_jacobi ? (t + 1) % 2 : 0]);
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
