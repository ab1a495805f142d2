/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user's own stencil: a text with one function that computes a cell from those around it. The
 * same text is compiled for cores by the compiler of the system, for the plain loop, and for GPUs.
 *
 *   st = stencil_own_load(path, &grid, is_on_gpus, &own);
 *   own->update(around, origin, t, 0, rows, out);
 *   text = stencil_own_gpu_text(own, &grid, is_wide);
 *   stencil_own_destroy(own);
 *
 * Blocks, iterations and extents are constants of the compiled text, so it belongs to one grid.
 */
#ifndef XY_STENCIL_OWN_H
#define XY_STENCIL_OWN_H

#include <stdatomic.h>

#include "stencil/internal.h"

/* XY_RADIUS is this at most. */
enum { STENCIL_OWN_RADIUS_MAX = 16 };

/* Rows first .. last - 1 of a block whose first cell is at `origin`, into `out`. Blocks around are
 * those of stencil_around_t. */
typedef void stencil_own_update_fn(const void *const *around, const long *origin, long iteration,
                                   long first, long last, void *out);
/* `count` cells from `at` on, of the whole grid `from`; `old` is the block at `origin` as it was,
 * or NULL. wrong[0] is set to 1 by a read that is not allowed, and its offset follows. `from` NULL:
 * nothing is read and nothing is written. */
typedef void stencil_own_plain_fn(const long *at, long count, const long *origin, const void *from,
                                  const void *old, void *out, long iteration, long *wrong);
/* First values of `count` cells, the first of them number `place` of the grid; level 0, or -1 for
 * those of the iteration before. */
typedef void stencil_own_first_fn(long place, long count, int level, void *out);

typedef struct stencil_own {
    const char *path;
    char *text;     /* for GPUs */
    uint64_t print; /* of both texts */
    void *object;
    int radius, levels;
    stencil_own_update_fn *update;
    stencil_own_plain_fn *plain;
    stencil_own_first_fn *first; /* NULL: the usual ones */
    atomic_bool is_wrong;        /* a read of the plain loop was not allowed: */
    long wrong[4];               /* its offset, from the second number on */
} stencil_own_t;

/* Read, compile and try the text at `path`; it ends in .c, or with GPUs in .cu or .cl: then the
 * file beside it that ends in .c is for cores, if there is one. The caller destroys *own_p.
 * XY_EPARSE: the first error of the compiler. XY_EINVAL: it does not fit the grid, or reads other
 * cells than it says. XY_EUNSUPPORTED: there is no compiler. All are reported. */
xy_status_t stencil_own_load(const char *path, const xy_stencil_t *s, bool is_on_gpus,
                             stencil_own_t **own_p);
void stencil_own_destroy(stencil_own_t *own); /* NULL is fine */

/* The text of kernel "update_own" for a driver; the caller frees it. Arguments: the blocks around,
 * that which is written, its origin (three numbers), the iteration, the first row and that behind
 * the last. */
xy_status_t stencil_own_gpu_text(const stencil_own_t *own, const xy_stencil_t *s,
                                 const char *driver, bool is_wide, char **text_p);

/* XY_EINVAL (reported): the plain loop read what it may not. */
xy_status_t stencil_own_check(const stencil_own_t *own, const xy_stencil_t *s);

/* own_text.c */
/* The text before and after the user's text, for cores and for GPUs; constants of the grid come
 * first of all. */
extern const char stencil_own_before_c[], stencil_own_behind_c[];
extern const char stencil_own_before_gpu[], stencil_own_behind_gpu[];

#endif
